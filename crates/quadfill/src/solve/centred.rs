//! The path of centred CP: where it begins and ends, and which ranks and biases are tried.
//!
//! With `s` the deviation of the data, `m` their number and `N` the modes, a penalty of `lambda s^(2 - 2/N) / m` does to
//! these data what `lambda` does to data of deviation 1 whose squared residuals are summed.

use super::session::FitSession;
use super::state::{Candidate, Trial};
use crate::model::{Biases, ModelSpec, Parameters};
use crate::views::Selection;
use quadfill_kernels::Real;

/// The last penalty, for data of deviation 1 whose squared residuals are summed.
const LAST_PENALTY: f64 = 0.003;
/// The factor between consecutive penalties: three sweeps for a factor of 0.75.
const DECREASE: f64 = 0.908_560_296_416_069_8;
/// The ranks that are tried, beginning with [`PILOT_RANK`].
const LADDER: [usize; 5] = [3, 10, 30, 60, 100];
const PILOT_RANK: usize = 10;
/// Ranks above this need [`PER_PARAMETER`] observations for each free parameter.
const SMALL_RANK: usize = 30;
const PER_PARAMETER: usize = 2;
/// The mean of the data over their deviation below which it is no start for the factors.
const SMALL_MEAN: f64 = 0.3;

/// The mean and the deviation of data.
fn moments<T: Real>(data: Selection<'_, T>) -> (f64, f64) {
    let mean = data.mean();
    let mut squares = 0.0;
    data.for_each(|_, value, weight| squares += weight.to_f64() * (value.to_f64() - mean).powi(2));
    let deviation = (squares / data.total_weight().max(f64::MIN_POSITIVE)).sqrt();
    (mean, deviation.max(f64::MIN_POSITIVE))
}

/// Where a path begins: a row of the smallest mode has about as much penalty as data.
pub(super) fn first_penalty<T: Real>(data: Selection<'_, T>) -> f64 {
    let sizes = data.sizes();
    let smallest = sizes.iter().copied().min().unwrap_or(1).max(1);
    let (_, deviation) = moments(data);
    deviation.powf(2.0 - 2.0 / sizes.len() as f64) / (2.0 * smallest as f64)
}

/// Where it ends, over where it begins.
fn path_end<T: Real>(data: Selection<'_, T>) -> f64 {
    let smallest = data.sizes().into_iter().min().unwrap_or(1).max(1);
    let end = 2.0 * smallest as f64 * LAST_PENALTY / data.len() as f64;
    end.clamp(super::path::PATH_DEPTH, 0.5)
}

/// The sweeps on the way, one at each penalty.
pub(super) fn path_steps(end: f64) -> usize {
    (end.ln() / DECREASE.ln()).ceil() as usize + 1
}

/// Rows near the one constant row whose product is the mean of the data. Where the mean is small, or is added apart,
/// positive rows of the size of the data, with signs in one factor matrix that alternate from column to column.
pub(super) fn start<T: Real>(spec: &ModelSpec, data: Selection<'_, T>, seed: u64) -> Parameters<T> {
    const NOISE: f64 = 0.3;
    const SMALL_NOISE: f64 = 0.17;
    let (mean, deviation) = moments(data);
    let modes = spec.modes() as f64;
    let has_constant = spec.biases == Biases::None && mean.abs() >= SMALL_MEAN * deviation;
    let (size, noise) = if has_constant {
        ((mean.abs() / spec.rank as f64).powf(1.0 / modes), NOISE)
    } else {
        (0.5 * deviation.powf(1.0 / modes), SMALL_NOISE / 0.5)
    };
    // A sign in a matrix that several modes share may cancel.
    let odd = |&group: &usize| spec.group_modes(group).count() % 2 == 1;
    let signed = (0..spec.group_count()).find(odd);
    let sign = |column: usize| {
        let negative = if has_constant { mean < 0.0 } else { column % 2 == 1 };
        if negative { -1.0 } else { 1.0 }
    };
    let biases = super::start::biases_only(spec, data);
    let mut parameters = Parameters::<T>::random(spec, &data.sizes(), noise, seed);
    parameters.mean = biases.mean;
    for (group, rows) in spec.group_sizes(&data.sizes()).into_iter().enumerate() {
        for label in 0..rows {
            for (column, u) in parameters.row_mut(group, label).iter_mut().enumerate() {
                let sign = if signed == Some(group) { sign(column) } else { 1.0 };
                *u = T::from_f64(sign * size * (1.0 + u.to_f64()));
            }
            if spec.biases == Biases::Modes {
                parameters.set_bias(group, label, biases.bias(group, label));
            }
        }
    }
    parameters
}

/// What is tried next, given the centred candidates so far.
pub(super) fn next_trial<T: Real>(
    session: &FitSession<'_, T>,
    candidates: &[Candidate],
) -> Option<Trial> {
    let data = session.problem.training();
    let choices = if let Some(biases) = session.config().biases.fixed() {
        vec![biases]
    } else {
        let (mean, deviation) = moments(data);
        let apart = mean.abs() < SMALL_MEAN * deviation;
        if apart { vec![Biases::Mean, Biases::Modes] } else { vec![Biases::None] }
    };
    let ladder = if session.checked.finds_rank {
        let (sizes, len) = (data.sizes(), data.len());
        let free = |rank| session.base.clone().with_rank(rank).degrees_of_freedom(&sizes);
        let is_supported = |rank| rank <= SMALL_RANK || PER_PARAMETER * free(rank) <= len;
        let most = session.base.rank;
        let ladder = LADDER.into_iter().filter(|&rank| rank <= most && is_supported(rank));
        Some(ladder.collect()).filter(|ladder: &Vec<_>| !ladder.is_empty()).unwrap_or(vec![most])
    } else {
        vec![session.base.rank]
    };
    let (biases, rank) = next_choice(candidates, &choices, &ladder)?;
    Some(Trial { biases, rank, centred: true, end: path_end(data) })
}

/// All biases at one rank, then with the best of them up the ladder of ranks as long as that helps, or down.
fn next_choice(
    candidates: &[Candidate],
    biases: &[Biases],
    ladder: &[usize],
) -> Option<(Biases, usize)> {
    let pilot =
        ladder.iter().copied().find(|&rank| rank >= PILOT_RANK).or(ladder.last().copied())?;
    let tried = |biases, rank| candidates.iter().any(|c| c.biases == biases && c.rank == rank);
    if let Some(&biases) = biases.iter().find(|&&biases| !tried(biases, pilot)) {
        return Some((biases, pilot));
    }
    let best = candidates.iter().min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))?;
    let at = ladder.iter().position(|&rank| rank == best.rank)?;
    let neighbours = [ladder.get(at + 1), at.checked_sub(1).map(|below| &ladder[below])];
    let next = neighbours.into_iter().flatten().find(|&&rank| !tried(best.biases, rank));
    next.map(|&rank| (best.biases, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_tried_up_the_ladder_while_that_helps() {
        let search = |truth: usize| {
            let mut tried = Vec::new();
            let mut candidates = Vec::new();
            while let Some((biases, rank)) =
                next_choice(&candidates, &[Biases::Mean, Biases::Modes], &LADDER)
            {
                let rough = if biases == Biases::Modes { 0.0 } else { 1.0 };
                tried.push(rank);
                candidates.push(Candidate {
                    biases,
                    rank,
                    centred: true,
                    penalty: 1.0,
                    validation_rmse: rough + (rank as f64 / truth as f64).ln().abs(),
                    path: Vec::new(),
                });
            }
            tried
        };
        assert_eq!(search(3), [10, 10, 30, 3]);
        assert_eq!(search(10), [10, 10, 30, 3]);
        assert_eq!(search(60), [10, 10, 30, 60, 100]);
    }

    #[test]
    fn three_steps_make_a_factor_of_three_quarters() {
        assert!((DECREASE.powi(3) - 0.75).abs() < 1e-15);
        assert_eq!(path_steps(0.75), 4);
    }
}
