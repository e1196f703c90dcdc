//! Sampling of cells such that every label has enough observations: labels with fewer cannot be recovered.

use std::collections::HashSet;

use rand::{Rng, RngExt};

use super::Shape;
use crate::error::{LabError, Result};

/// Sampled cells that cover every label.
#[derive(Debug)]
pub(super) struct Covering {
    pub(super) columns: Vec<Vec<u32>>,
    pub(super) draws: usize,
    pub(super) mended: usize,
}

/// The total number of cells drawn before giving up.
const MAX_CELLS_DRAWN: usize = 50_000_000;

fn max_draws(observations: usize) -> usize {
    (MAX_CELLS_DRAWN / observations.max(1)).clamp(20, 10_000)
}

/// Draws `count` cells repeatedly until every label has at least `least` of them.
pub(super) fn draw<R: Rng>(
    shape: &Shape,
    count: usize,
    least: usize,
    stream: impl Fn(u64) -> R,
) -> Result<Covering> {
    let max_draws = max_draws(count);
    for draws in 1..=max_draws {
        let columns = shape.draw(count, &mut stream(draws as u64));
        if covers(&columns, shape.sizes(), least) {
            return Ok(Covering { columns, draws, mended: 0 });
        }
    }
    Err(LabError::CoverageNotReached {
        draws: max_draws,
        observations: count,
        min_per_label: least,
        suggested: sufficient_observations(shape.sizes(), count, least),
    })
}

/// Draws once, then replaces cells whose labels all have more than enough by cells of labels that have too
/// few. [`Shape::check_coverage`] must hold.
pub(super) fn draw_and_mend<R: Rng>(
    shape: &Shape,
    count: usize,
    least: usize,
    rng: &mut R,
) -> Covering {
    let sizes = shape.sizes();
    let mut columns = shape.draw(count, rng);
    let mut counts: Vec<Vec<usize>> = sizes.iter().map(|&size| vec![0; size]).collect();
    for (counts, column) in counts.iter_mut().zip(&columns) {
        for &label in column {
            counts[label as usize] += 1;
        }
    }
    let cell_of = |columns: &[Vec<u32>], row: usize| -> Vec<u32> {
        columns.iter().map(|column| column[row]).collect()
    };
    let mut taken: HashSet<Vec<u32>> = (0..count).map(|row| cell_of(&columns, row)).collect();
    let mut mended = 0;
    for mode in 0..sizes.len() {
        for label in 0..sizes[mode] {
            while counts[mode][label] < least {
                let row = rng.random_range(0..count as u64) as usize;
                let old = cell_of(&columns, row);
                let can_go = old.iter().zip(&counts).all(|(&l, c)| c[l as usize] > least);
                // The underrepresented label is combined with random labels of the other modes.
                let mut new: Vec<u32> =
                    sizes.iter().map(|&size| rng.random_range(0..size as u64) as u32).collect();
                new[mode] = label as u32;
                // If many labels are underrepresented, the other labels of the old cell may be kept.
                let is_new = !taken.contains(&new);
                let spares_enough = |others: &[u32]| {
                    old.iter()
                        .zip(others)
                        .enumerate()
                        .all(|(at, (&from, &to))| from == to || counts[at][from as usize] > least)
                };
                let kept: Vec<u32> = (0..sizes.len())
                    .map(|at| if at == mode { label as u32 } else { old[at] })
                    .collect();
                let chosen = if can_go && is_new {
                    new
                } else if spares_enough(&kept) && !taken.contains(&kept) {
                    kept
                } else {
                    continue;
                };
                for (at, (&from, &to)) in old.iter().zip(&chosen).enumerate() {
                    counts[at][from as usize] -= 1;
                    counts[at][to as usize] += 1;
                    columns[at][row] = to;
                }
                taken.remove(&old);
                taken.insert(chosen);
                mended += 1;
            }
        }
    }
    Covering { columns, draws: 1, mended }
}

fn covers(columns: &[Vec<u32>], sizes: &[usize], least: usize) -> bool {
    least == 0
        || columns.iter().zip(sizes).all(|(column, &size)| {
            let mut counts = vec![0usize; size];
            for &label in column {
                counts[label as usize] += 1;
            }
            counts.iter().all(|&count| count >= least)
        })
}

/// The largest coverage, up to `wanted`, that is likely to be reached in a moderate number of draws.
pub(super) fn attainable(sizes: &[usize], observations: usize, wanted: usize) -> usize {
    let threshold = -(max_draws(observations) as f64 / 10.0).ln();
    (1..=wanted)
        .rev()
        .find(|&least| {
            sizes.iter().all(|&size| least * size <= observations)
                && log_probability(sizes, observations, least) >= threshold
        })
        .unwrap_or(0)
}

/// A number of observations with which at least one draw in ten is expected to succeed.
fn sufficient_observations(sizes: &[usize], observations: usize, least: usize) -> usize {
    let mut more = observations as f64;
    while log_probability(sizes, more as usize, least) < -2.3 {
        more *= 1.05;
    }
    more.ceil() as usize
}

/// The log probability that every label gets at least `least` of `observations` cells, treating labels as
/// independent and cells as drawn with replacement.
fn log_probability(sizes: &[usize], observations: usize, least: usize) -> f64 {
    let m = observations as f64;
    sizes
        .iter()
        .filter(|&&size| size > 1)
        .map(|&size| {
            let share = 1.0 / size as f64;
            let odds = share / (1.0 - share);
            let mut log_term = m * (-share).ln_1p();
            let mut too_few = 0.0;
            for count in 0..least.min(observations) {
                too_few += log_term.exp();
                log_term += ((m - count as f64) / (count as f64 + 1.0) * odds).ln();
            }
            size as f64 * (-f64::min(too_few, 1.0)).ln_1p()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill_kernels::streams::stream;

    #[test]
    fn the_probability_agrees_with_simulation() {
        let shape = Shape::new(&[60, 60, 60]).expect("valid");
        let tries = 400;
        let hits = (0..tries)
            .filter(|&i| covers(&shape.draw(700, &mut stream(5, 0, i)), shape.sizes(), 4))
            .count();
        let probability = log_probability(shape.sizes(), 700, 4).exp();
        assert!((hits as f64 / tries as f64 - probability).abs() < 0.1, "{hits} {probability}");
    }

    #[test]
    fn coverage_by_the_rank_is_attainable_near_the_number_of_parameters() {
        assert_eq!(attainable(&[1000; 3], 17_000, 5), 5);
        assert_eq!(attainable(&[200; 3], 3400, 5), 5);
        assert_eq!(attainable(&[200; 3], 600, 5), 0);
        assert_eq!(attainable(&[5, 5], 24, 4), 4);
        assert_eq!(attainable(&[1, 30], 30, 3), 0);
    }

    #[test]
    fn mended_draws_cover_every_label_with_distinct_cells() {
        // From slightly too few to exactly as many as are needed.
        for count in [500, 300, 250] {
            let shape = Shape::new(&[50, 50, 50]).expect("valid");
            let drawn = draw_and_mend(&shape, count, 5, &mut stream(1, 0, 1));
            assert!(covers(&drawn.columns, shape.sizes(), 5) && drawn.mended > 0);
            let cells: HashSet<Vec<u32>> =
                (0..count).map(|row| drawn.columns.iter().map(|c| c[row]).collect()).collect();
            assert_eq!(cells.len(), count);
        }
    }

    #[test]
    fn unattainable_coverage_is_an_error_with_a_suggestion() {
        let shape = Shape::new(&[100, 100]).expect("valid");
        let error = draw(&shape, 300, 3, |i| stream(1, 0, i)).expect_err("invalid").to_string();
        assert!(error.contains("raise `observations` to about"), "{error}");
    }
}
