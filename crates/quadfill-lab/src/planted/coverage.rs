//! Draws repeated until every label has enough observations, as nobody can recover the others.

use std::collections::HashSet;

use rand::{Rng, RngExt};

use super::Shape;
use crate::error::{LabError, Result};

/// Cells that cover every label.
#[derive(Debug)]
pub(super) struct Covering {
    pub(super) columns: Vec<Vec<u32>>,
    pub(super) draws: usize,
    pub(super) mended: usize,
}

/// How many cells are drawn in all before giving up.
const MOST_CELLS: usize = 50_000_000;

fn most_draws(observations: usize) -> usize {
    (MOST_CELLS / observations.max(1)).clamp(20, 10_000)
}

/// Draws `count` cells again and again until every label has `least` of them.
pub(super) fn draw<R: Rng>(
    shape: &Shape,
    count: usize,
    least: usize,
    stream: impl Fn(u64) -> R,
) -> Result<Covering> {
    let most = most_draws(count);
    for draws in 1..=most {
        let columns = shape.draw(count, &mut stream(draws as u64));
        if covers(&columns, shape.sizes(), least) {
            return Ok(Covering { columns, draws, mended: 0 });
        }
    }
    Err(LabError::Setting(format!(
        "in {most} draws of {count} cells some label always had fewer than {least}: raise \
         --observations to about {} or lower --min-per-label",
        enough(shape.sizes(), count, least)
    )))
}

/// Draws once, and exchanges cells whose labels can all spare one for cells of labels that have too
/// few. There must be enough cells for that ([`Shape::check_coverage`]).
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
                // The label in need meets others at random.
                let mut new: Vec<u32> =
                    sizes.iter().map(|&size| rng.random_range(0..size as u64) as u32).collect();
                new[mode] = label as u32;
                // Where many labels are short, the others of the old cell may be kept.
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

/// The most observations per label, up to `wanted`, that a moderate number of draws should give.
pub(super) fn within_reach(sizes: &[usize], observations: usize, wanted: usize) -> usize {
    let hardly = -(most_draws(observations) as f64 / 10.0).ln();
    (1..=wanted)
        .rev()
        .find(|&least| {
            sizes.iter().all(|&size| least * size <= observations)
                && log_chance(sizes, observations, least) >= hardly
        })
        .unwrap_or(0)
}

/// A number of observations with which one draw in ten or more should do.
fn enough(sizes: &[usize], observations: usize, least: usize) -> usize {
    let mut more = observations as f64;
    while log_chance(sizes, more as usize, least) < -2.3 {
        more *= 1.05;
    }
    more.ceil() as usize
}

/// The logarithm of the chance that every label gets `least` of `observations` cells, as if labels
/// were independent and cells drawn with replacement.
fn log_chance(sizes: &[usize], observations: usize, least: usize) -> f64 {
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
    fn the_chance_agrees_with_counting() {
        let shape = Shape::new(&[60, 60, 60]).expect("sound");
        let tries = 400;
        let hits = (0..tries)
            .filter(|&i| covers(&shape.draw(700, &mut stream(5, 0, i)), shape.sizes(), 4))
            .count();
        let chance = log_chance(shape.sizes(), 700, 4).exp();
        assert!((hits as f64 / tries as f64 - chance).abs() < 0.1, "{hits} {chance}");
    }

    #[test]
    fn the_rank_is_within_reach_near_the_number_of_parameters() {
        assert_eq!(within_reach(&[1000; 3], 17_000, 5), 5);
        assert_eq!(within_reach(&[200; 3], 3400, 5), 5);
        assert_eq!(within_reach(&[200; 3], 600, 5), 0);
        assert_eq!(within_reach(&[5, 5], 24, 4), 4);
        assert_eq!(within_reach(&[1, 30], 30, 3), 0);
    }

    #[test]
    fn mended_draws_cover_every_label_with_distinct_cells() {
        // From a little short of plenty to exactly as many as are needed.
        for count in [500, 300, 250] {
            let shape = Shape::new(&[50, 50, 50]).expect("sound");
            let drawn = draw_and_mend(&shape, count, 5, &mut stream(1, 0, 1));
            assert!(covers(&drawn.columns, shape.sizes(), 5) && drawn.mended > 0);
            let cells: HashSet<Vec<u32>> =
                (0..count).map(|row| drawn.columns.iter().map(|c| c[row]).collect()).collect();
            assert_eq!(cells.len(), count);
        }
    }

    #[test]
    fn hopeless_draws_end_with_advice() {
        let shape = Shape::new(&[100, 100]).expect("sound");
        let error = draw(&shape, 300, 3, |i| stream(1, 0, i)).expect_err("refused").to_string();
        assert!(error.contains("raise --observations to about"), "{error}");
    }
}
