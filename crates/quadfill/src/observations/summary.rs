//! A summary of the data, and whether there are enough of them.

use serde::Serialize;

use super::{BinsSummary, Mode, Observations};

/// Observations per label of one mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModeSummary {
    /// The mode's name.
    pub name: String,
    /// How many labels it has.
    pub labels: usize,
    /// The fewest observations of any label.
    pub min: usize,
    /// The median over labels.
    pub median: usize,
    /// The most observations of any label.
    pub max: usize,
    /// Labels without any observation.
    pub unobserved: usize,
    /// Its bins, where times were cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinsSummary>,
}

/// Sizes, density and coverage of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// One entry per mode.
    pub modes: Vec<ModeSummary>,
    /// How many observations there are.
    pub observations: usize,
    /// Observations over cells.
    pub density: f64,
    /// The smallest value.
    pub min: f64,
    /// The mean value.
    pub mean: f64,
    /// The largest value.
    pub max: f64,
    /// The standard deviation of the values.
    pub deviation: f64,
    /// Labels with fewer observations than the given rank, per mode: these cannot be recovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_rank: Option<Vec<usize>>,
    /// Free parameters of the given model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<usize>,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

impl Observations {
    /// Summarises the data on its own.
    pub fn summary(&self) -> Summary {
        Summary::of(self.modes(), &self.all_counts(), |see| {
            self.values().iter().for_each(|&value| see(value));
        })
    }

    /// Summarises the data in view of a model with `rank` columns and `degrees_of_freedom` free
    /// parameters, with warnings where they are too few.
    pub fn summary_for(&self, rank: usize, degrees_of_freedom: usize) -> Summary {
        let counts = self.all_counts();
        self.summary().in_view_of(&counts, rank, degrees_of_freedom)
    }

    fn all_counts(&self) -> Vec<Vec<usize>> {
        (0..self.modes().len()).map(|mode| self.counts(mode)).collect()
    }

    /// Observations per label of one mode.
    pub fn counts(&self, mode: usize) -> Vec<usize> {
        let mut counts = vec![0; self.modes()[mode].labels.len()];
        for &i in self.indices(mode) {
            counts[i as usize] += 1;
        }
        counts
    }
}

impl Summary {
    /// A summary of data with these observations per label of each mode; `values` passes on every value.
    pub(crate) fn of(
        modes: &[Mode],
        counts: &[Vec<usize>],
        values: impl Fn(&mut dyn FnMut(f64)),
    ) -> Self {
        let observations: usize = counts[0].iter().sum();
        let m = observations as f64;
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        values(&mut |value| {
            min = min.min(value);
            max = max.max(value);
            sum += value;
        });
        let mean = sum / m;
        let mut squares = 0.0;
        values(&mut |value| squares += (value - mean).powi(2));
        let cells: f64 = counts.iter().map(|counts| counts.len() as f64).product();
        Self {
            modes: modes
                .iter()
                .zip(counts)
                .map(|(mode, counts)| ModeSummary::of(mode, counts))
                .collect(),
            observations,
            density: m / cells,
            min,
            mean,
            max,
            deviation: (squares / m).sqrt(),
            below_rank: None,
            degrees_of_freedom: None,
            warnings: Vec::new(),
        }
    }

    /// The same in view of a model with `rank` columns and `degrees_of_freedom` free parameters, with warnings
    /// where the data are too few.
    pub(crate) fn in_view_of(
        mut self,
        counts: &[Vec<usize>],
        rank: usize,
        degrees_of_freedom: usize,
    ) -> Self {
        let few = |counts: &Vec<usize>| counts.iter().filter(|&&c| c > 0 && c < rank).count();
        let below: Vec<usize> = counts.iter().map(few).collect();
        for (mode, &few) in self.modes.iter().zip(&below) {
            if few > 0 {
                self.warnings.push(format!(
                    "{few} of {} labels of `{}` have fewer than {rank} observations: their rows are \
                     not determined without the penalty",
                    mode.labels, mode.name
                ));
            }
        }
        let m = self.observations;
        if m < degrees_of_freedom {
            self.warnings.push(format!(
                "{m} observation{} for {degrees_of_freedom} free parameters: exact recovery is \
                 impossible, lower the rank or rely on the penalty",
                if m == 1 { "" } else { "s" }
            ));
        }
        self.below_rank = Some(below);
        self.degrees_of_freedom = Some(degrees_of_freedom);
        self
    }
}

impl ModeSummary {
    fn of(mode: &Mode, counts: &[usize]) -> Self {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        Self {
            name: mode.name.clone(),
            labels: counts.len(),
            min: counts.first().copied().unwrap_or(0),
            median: counts.get(counts.len() / 2).copied().unwrap_or(0),
            max: counts.last().copied().unwrap_or(0),
            unobserved: counts.iter().filter(|&&c| c == 0).count(),
            bins: mode.bins_summary(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use crate::observations::{Labels, Mode, Observations, OnDuplicate};

    #[test]
    fn counts_density_and_warnings() {
        let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(2))];
        let data = Observations::new(
            modes,
            vec![vec![0, 0, 1], vec![0, 1, 1]],
            vec![1.0, 2.0, 3.0],
            None,
            OnDuplicate::Error,
        )
        .unwrap();
        let summary = data.summary_for(2, 9);
        assert_eq!(summary.density, 0.5);
        assert_eq!(summary.mean, 2.0);
        let a = &summary.modes[0];
        assert_eq!((a.min, a.median, a.max, a.unobserved), (0, 1, 2, 1));
        assert_eq!(summary.below_rank, Some(vec![1, 1]));
        assert_eq!(summary.warnings.len(), 3);
        assert!(summary.warnings[2].contains("3 observations for 9 free parameters"));
    }
}
