//! Observations with the labels of a model.

use super::{Mode, Observations};
use crate::error::{Error, Result};

impl Observations {
    /// The same observations with the labels of other modes, in the same order of modes, and how many
    /// were left out because some label is not among them.
    ///
    /// ```
    /// use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// let mode = |name: &str, labels: &[&str]| Mode::new(name, Labels::from_names(labels));
    /// let data = Observations::new(
    ///     vec![mode("user", &["ann", "bob"]), mode("item", &["x"])],
    ///     vec![vec![0, 1], vec![0, 0]],
    ///     vec![1.0, 2.0],
    ///     None,
    ///     OnDuplicate::Error,
    /// )?;
    /// let known = [mode("user", &["eve", "bob"]), mode("item", &["x", "y"])];
    /// let (data, unknown) = data.relabelled(&known)?;
    /// assert_eq!((data.indices(0), data.sizes(), unknown), (&[1][..], vec![2, 2], 1));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn relabelled(self, modes: &[Mode]) -> Result<(Self, usize)> {
        let Self { modes: own, mut indices, mut values, mut weights, source } = self;
        if own.len() != modes.len() {
            return Err(Error::OtherModes { expected: modes.len(), got: own.len() });
        }
        let index_map: Vec<Vec<Option<u32>>> = own
            .iter()
            .zip(modes)
            .map(|(own, mode)| {
                let names = (0..own.labels.len()).map(|label| own.labels.name(label));
                names.map(|name| mode.labels.find(&name)).collect()
            })
            .collect();
        let mut kept = 0;
        let all = values.len();
        for row in 0..all {
            let known = |mode: usize| index_map[mode][indices[mode][row] as usize].is_some();
            if (0..modes.len()).all(known) {
                for (column, map) in indices.iter_mut().zip(&index_map) {
                    column[kept] = map[column[row] as usize].unwrap_or_default();
                }
                values[kept] = values[row];
                if let Some(weights) = &mut weights {
                    weights[kept] = weights[row];
                }
                kept += 1;
            }
        }
        if kept == 0 {
            return Err(Error::NothingInCommon);
        }
        for column in &mut indices {
            column.truncate(kept);
        }
        values.truncate(kept);
        if let Some(weights) = &mut weights {
            weights.truncate(kept);
        }
        Ok((Self { modes: modes.to_vec(), indices, values, weights, source }, all - kept))
    }
}
