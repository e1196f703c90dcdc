//! Learns a model from data.

use std::path::PathBuf;

use anyhow::Result;
use quadfill::certify::{Certificate, Outcome};
use quadfill::model::{Biases, Evaluation, ModelKind};
use quadfill::observations::Summary;
use quadfill::solve::{
    PathPoint, Precision, RaceReport, Rank, Sampling, SdpForm, SdpReport, Solver, Status, Theory,
};
use quadfill::{Model, checkpoint_path};
use quadfill_io::{ColumnRoles, write_atomically};
use quadfill_report::{FitStory, Recorder, fit_page};
use serde::Serialize;

use super::choice;
use super::prepare::Prepared;
use super::summary;
use super::test_set::{TestSet, in_words};
use super::watch::{Checkpoints, Watcher, checkpoint_interval};
use crate::clock::Clock;
use crate::flags::FitPlan;
use crate::interrupt;
use crate::output::Output;
use crate::report::{Lines, biases_in_words, counted, grouped, number, sparkline, status_in_words};

#[derive(Debug, Serialize)]
pub(super) struct FitReport {
    output: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Vec<Vec<f64>>>,
    rank: usize,
    biases: Biases,
    penalty: f64,
    status: Status,
    pub(super) sweeps: usize,
    pub(super) seconds: f64,
    cpu_seconds: Option<f64>,
    read_seconds: f64,
    train: Rmse,
    validation: Rmse,
    pub(super) test: Option<Evaluation>,
    pub(super) path: Vec<PathPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sdp: Option<SdpReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<Draws>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theory: Option<Theory>,
    precision: Precision,
    seed: u64,
    threads: usize,
    resumed: bool,
    certificate: Option<Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<ColumnRoles>,
    /// Free parameters of the fitted model.
    free_parameters: usize,
    /// How the model was chosen, where several were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<RaceReport>,
    /// How many draws the model is the mean of.
    #[serde(skip)]
    kept_draws: Option<usize>,
    data: Summary,
}

/// How many observations a page shows of data that are more than the memory holds.
const SHOWN: usize = 1_000_000;

/// What a sampler did.
#[derive(Debug, Serialize)]
struct Draws {
    #[serde(flatten)]
    sampling: Sampling,
    kept: usize,
    /// Standard deviation of the noise: root mean variance over the kept draws.
    noise: f64,
}

#[derive(Debug, Serialize)]
struct Rmse {
    rmse: Option<f64>,
}

pub(super) fn run(plan: &FitPlan, output: Output) -> Result<()> {
    let report = fit(plan, output)?;
    if let (true, Some(race)) = (plan.explain_choice, &report.race) {
        output.note(choice::table(race));
    }
    output.outcome(report.text(), &report)
}

/// Fits, evaluates, and writes the model and the report.
pub(super) fn fit(plan: &FitPlan, output: Output) -> Result<FitReport> {
    let interval = checkpoint_interval()?;
    let clock = Clock::start();
    let Prepared { data, config, test, theory, summary: about, columns } =
        Prepared::read(plan, output)?;
    let read_seconds = clock.seconds();
    // The number of free parameters of a rank that is chosen automatically is known after the fit.
    let freedom = about.degrees_of_freedom.filter(|_| matches!(config.rank, Rank::Fixed(_)));
    let shown = Summary { degrees_of_freedom: freedom, ..about.clone() };
    output.note(summary::lines(&shown, columns.as_ref()));
    summary::warnings(&about, columns.as_ref()).for_each(|warning| output.note(warning));
    if let Some(theory) = &theory {
        output.note(theory_in_words(theory));
    }

    let clock = Clock::start();
    let checkpoint = checkpoint_path(&plan.output);
    if !plan.resume {
        Checkpoints::remove(&checkpoint);
    }
    // A fit consumes the data; the report needs them again.
    let shown = plan.report.as_ref().map(|_| data.shown(SHOWN));
    let cells = test.as_ref().map_or_else(Vec::new, |test| test.columns().to_vec());
    let checkpoints = Checkpoints::new(checkpoint.clone(), interval);
    let mut watcher = Watcher::new(checkpoints, output, cells);
    let mut recorder = Recorder::new(&mut watcher);
    let model = if plan.resume {
        quadfill::resume(data, &config, &checkpoint, &mut recorder)
    } else {
        quadfill::fit_with(data, &config, &mut recorder)
    };
    let steps = recorder.into_steps();
    watcher.finish();
    let model = model?;
    if model.summary().status == Status::Interrupted {
        // The checkpoint has the progress: an existing model is not replaced.
        interrupt::stop();
    }
    let (seconds, cpu_seconds) = (clock.seconds(), clock.cpu_seconds());

    let fitted = model.summary();
    let report = FitReport {
        output: plan.output.clone(),
        report: plan.report.clone(),
        model: match config.model {
            ModelKind::Learned => ModelKind::Learned.to_string(),
            _ => model.kind().to_string(),
        },
        kernel: model.spec().kernel().cloned().map(Into::into),
        rank: model.rank(),
        biases: model.spec().biases,
        penalty: fitted.penalty,
        status: fitted.status,
        sweeps: fitted.sweeps,
        seconds,
        cpu_seconds,
        read_seconds,
        train: Rmse { rmse: Some(fitted.train_rmse) },
        validation: Rmse { rmse: fitted.validation_rmse },
        test: test.as_ref().map(|test| test.evaluate(&model)),
        path: fitted.path.clone(),
        sdp: fitted.sdp,
        draws: Draws::of(&model),
        theory,
        precision: fitted.precision,
        seed: config.seed,
        threads: rayon::current_num_threads(),
        resumed: plan.resume,
        certificate: fitted.certificate.clone(),
        free_parameters: model.degrees_of_freedom(),
        race: fitted.race.clone(),
        kept_draws: fitted.draws,
        columns,
        data: about,
    };
    let page = plan.report.as_ref().zip(shown.as_ref()).map(|(path, data)| {
        let story = FitStory {
            name: plan.data.display().to_string(),
            data,
            summary: &report.data,
            model: &model,
            steps: &steps,
            test: report.test,
            test_cells: test.as_ref().map(TestSet::known_cells),
            seconds,
        };
        (path, fit_page(&story).html())
    });
    let _whole = interrupt::writing();
    model.save(&plan.output)?;
    if let Some((path, page)) = page {
        write_atomically(path, |out| out.write_all(page.as_bytes()))?;
    }
    Checkpoints::remove(&checkpoint);
    Ok(report)
}

impl FitReport {
    fn text(&self) -> Lines {
        let mut lines = Lines::default();
        lines.add(
            "fitted",
            format!(
                "{} of rank {} with {} -> {}",
                self.model,
                self.rank,
                biases_in_words(self.biases),
                self.output.display()
            ),
        );
        if let (true, Some(kernel)) = (self.model == "learned", &self.kernel) {
            lines.add("kernel", kernel_in_words(kernel));
        }
        lines.add(
            "parameters",
            format!(
                "{} free, {} observations for each",
                grouped(self.free_parameters),
                number(self.data.observations as f64 / self.free_parameters.max(1) as f64)
            ),
        );
        match (&self.draws, self.kept_draws) {
            (Some(draws), _) => lines.add("draws", draws.in_words(self.penalty)),
            (None, Some(_)) => {}
            (None, None) => lines.add("penalty", number(self.penalty)),
        }
        lines.add("status", status_in_words(self.status));
        let cpu =
            self.cpu_seconds.map_or(String::new(), |cpu| format!(", {} CPU-seconds", number(cpu)));
        lines.add("sweeps", format!("{} in {} s{cpu}", grouped(self.sweeps), number(self.seconds)));
        if let Some(sdp) = &self.sdp {
            lines.add("program", sdp_in_words(sdp));
        }
        if let Some(rmse) = self.train.rmse {
            lines.add("train", format!("rmse {}", number(rmse)));
        }
        match (&self.race, self.validation.rmse) {
            (Some(race), _) => choice::add_lines(&mut lines, race, self.rank, self.kept_draws),
            (None, Some(rmse)) => lines.add("held out", format!("rmse {}", number(rmse))),
            (None, None) => {}
        }
        if let Some(test) = &self.test {
            lines.add("test", in_words(test));
        }
        if let Some(certificate) = &self.certificate {
            lines.add("certificate", certificate_in_words(self.status, certificate));
        }
        if let Some(report) = &self.report {
            lines.add("report", report.display().to_string());
        }
        if self.path.len() > 1
            && self.race.as_ref().is_none_or(|race| race.winner().contender.is_path())
        {
            lines.add("path", path_in_blocks(&self.path));
        }
        lines
    }
}

/// What a certificate says where it says something: sweeps that were stopped on held-out data are not
/// meant to be at the optimum.
fn certificate_in_words(status: Status, certificate: &Certificate) -> String {
    if status == Status::Validated && certificate.outcome == Outcome::NotConverged {
        return "stopped where the held-out error was lowest, which is before the optimum of the \
                objective: nothing to certify"
            .to_owned();
    }
    certificate.verdict.clone()
}

impl Draws {
    fn of(model: &Model) -> Option<Self> {
        let Solver::Gibbs(sampling) = model.summary().config.solver else {
            return None;
        };
        let noise = model.noise_precisions();
        let variance = noise.iter().map(|precision| 1.0 / precision).sum::<f64>();
        let kept = noise.len();
        Some(Self { sampling, kept, noise: (variance / kept as f64).sqrt() })
    }

    fn in_words(&self, penalty: f64) -> String {
        let Sampling { burn_in, samples, chains, .. } = self.sampling;
        format!(
            "{} of {} after {} of burn-in, {} kept, noise {}, equivalent penalty {}",
            grouped(samples),
            counted(chains, "chain"),
            counted(burn_in, "sweep"),
            grouped(self.kept),
            number(self.noise),
            number(penalty)
        )
    }
}

/// A kernel in the form that `--kernel` reads, rounded.
fn kernel_in_words(kernel: &[Vec<f64>]) -> String {
    let row = |row: &Vec<f64>| row.iter().map(|&k| number(k)).collect::<Vec<_>>().join(" ");
    kernel.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// The theorem's settings and what it guarantees.
fn theory_in_words(theory: &Theory) -> Lines {
    let mut lines = Lines::default();
    let origin = if theory.estimated { "estimated from a first fit" } else { "as given" };
    lines.add(
        "theorem",
        format!(
            "alpha {} ({origin}), d = {} (mean labels of a mode), m = {}, n = {} rows",
            number(theory.alpha),
            number(theory.size),
            grouped(theory.observations),
            grouped(theory.rows)
        ),
    );
    lines.add(
        "  sets",
        format!(
            "lambda1 {}, lambda2 {}, R {}, C of norm at most lambda1",
            number(theory.lambda1),
            number(theory.lambda2),
            grouped(theory.rank)
        ),
    );
    lines.add(
        "  promises",
        format!(
            "for cells drawn uniformly, with high probability every local minimum is global and its \
             mean squared error is at most a constant, which is not known, times {}",
            number(theory.error_scale)
        ),
    );
    lines
}

/// How a convex program was solved, in one line.
fn sdp_in_words(sdp: &SdpReport) -> String {
    let what = match sdp.form {
        SdpForm::Trace => "smallest trace",
        SdpForm::Penalised => "penalised",
        SdpForm::Objective => "objective over all ranks",
    };
    let kept = if sdp.truncated {
        format!(", its rank {} cut to --rank", sdp.rank)
    } else {
        String::new()
    };
    format!(
        "{what} {}, at most {} above the optimum ({} relative), residuals {} and {}{kept}",
        number(sdp.objective),
        number(sdp.gap),
        number(sdp.relative_gap),
        number(sdp.primal_residual),
        number(sdp.dual_residual)
    )
}

/// The error along the path: on held-out data where there are any.
pub(super) fn path_in_blocks(path: &[PathPoint]) -> String {
    let errors: Vec<f64> =
        path.iter().map(|point| point.validation_rmse.unwrap_or(point.train_rmse)).collect();
    let ends = |at: Option<&f64>| at.map_or(String::new(), |&error| number(error));
    format!("rmse {} {} {}", ends(errors.first()), sparkline(&errors, 40), ends(errors.last()))
}
