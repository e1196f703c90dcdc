//! The errors of a row, and what is concluded from them.

use serde::{Deserialize, Serialize};

/// Plain `fit` on one split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plain {
    pub(super) error: f64,
    /// Wall seconds.
    pub(super) seconds: f64,
    pub(super) chosen: String,
}

/// A setting or a peer on all splits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// One per split; a peer that is not installed has none.
    pub(super) errors: Vec<f64>,
    /// Whether the time limit ended a fit.
    pub(super) was_cut_short: bool,
}

/// A data set and the share of it that is observed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) is_tuned_on: bool,
    /// Observations for training.
    pub(super) cells: usize,
    pub(super) plain: Vec<Plain>,
    pub(super) columns: Vec<Column>,
}

/// Plain `fit` beside the best other column.
#[derive(Debug, Clone)]
pub(super) struct Comparison<'a> {
    pub(super) best: &'a Column,
    /// Errors of plain `fit` over those of the best column, median and largest over the splits.
    pub(super) ratio: f64,
    pub(super) worst_ratio: f64,
}

impl Row {
    pub(super) fn new(name: &str, is_tuned_on: bool) -> Self {
        Self {
            name: name.to_owned(),
            is_tuned_on,
            cells: 0,
            plain: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Adds the error of a column on one more split.
    pub(super) fn add(&mut self, name: &str, error: Option<f64>, was_cut_short: bool) {
        let Some(error) = error else { return };
        match self.columns.iter_mut().find(|column| column.name == name) {
            Some(column) => {
                column.errors.push(error);
                column.was_cut_short |= was_cut_short;
            }
            None => self.columns.push(Column {
                name: name.to_owned(),
                errors: vec![error],
                was_cut_short,
            }),
        }
    }

    /// Takes the columns of an earlier run on as many splits.
    pub(super) fn take_columns(&mut self, earlier: &[Self]) {
        let splits = self.plain.len();
        let columns =
            earlier.iter().filter(|row| row.name == self.name).flat_map(|row| &row.columns);
        self.columns = columns
            .filter(|column| column.errors.len() >= splits)
            .map(|column| Column { errors: column.errors[..splits].to_vec(), ..column.clone() })
            .collect();
    }

    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub(super) fn plain_errors(&self) -> Vec<f64> {
        self.plain.iter().map(|plain| plain.error).collect()
    }

    /// The column with the smallest median, and how plain `fit` compares with it split by split.
    pub(super) fn comparison(&self) -> Option<Comparison<'_>> {
        let complete = self.columns.iter().filter(|column| column.errors.len() == self.plain.len());
        let best = complete.min_by(|a, b| median(&a.errors).total_cmp(&median(&b.errors)))?;
        let ratios: Vec<f64> =
            self.plain.iter().zip(&best.errors).map(|(plain, error)| plain.error / error).collect();
        let worst_ratio = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (!ratios.is_empty()).then(|| Comparison { best, ratio: median(&ratios), worst_ratio })
    }

    /// The mean over splits of the error of plain `fit` less that of a column, and its standard error.
    pub(super) fn paired_difference(&self, name: &str) -> Option<(f64, f64)> {
        let column = self.column(name)?;
        let count = self.plain.len();
        if count < 2 || column.errors.len() != count {
            return None;
        }
        let differences: Vec<f64> = self
            .plain
            .iter()
            .zip(&column.errors)
            .map(|(plain, error)| plain.error - error)
            .collect();
        let mean = differences.iter().sum::<f64>() / count as f64;
        let squares = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>();
        Some((mean, (squares / (count - 1) as f64 / count as f64).sqrt()))
    }
}

/// The median; of an even number of values the mean of the middle two.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let mut row = Row::new("ratings 80 %", false);
        for error in [1.0, 1.2, 1.1] {
            row.plain.push(Plain { error, seconds: 1.0, chosen: String::new() });
            row.add("path", Some(1.3), false);
            row.add("myfm", Some(error - 0.1), false);
            row.add("absent", None, false);
        }
        row
    }

    #[test]
    fn the_best_column_is_compared_split_by_split() {
        let row = row();
        let comparison = row.comparison().expect("there are columns");
        assert_eq!(comparison.best.name, "myfm");
        assert!((comparison.ratio - 1.1).abs() < 1e-12);
        assert!((comparison.worst_ratio - 1.0 / 0.9).abs() < 1e-12);
        let (mean, error) = row.paired_difference("myfm").expect("there are three splits");
        assert!((mean - 0.1).abs() < 1e-12 && error < 1e-12);
    }

    #[test]
    fn columns_of_an_earlier_run_need_enough_splits() {
        let mut later = row();
        later.plain.truncate(2);
        later.take_columns(&[row()]);
        assert_eq!(later.column("myfm").expect("it was there").errors.len(), 2);
        later.plain.extend(row().plain);
        later.take_columns(&[row()]);
        assert!(later.columns.is_empty());
    }

    #[test]
    fn a_column_that_is_not_installed_is_left_out() {
        assert!(row().column("absent").is_none());
        assert!(row().paired_difference("absent").is_none());
    }
}
