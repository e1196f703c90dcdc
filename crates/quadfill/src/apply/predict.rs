//! Predictions of a model, and how far they are from the truth.

use crate::error::Result;
use crate::fitted::{Model, with_numbers};
use crate::model::{Evaluation, UNKNOWN};
use crate::observations::Observations;

impl Model {
    /// The prediction for a cell, given one known label per mode in the order of the modes.
    pub fn predict(&self, labels: &[&str]) -> Result<f64> {
        let cell = self.find_cell(labels)?;
        Ok(self.predict_cell(&cell))
    }

    /// The prediction for a cell given by label indices. Terms of an [`UNKNOWN`] label are left out; sampled
    /// and centred models use the mean row of its mode instead.
    pub fn predict_cell(&self, cell: &[u32]) -> f64 {
        with_numbers!(&self.numbers, fitted => fitted.predictor(&self.spec).cell(cell))
    }

    /// The predictions for many cells, given as one column of label indices per mode.
    pub fn predict_cells(&self, columns: &[&[u32]]) -> Vec<f64> {
        with_numbers!(&self.numbers, fitted => fitted.predictor(&self.spec).cells(columns))
    }

    /// The same on this thread, written to `predictions`. Few cells at a time are best, so that their labels are
    /// still in the cache.
    ///
    /// ```
    /// # use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
    /// # let modes = ["left", "right"].map(|name| Mode::new(name, Labels::range(3))).to_vec();
    /// # let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
    /// # let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
    /// # let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
    /// let model = quadfill::fit(data, &FitConfig::default())?;
    /// let mut predictions = [0.0; 2];
    /// model.predict_into(&[&[2, 0], &[2, 1]], &mut predictions);
    /// assert_eq!(predictions, [model.predict_cell(&[2, 2]), model.predict_cell(&[0, 1])]);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    ///
    /// # Panics
    /// Unless there is one column per mode, and all columns are as long as `predictions`.
    pub fn predict_into(&self, columns: &[&[u32]], predictions: &mut [f64]) {
        with_numbers!(&self.numbers, fitted => {
            fitted.predictor(&self.spec).cells_into(columns, predictions);
        });
    }

    /// Compares predictions with observations, whose labels are looked up by name. Cells with labels
    /// that the model does not know count too.
    pub fn evaluate(&self, test: &Observations) -> Result<Evaluation> {
        let columns = self.find_columns(test)?;
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        Ok(self.evaluate_cells(&columns, test.values()))
    }

    /// Compares predictions with values, for cells given as one column of label indices per mode.
    pub fn evaluate_cells(&self, columns: &[&[u32]], values: &[f64]) -> Evaluation {
        Evaluation::of(&self.predict_cells(columns), columns, values)
    }

    /// The cells of some data as one column of label indices per mode, [`UNKNOWN`] where the model
    /// does not know a label.
    pub fn find_columns(&self, data: &Observations) -> Result<Vec<Vec<u32>>> {
        let (expected, got) = (self.modes.len(), data.modes().len());
        if expected != got {
            return Err(crate::Error::OtherModes { expected, got });
        }
        let modes = self.modes.iter().zip(data.modes()).enumerate();
        Ok(modes
            .map(|(at, (own, mode))| {
                let index_map: Vec<u32> = (0..mode.labels.len())
                    .map(|label| own.labels.find(&mode.labels.name(label)).unwrap_or(UNKNOWN))
                    .collect();
                data.indices(at).iter().map(|&label| index_map[label as usize]).collect()
            })
            .collect())
    }
}
