//! A summary of the data, and whether there are enough of them.

use serde::Serialize;

use super::{BinsSummary, Observations};

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
        let m = self.len() as f64;
        let values = || self.values().iter().copied();
        let mean = values().sum::<f64>() / m;
        let cells: f64 = self.sizes().iter().map(|&n| n as f64).product();
        Summary {
            modes: (0..self.modes().len()).map(|mode| self.mode_summary(mode)).collect(),
            observations: self.len(),
            density: m / cells,
            min: values().fold(f64::INFINITY, f64::min),
            mean,
            max: values().fold(f64::NEG_INFINITY, f64::max),
            deviation: (values().map(|v| (v - mean).powi(2)).sum::<f64>() / m).sqrt(),
            below_rank: None,
            degrees_of_freedom: None,
            warnings: Vec::new(),
        }
    }

    /// Summarises the data in view of a model with `rank` columns and `degrees_of_freedom` free
    /// parameters, with warnings where they are too few.
    pub fn summary_for(&self, rank: usize, degrees_of_freedom: usize) -> Summary {
        let mut summary = self.summary();
        let below: Vec<usize> = (0..self.modes().len())
            .map(|mode| self.counts(mode).iter().filter(|&&c| c > 0 && c < rank).count())
            .collect();
        for (mode, &few) in summary.modes.iter().zip(&below) {
            if few > 0 {
                summary.warnings.push(format!(
                    "{few} of {} labels of `{}` have fewer than {rank} observations: their rows are \
                     not determined without the penalty",
                    mode.labels, mode.name
                ));
            }
        }
        if self.len() < degrees_of_freedom {
            summary.warnings.push(format!(
                "{} observation{} for {degrees_of_freedom} free parameters: exact recovery is \
                 impossible, lower the rank or rely on the penalty",
                self.len(),
                if self.len() == 1 { "" } else { "s" }
            ));
        }
        summary.below_rank = Some(below);
        summary.degrees_of_freedom = Some(degrees_of_freedom);
        summary
    }

    /// Observations per label of one mode.
    pub fn counts(&self, mode: usize) -> Vec<usize> {
        let mut counts = vec![0; self.modes()[mode].labels.len()];
        for &i in self.indices(mode) {
            counts[i as usize] += 1;
        }
        counts
    }

    fn mode_summary(&self, mode: usize) -> ModeSummary {
        let mut counts = self.counts(mode);
        counts.sort_unstable();
        ModeSummary {
            name: self.modes()[mode].name.clone(),
            labels: counts.len(),
            min: counts.first().copied().unwrap_or(0),
            median: counts.get(counts.len() / 2).copied().unwrap_or(0),
            max: counts.last().copied().unwrap_or(0),
            unobserved: counts.iter().filter(|&&c| c == 0).count(),
            bins: self.modes()[mode].bins_summary(),
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
