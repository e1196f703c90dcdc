//! Which heat is next, given the results so far.
//!
//! First a short heat for each family. Families within a tenth of the best go on to longer heats. Then the
//! leader is changed in one respect at a time, and what does better leads.

use super::budget::Budget;
use super::contender::Contender;
use super::field::{Field, NOISE_SHARES};
use super::report::Heat;
use crate::model::ModelKind;
use crate::solve::session::FitSession;
use quadfill_kernels::Real;

/// Sweeps of a short heat that are discarded, and draws.
const PILOT: (usize, usize) = (15, 25);
/// Short heats rank contenders right unless they are closer than this.
const CLOSE: f64 = 1.1;
/// What is changed about the leader must lower the error by more than chance does.
const MARGIN: f64 = 0.9985;
/// A path must win by more: its error is the smallest of many points on the way.
const MARGIN_OF_PATHS: f64 = 0.99;
/// About so many longer heats are affordable; their length is chosen for that.
const LONG_HEATS: f64 = 12.0;
/// The fewest and the most sweeps of a longer heat, in all its chains.
const LONG: (f64, f64) = (50.0, 240.0);
/// The fewest sweeps of one of its chains where there are several, and the most chains. A mean over several
/// chains, each in a mode of its own, is what the winner is used as.
const CHAIN: f64 = 40.0;
const MAX_CHAINS: usize = 4;
/// The error with more columns over that with fewer, if they help a lot.
const STEEP: f64 = 0.95;
/// The share of a longer heat's sweeps that show whether more still do.
const STEEP_SWEEPS: f64 = 0.45;
/// Sweeps of a path, one at each penalty.
pub(super) const PATH_STEPS: usize = 80;
/// Paths are tried for models whose short heats are this close to the best.
const NEAR: f64 = 1.02;
/// What another scale of the penalty may make up for.
const HOPEFUL: f64 = 1.03;

/// A heat that is to be run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) contender: Contender,
    pub(super) is_pilot: bool,
    pub(super) chains: usize,
    pub(super) burn_in: usize,
    pub(super) draws: usize,
    pub(super) operations: f64,
}

/// The heat that leads: the best of those that are no pilots.
pub(super) fn leader(heats: &[Heat]) -> Option<&Heat> {
    leader_position(heats).map(|at| &heats[at])
}

pub(super) fn leader_position(heats: &[Heat]) -> Option<usize> {
    let only_pilots = heats.iter().all(|heat| heat.is_pilot);
    let finals = heats.iter().enumerate().filter(|(_, heat)| only_pilots || !heat.is_pilot);
    finals
        .reduce(|best, next| {
            let margin = if next.1.contender.is_path() { MARGIN_OF_PATHS } else { MARGIN };
            if next.1.error < margin * best.1.error { next } else { best }
        })
        .map(|(at, _)| at)
}

/// The next heat, or `None` when nothing is left to try or to spend.
pub(super) fn next<T: Real>(
    session: &FitSession<'_, T>,
    budget: &Budget,
    heats: &[Heat],
) -> Option<Plan> {
    let field = Field::new(session.config(), session.base.modes());
    let cost = |contender: &Contender| budget.sweep(&contender.spec(&session.base));
    let families = affordable(field.families(), field.models().len(), &cost, budget.race);
    let (burn_in, draws) = pilot_length(&families, &cost, budget.race);
    if let Some(contender) = families.get(heats.len()) {
        let operations = cost(contender) * (burn_in + draws) as f64;
        let contender = contender.clone();
        return Some(Plan { contender, is_pilot: true, chains: 1, burn_in, draws, operations });
    }
    let (pilots, later) = heats.split_at(families.len());
    let best = pilots.iter().min_by(|x, y| x.error.total_cmp(&y.error))?;
    let (paths, long): (Vec<Heat>, Vec<Heat>) =
        later.iter().cloned().partition(|heat| heat.contender.is_path());
    let spent = |heats: &[Heat]| heats.iter().map(|heat| heat.operations).sum::<f64>();
    let each = (budget.race - spent(pilots)) / LONG_HEATS / cost(&best.contender);
    let left = budget.race - spent(heats);
    let plan = |contender: Contender| {
        let (chains, sweeps) = length_of(&long, &contender, each.clamp(LONG.0, LONG.1));
        let of_chain = sweeps as usize / chains;
        let burn_in = of_chain / 3;
        let draws = of_chain - burn_in;
        let operations = cost(&contender) * (chains * of_chain) as f64;
        Plan { contender, is_pilot: false, chains, burn_in, draws, operations }
    };
    let tried = |contender: &Contender| long.iter().any(|heat| heat.contender.is_like(contender));
    for (place, pilot) in finalists(pilots).into_iter().enumerate() {
        let plan = plan(field.with_noise(&pilot.contender, pilot.error, NOISE_SHARES[0]));
        // The winner of the short heats has a longer one whatever it costs.
        if !tried(&plan.contender) && (place == 0 || plan.operations <= left) {
            return Some(plan);
        }
    }
    let near = pilots.iter().filter(|heat| heat.error <= NEAR * best.error);
    let near = near.filter(|_| !session.races_on_sample());
    for contender in field.paths(near.map(|heat| &heat.contender)) {
        let operations = cost(&contender) * PATH_STEPS as f64;
        let is_new = !paths.iter().any(|heat| heat.contender == contender);
        if is_new && is_hopeful(&contender, &paths, &long) && operations <= 0.5 * left {
            let (is_pilot, burn_in, draws) = (false, 0, PATH_STEPS);
            return Some(Plan { contender, is_pilot, chains: 0, burn_in, draws, operations });
        }
    }
    let leader = leader(&long)?;
    field
        .moves(&leader.contender, leader.error)
        .into_iter()
        .filter(|contender| !tried(contender))
        .map(plan)
        .find(|plan| plan.operations <= left)
}

/// The chains of a longer heat, and their sweeps together.
fn length_of(long: &[Heat], contender: &Contender, sweeps: f64) -> (usize, f64) {
    match leader(long).filter(|now| now.contender.rank < contender.rank) {
        // Few sweeps, but one after another: columns take time to be found.
        Some(_) if climbs_steeply(long, contender) => (1, sweeps * STEEP_SWEEPS),
        Some(now) => (now.chains.max(1), sweeps),
        None => (((sweeps / CHAIN) as usize).clamp(1, MAX_CHAINS), sweeps),
    }
}

/// Whether more columns are worth far more than chance: then few sweeps show that more still are, as they
/// grow from the leader's chains.
fn climbs_steeply(long: &[Heat], contender: &Contender) -> bool {
    let Some(leader) = leader(long) else { return false };
    let Contender { model, rank, .. } = &leader.contender;
    let below = long.iter().filter(|heat| {
        heat.contender.model == *model && heat.contender.rank < *rank && !heat.contender.is_path()
    });
    let before = below.map(|heat| heat.error).fold(f64::INFINITY, f64::min);
    contender.rank > *rank && before.is_finite() && leader.error < STEEP * before
}

/// Whether a path may still win: another scale of the penalty does not make up for a path that is far behind.
fn is_hopeful(path: &Contender, paths: &[Heat], long: &[Heat]) -> bool {
    let Some(other) = path.with_equal_penalties() else { return true };
    let now = leader(long).map_or(f64::INFINITY, |heat| heat.error);
    paths.iter().any(|heat| heat.contender == other && heat.error <= HOPEFUL * now)
}

/// The best short heat of every model that is not far behind, the best of all first.
fn finalists(pilots: &[Heat]) -> Vec<&Heat> {
    let mut sorted: Vec<&Heat> = pilots.iter().collect();
    sorted.sort_by(|x, y| x.error.total_cmp(&y.error));
    let best = sorted.first().map_or(0.0, |heat| heat.error);
    let mut models: Vec<&ModelKind> = Vec::new();
    sorted.retain(|heat| {
        let is_first = !models.contains(&&heat.contender.model);
        models.push(&heat.contender.model);
        is_first && heat.error <= CLOSE * best
    });
    sorted
}

/// As many contenders of short heats as can be paid with half of the budget, but at least one of every model.
fn affordable(
    mut families: Vec<Contender>,
    models: usize,
    cost: &dyn Fn(&Contender) -> f64,
    budget: f64,
) -> Vec<Contender> {
    let shortest = (PILOT.0 + PILOT.1) as f64 / 2.0;
    let mut spent = 0.0;
    let affordable = families.iter().take_while(|contender| {
        spent += shortest * cost(contender);
        spent <= 0.5 * budget
    });
    let count = affordable.count().max(models).max(1);
    families.truncate(count);
    families
}

/// Sweeps and draws of the short heats: fewer where the data are so many that they would take more than
/// half of the budget.
fn pilot_length(
    families: &[Contender],
    cost: &dyn Fn(&Contender) -> f64,
    budget: f64,
) -> (usize, usize) {
    let whole = (PILOT.0 + PILOT.1) as f64 * families.iter().map(cost).sum::<f64>();
    let share = (0.5 * budget / whole).clamp(0.5, 1.0);
    ((PILOT.0 as f64 * share) as usize, (PILOT.1 as f64 * share) as usize)
}
