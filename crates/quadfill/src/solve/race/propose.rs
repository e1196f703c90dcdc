//! Which heat is next, given the results so far.
//!
//! First a short heat for each family: pairs or products, with biases or without, columns independent or
//! not. Families within a tenth of the best go on to longer heats. Then the leader is changed in one
//! respect at a time (its rank, its priors, its biases, its pairs), and what does better leads.

use super::budget::Budget;
use super::contender::{Contender, Method};
use super::report::Heat;
use crate::model::{Biases, ModelKind};
use crate::solve::config::{FitConfig, Rank};
use crate::solve::gibbs::{NoisePrior, RowPriorKind};
use crate::solve::session::FitSession;
use quadfill_kernels::Real;

/// The rank at which families are compared.
const PILOT_RANK: usize = 10;
/// Sweeps of a short heat that are discarded, and draws.
const PILOT: (usize, usize) = (15, 25);
/// Ranks that the leader is moved to.
const LADDER: [usize; 10] = [1, 2, 3, 5, 10, 20, 32, 56, 90, 128];
/// Short heats rank contenders right unless they are closer than this.
const CLOSE: f64 = 1.1;
/// What is changed about the leader must lower the error by more than chance does.
const MARGIN: f64 = 0.9985;
/// About so many longer heats are affordable; their length is chosen for that.
const LONG_HEATS: f64 = 12.0;
/// The fewest and the most sweeps of a longer heat, in all its chains.
const LONG: (f64, f64) = (50.0, 240.0);
/// The fewest sweeps of one of its chains where there are several, and the most chains. A mean over several
/// chains, each in a mode of its own, is what the winner is used as.
const CHAIN: f64 = 40.0;
const MAX_CHAINS: usize = 4;
/// How much a known error counts: as much as the data, a third, or three times as much.
const NOISE_SHARES: [f64; 3] = [1.0, 3.0, 0.3];
/// The error with more columns over that with fewer, if they help a lot.
const STEEP: f64 = 0.95;
/// The share of a longer heat's sweeps that show whether more still do.
const STEEP_SWEEPS: f64 = 0.45;
/// Sweeps of a path, one at each penalty.
pub(super) const PATH_STEPS: usize = 80;
/// Paths are tried for models whose short heats are this close to the best.
const NEAR: f64 = 1.02;
/// With more modes there are too many pairs to try without each of them.
const MODES_TO_DROP_PAIRS: usize = 4;

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
        .reduce(|best, next| if next.1.error < MARGIN * best.1.error { next } else { best })
        .map(|(at, _)| at)
}

/// The next heat, or `None` when nothing is left to try or to spend.
pub(super) fn next<T: Real>(
    session: &FitSession<'_, T>,
    budget: &Budget,
    heats: &[Heat],
) -> Option<Plan> {
    let (config, modes) = (session.config(), session.base.modes());
    let cost = |contender: &Contender| budget.sweep(&contender.spec(&session.base));
    let families = families(config, modes, &cost, budget.race);
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
    let sweeps = each.clamp(LONG.0, LONG.1);
    let left = budget.race - spent(heats);
    let plan = |contender: Contender| {
        let (chains, sweeps) = match leader(&long).filter(|now| now.contender.rank < contender.rank)
        {
            // Few sweeps, but one after another: columns take time to be found.
            Some(_) if climbs_steeply(&long, &contender) => (1, sweeps * STEEP_SWEEPS),
            Some(now) => (now.chains.max(1), sweeps),
            None => (((sweeps / CHAIN) as usize).clamp(1, MAX_CHAINS), sweeps),
        };
        let of_chain = sweeps as usize / chains;
        let burn_in = of_chain / 3;
        let draws = of_chain - burn_in;
        let operations = cost(&contender) * (chains * of_chain) as f64;
        Plan { contender, is_pilot: false, chains, burn_in, draws, operations }
    };
    let tried = |contender: &Contender| long.iter().any(|heat| heat.contender.is_like(contender));
    for (place, pilot) in finalists(pilots).into_iter().enumerate() {
        let plan = plan(with_noise(&pilot.contender, pilot.error, NOISE_SHARES[0]));
        // The winner of the short heats has a longer one whatever it costs.
        if !tried(&plan.contender) && (place == 0 || plan.operations <= left) {
            return Some(plan);
        }
    }
    for contender in path_contenders(config, modes, pilots, best.error) {
        let operations = cost(&contender) * PATH_STEPS as f64;
        let is_new = !paths.iter().any(|heat| heat.contender == contender);
        if is_new && operations <= 0.5 * left {
            let (is_pilot, burn_in, draws) = (false, 0, PATH_STEPS);
            return Some(Plan { contender, is_pilot, chains: 0, burn_in, draws, operations });
        }
    }
    let leader = leader(&long)?;
    moves(config, modes, leader)
        .into_iter()
        .filter(|contender| !tried(contender))
        .map(plan)
        .find(|plan| plan.operations <= left)
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

/// Paths of the models that did not fall far behind in the short heats.
fn path_contenders(config: &FitConfig, modes: usize, pilots: &[Heat], best: f64) -> Vec<Contender> {
    let mut paths: Vec<Contender> = Vec::new();
    let near = pilots.iter().filter(|heat| heat.error <= NEAR * best && modes > 1);
    for Contender { model, rank, biases, .. } in near.map(|heat| &heat.contender) {
        let centred = *model == ModelKind::Cp;
        // Centred rows have a mean and biases of their own.
        let is_own = centred && *biases != Biases::None && config.biases.is_auto();
        let contender = Contender {
            model: model.clone(),
            rank: *rank,
            biases: *biases,
            method: Method::Path { centred },
        };
        if !is_own && !paths.contains(&contender) {
            paths.push(contender);
        }
    }
    paths
}

/// The contenders of the short heats, as many as can be afforded but at least two.
fn families(
    config: &FitConfig,
    modes: usize,
    cost: &dyn Fn(&Contender) -> f64,
    budget: f64,
) -> Vec<Contender> {
    let rank = match config.rank {
        Rank::Fixed(rank) => rank,
        Rank::Auto { max } => PILOT_RANK.min(max.unwrap_or(PILOT_RANK)),
    };
    let contender = |model: &ModelKind, biases: Biases, prior: RowPriorKind| Contender {
        model: model.clone(),
        rank,
        biases,
        method: Method::Posterior { prior, noise: None },
    };
    let full = RowPriorKind::Wishart;
    let mut all = Vec::new();
    let models = match &config.model {
        // With two modes pairs and products are the same.
        ModelKind::Auto if modes > 2 => vec![ModelKind::Pairwise, ModelKind::Cp],
        ModelKind::Auto => vec![ModelKind::Pairwise],
        given => vec![given.clone()],
    };
    for (biases, prior) in
        [(Biases::Modes, full), (Biases::None, full), (Biases::Modes, RowPriorKind::Diagonal)]
    {
        for model in &models {
            let is_given = config.biases.fixed().is_none_or(|given| given == biases);
            if is_given {
                all.push(contender(model, biases, prior));
            }
        }
    }
    if let (true, Some(biases)) = (all.is_empty(), config.biases.fixed()) {
        all = models.iter().map(|model| contender(model, biases, full)).collect();
    }
    let shortest = (PILOT.0 + PILOT.1) as f64 / 2.0;
    let mut spent = 0.0;
    let affordable = all.iter().take_while(|contender| {
        spent += shortest * cost(contender);
        spent <= 0.5 * budget
    });
    let count = affordable.count().max(models.len()).max(1);
    all.truncate(count);
    all
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

/// The same with a prior of the noise that knows an error.
fn with_noise(contender: &Contender, rmse: f64, share: f64) -> Contender {
    let rmse = rmse.max(f64::MIN_POSITIVE);
    changed(contender, |_, noise| *noise = Some(NoisePrior { rmse, share }))
}

/// The same with other priors.
fn changed(
    contender: &Contender,
    change: impl Fn(&mut RowPriorKind, &mut Option<NoisePrior>),
) -> Contender {
    let mut contender = contender.clone();
    if let Method::Posterior { prior, noise } = &mut contender.method {
        change(prior, noise);
    }
    contender
}

/// The leader changed in one respect, in the order in which that is tried.
fn moves(config: &FitConfig, modes: usize, leader: &Heat) -> Vec<Contender> {
    let now = &leader.contender;
    let mut moves = Vec::new();
    if let Rank::Auto { max } = config.rank {
        let most = max.unwrap_or(LADDER[LADDER.len() - 1]);
        let up = LADDER.into_iter().find(|&rank| rank > now.rank && rank <= most);
        let down = LADDER.into_iter().rev().find(|&rank| rank < now.rank);
        let ranks = [up, down].into_iter().flatten();
        moves.extend(ranks.map(|rank| {
            let moved = Contender { rank, ..now.clone() };
            match now.method {
                Method::Posterior { noise: Some(noise), .. } => {
                    with_noise(&moved, leader.error, noise.share)
                }
                _ => moved,
            }
        }));
    }
    moves.insert(moves.len().min(1), changed(now, |_, noise| *noise = None));
    moves.push(changed(now, |prior, _| {
        *prior = match prior {
            RowPriorKind::Diagonal => RowPriorKind::Wishart,
            RowPriorKind::Wishart => RowPriorKind::Diagonal,
        };
    }));
    if config.biases.is_auto() {
        let other = if now.biases == Biases::Modes { Biases::None } else { Biases::Modes };
        moves.push(Contender { biases: other, ..now.clone() });
    }
    moves.extend(NOISE_SHARES.map(|share| with_noise(now, leader.error, share)));
    if config.model == ModelKind::Auto && modes <= MODES_TO_DROP_PAIRS {
        moves.extend(fewer_pairs(now, modes));
    }
    moves
}

/// The same model without one of its pairs.
fn fewer_pairs(now: &Contender, modes: usize) -> Vec<Contender> {
    let pairs: Vec<(usize, usize)> = match &now.model {
        ModelKind::Pairwise => (0..modes).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
        ModelKind::Pairs(pairs) => pairs.clone(),
        _ => return Vec::new(),
    };
    if pairs.len() < 2 {
        return Vec::new();
    }
    let without = |left_out: usize| {
        let kept = pairs.iter().enumerate().filter(|(at, _)| *at != left_out);
        let model = ModelKind::Pairs(kept.map(|(_, &pair)| pair).collect());
        Contender { model, ..now.clone() }
    };
    (0..pairs.len()).map(without).collect()
}
