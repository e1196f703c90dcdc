//! The choice of a model on held-out data: a race of contenders.
//!
//! Which model predicts best depends on the data: pairs or products, with biases or without, of which
//! rank, and under which priors. No rule tells beforehand, but a short chain of the sampler does, at the
//! cost of some sweeps. So contenders are raced: short heats first, longer ones for those that did well,
//! then one change after another of the leader, until nothing helps or the budget is spent. The budget is
//! counted in operations, never in seconds, and everything that is tried follows from the results so far,
//! so the choice is the same on any machine and after a resume.
//!
//! ```text
//! arena.rs       the folds: what is learned from, what is chosen on, what the told error comes from
//! contender.rs   what can be chosen
//! field.rs       who takes part, and what the leader can be changed to
//! budget.rs      what a heat costs, and how much may be spent
//! propose.rs     which heat is next, given the results so far
//! heat.rs        one heat: chains on every fold, and their held-out errors
//! path_heat.rs   the same for a path of decreasing penalties
//! posterior.rs   the winner on all data
//! mean_cells.rs  what the mean of its draws predicts
//! distil.rs      that mean as one small model
//! report.rs      the race as it is told
//! ```

mod arena;
mod budget;
mod contender;
mod distil;
mod field;
mod heat;
mod mean_cells;
mod path_heat;
mod posterior;
mod propose;
mod report;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub(super) use arena::{Arena, folds, is_on_sample};
pub(super) use budget::{operations_for, sweep_cost};
pub use contender::{Contender, Method};
pub(super) use posterior::{PosteriorRun, run as run_posterior};
pub use report::{Baselines, Heat, HeldOutError, RaceReport};

use super::config::Solver;
use super::gibbs::{Chain, start_from};
use super::session::FitSession;
use super::state::{Finished, HoldOutSearch, Next, Replace, State};
use crate::error::Result;
use crate::model::{Biases, Parameters};
use quadfill_kernels::Real;

/// A race in progress: everything that the next heat follows from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Race<P> {
    /// The heats so far.
    pub(super) heats: Vec<Heat>,
    /// The last state of the best heat's chains, on every fold.
    leader: FoldChains<P>,
}

/// For each fold, its chains.
type FoldChains<P> = Vec<Vec<(P, Chain)>>;

impl<P> Default for Race<P> {
    fn default() -> Self {
        Self { heats: Vec::new(), leader: Vec::new() }
    }
}

impl<P> Race<P> {
    /// See [`State::try_map`].
    pub(super) fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<Race<Q>> {
        let Self { heats, leader } = self;
        // The leader's chains have the model of the best heat.
        let spec = propose::leader(&heats).map(|heat| heat.spec.clone());
        let mut each = |points: Vec<(P, Chain)>| -> Result<Vec<(Q, Chain)>> {
            let Some(spec) = &spec else { return Ok(Vec::new()) };
            points.into_iter().map(|(point, chain)| Ok((f(spec, point)?, chain))).collect()
        };
        let leader = leader.into_iter().map(&mut each).collect::<Result<_>>()?;
        Ok(Race { heats, leader })
    }
}

/// Runs heat after heat, then fits the winner to all data.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut race: Race<Parameters<T>>,
) -> Next<T> {
    let arena = Arena::new(session);
    let budget = budget::Budget::new(session, &arena);
    while let Some(plan) = propose::next(session, &budget, &race.heats) {
        let (result, limit) = heat::run(session, &arena, &race, &plan);
        if let Some((heat, leader)) = result {
            race.heats.push(heat);
            if propose::leader_position(&race.heats) == Some(race.heats.len() - 1) {
                race.leader = leader;
            }
        }
        if let Some(status) = limit {
            return ControlFlow::Break(best_so_far(session, race, status));
        }
    }
    let winner = propose::leader(&race.heats).expect("a race has heats");
    if winner.contender.is_path() {
        // Its rank, penalty and number of sweeps are chosen as for any path.
        session.base = winner.spec.clone().with_rank(session.base.rank).with_biases(Biases::None);
        session.race = Some(RaceReport::new(session, &arena, &race.heats));
        return ControlFlow::Continue(State::HoldOut(HoldOutSearch::default()));
    }
    if let Solver::Gibbs(sampling) = session.config().solver {
        session.race = Some(RaceReport::new(session, &arena, &race.heats));
        let spec = winner.spec.clone();
        let chains = race.leader.into_iter().flatten().collect();
        return ControlFlow::Continue(State::Sample(start_from(session, sampling, spec, chains)));
    }
    ControlFlow::Continue(State::Posterior(posterior::start(session, &arena, &budget, race)))
}

/// Where a limit ended the race: the mean of the leader's chains as they are.
fn best_so_far<T: Real>(
    session: &FitSession<'_, T>,
    race: Race<Parameters<T>>,
    status: super::Status,
) -> Finished<T> {
    let Some(best) = propose::leader(&race.heats).filter(|_| !race.leader.is_empty()) else {
        let spec = session.base.clone().with_rank(1);
        let descent = session.path_start(session.problem.training(), &spec);
        let penalty = descent.first_penalty;
        return Finished::at(descent, penalty, status);
    };
    let report = RaceReport::new(session, &Arena::new(session), &race.heats);
    let spec = best.spec.clone();
    let chains = race.leader.into_iter().next().unwrap_or_default();
    let finished = super::gibbs::mean_of(session, &spec, chains, status);
    Finished {
        validation_rmse: Some(report.held_out.rmse),
        race: Some(Box::new(report)),
        ..finished
    }
}
