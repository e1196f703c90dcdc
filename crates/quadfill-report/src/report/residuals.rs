//! What the model leaves unexplained, and where it leaves most.

use quadfill::Observations;

use super::fit::FitStory;
use super::numbers::{decimals_of, fixed};
use super::{Block, Section};
use crate::chart::{Chart, Histogram};

/// The largest number of residuals that are computed.
const MAX_RESIDUALS: usize = 1_000_000;
/// A label with fewer observations may have large residuals by accident.
const FEWEST: usize = 5;
/// The number of labels of each mode.
const LABELS: usize = 5;

/// Residuals of some observations.
struct Residuals {
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Residuals {
    fn new(story: &FitStory<'_>, every: usize) -> Self {
        let data = story.data;
        let rows: Vec<usize> = (0..data.len()).step_by(every).collect();
        // By name: modes that share their factors have other indices in the model than in the data.
        let all = story.model.find_columns(data).expect("the data have the modes of the model");
        let sample = |column: &Vec<u32>| rows.iter().map(|&row| column[row]).collect();
        let columns: Vec<Vec<u32>> = all.iter().map(sample).collect();
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let predictions = story.model.predict_cells(&columns);
        let residual = |(&row, prediction): (&usize, f64)| data.values()[row] - prediction;
        let values = rows.iter().zip(predictions).map(residual).collect();
        Self { rows, values }
    }

    /// The labels of a mode with the largest root mean squared residuals.
    fn worst(&self, data: &Observations, mode: usize) -> Vec<Worst> {
        let labels = data.modes()[mode].labels.len();
        let mut sums = vec![(0, 0.0, 0.0); labels];
        for (&row, value) in self.rows.iter().zip(&self.values) {
            let (count, sum, squares) = &mut sums[data.indices(mode)[row] as usize];
            *count += 1;
            *sum += value;
            *squares += value * value;
        }
        let mut all: Vec<Worst> = sums
            .into_iter()
            .enumerate()
            .filter(|(_, (count, ..))| *count >= FEWEST)
            .map(|(label, (count, sum, squares))| {
                let count_f = count as f64;
                Worst { label, count, rmse: (squares / count_f).sqrt(), mean: sum / count_f }
            })
            .collect();
        all.sort_by(|x, y| y.rmse.total_cmp(&x.rmse));
        // Of hardly more labels than are shown, all would be the worst.
        all.truncate(LABELS.min(all.len() / 2));
        all
    }
}

/// The residuals of a label.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Worst {
    label: usize,
    count: usize,
    rmse: f64,
    mean: f64,
}

pub(super) fn section(story: &FitStory<'_>) -> Section {
    let data = story.data;
    let every = data.len().div_ceil(MAX_RESIDUALS).max(1);
    let residuals = Residuals::new(story, every);
    let mut rows = Vec::new();
    let decimals = decimals_of(story.model.summary().train_rmse, 4);
    for (mode, about) in data.modes().iter().enumerate() {
        for worst in residuals.worst(data, mode) {
            rows.push(vec![
                about.name.clone(),
                about.labels.name(worst.label).into_owned(),
                worst.count.to_string(),
                fixed(worst.rmse, decimals),
                fixed(worst.mean, decimals),
            ]);
        }
    }
    let histogram = Chart::Histogram(Histogram {
        title: "Residuals: observed minus predicted value".to_owned(),
        x: "residual".to_owned(),
        values: residuals.values,
        bins: 60,
    });
    let caption =
        if every > 1 { format!("A sample of one in {every} observations.") } else { String::new() };
    let mut blocks = vec![Block::figure("residuals", histogram, caption)];
    if !rows.is_empty() {
        blocks.push(Block::Text(format!(
            "The labels of each mode that are predicted worst, among those with at least {FEWEST} \
             observations. A mean residual far from zero says that the label is over- or underestimated \
             throughout; otherwise its values scatter."
        )));
        blocks
            .push(Block::table(&["mode", "label", "observations", "rmse", "mean residual"], rows));
    }
    Section::new("Residuals", blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::{Labels, Mode, OnDuplicate};

    #[test]
    fn the_worst_labels_have_the_largest_residuals_and_enough_of_them() {
        let modes = vec![Mode::new("a", Labels::range(4)), Mode::new("b", Labels::range(8))];
        // The last label of the first mode has one observation only.
        let cells = (0..24).map(|k| (k / 8, k % 8)).chain([(3, 0)]);
        let (a, b): (Vec<u32>, Vec<u32>) = cells.unzip();
        let values = vec![0.0; a.len()];
        let data = Observations::new(modes, vec![a.clone(), b], values, None, OnDuplicate::Error)
            .expect("valid observations");
        let residual = |&label: &u32| match label {
            1 => -2.0,
            3 => 100.0,
            _ => 0.5,
        };
        let values = a.iter().map(residual).collect();
        let residuals = Residuals { rows: (0..25).collect(), values };
        let worst = residuals.worst(&data, 0);
        assert_eq!(worst, [Worst { label: 1, count: 8, rmse: 2.0, mean: -2.0 }]);
        assert!(residuals.worst(&data, 1).is_empty(), "three or four observations each");
    }
}
