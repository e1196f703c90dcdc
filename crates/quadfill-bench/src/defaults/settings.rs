//! The single settings that plain `fit` is compared with, and what it chose.

use quadfill::model::{Biases, ModelKind};
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Rank, RowPriorKind, Sampling, Solver, Status};
use quadfill::{FitConfig, Model};

/// Seconds after which a setting ends with the best model so far, which the table marks.
const LIMIT: f64 = 300.0;
/// The path of CP may take minutes and is rarely the best.
const CP_PATH_LIMIT: f64 = 60.0;

/// Plain `fit`.
pub(super) fn plain() -> FitConfig {
    FitConfig::default()
}

/// The single settings: the head of their column, and the settings. Add others here.
pub(super) fn settings() -> Vec<(&'static str, FitConfig)> {
    use ModelKind::{Cp, Pairwise};
    let auto = Rank::default();
    vec![
        ("path", with(Pairwise, auto, Solver::Path)),
        ("path n10", count_scaled(with(Pairwise, Rank::Fixed(10), Solver::Path))),
        ("cp path10", limited(with(Cp, Rank::Fixed(10), Solver::Path), CP_PATH_LIMIT)),
        ("gibbs10x4", with(Pairwise, Rank::Fixed(10), gibbs(4))),
        ("cp gibbs10", with(Cp, Rank::Fixed(10), gibbs(1))),
        ("cp gibbs20", with(Cp, Rank::Fixed(20), gibbs(1))),
        ("cp full20x2", with(Cp, Rank::Fixed(20), full_prior(2))),
        ("full20x2", with(Pairwise, Rank::Fixed(20), full_prior(2))),
    ]
}

/// What the heads of the columns mean.
pub(super) const LEGEND: &str = "path: pairwise, automatic rank; path n10: rank 10, biases, penalty scaled by counts; \
    gibbs10x4: pairwise, rank 10, four chains; cp gibbs: one chain; full: normal-Wishart prior, two chains";

fn with(model: ModelKind, rank: Rank, solver: Solver) -> FitConfig {
    // A certificate does not change the model.
    let config = FitConfig { model, rank, solver, certify: false, ..FitConfig::default() };
    limited(config, LIMIT)
}

fn count_scaled(config: FitConfig) -> FitConfig {
    let biases = Choice::Fixed(Biases::Modes);
    FitConfig { penalty_scale: Choice::Fixed(PenaltyScale::Count), biases, ..config }
}

fn limited(config: FitConfig, seconds: f64) -> FitConfig {
    FitConfig { time_limit: Some(seconds), ..config }
}

fn gibbs(chains: usize) -> Solver {
    Solver::Gibbs(Sampling { chains, ..Sampling::default() })
}

fn full_prior(chains: usize) -> Solver {
    let prior = RowPriorKind::Wishart;
    Solver::Gibbs(Sampling { chains, prior: Some(prior), ..Sampling::default() })
}

/// Whether a fit ended before it was done.
pub(super) fn was_cut_short(model: &Model) -> bool {
    model.summary().status == Status::TimeLimit
}

/// What plain `fit` chose, in a few words.
pub(super) fn chosen(model: &Model) -> String {
    let solver = if model.is_sampled() { "gibbs" } else { "path" };
    let biases = match model.spec().biases {
        Biases::None => "no biases",
        Biases::Mean => "mean",
        Biases::Modes => "biases",
    };
    let race = model.summary().race.as_ref();
    let rank = race.map_or(model.rank(), |race| race.winner().contender.rank);
    format!("{} {solver} {rank}, {biases}", model.kind())
}
