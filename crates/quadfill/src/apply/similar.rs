//! The labels of a mode that are most like one of them.

use super::best::{Best, Scored};
use crate::fitted::{Model, with_numbers};
use crate::model::inner;

impl Model {
    /// The `k` labels of a mode whose rows have the smallest angle to that of `label`, which itself is left
    /// out, with the cosines of these angles; 0 where a row is zero.
    ///
    /// ```
    /// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
    /// let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
    /// let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
    /// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, -3.0, -6.0];
    /// let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
    /// let model = quadfill::fit(data, &FitConfig::default())?;
    /// let like = model.similar(0, 0, 2);
    /// assert_eq!(like.iter().map(|scored| scored.label).collect::<Vec<_>>(), [1, 2]);
    /// assert!((like[0].score - 1.0).abs() < 1e-6 && (like[1].score + 1.0).abs() < 1e-6);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such mode or label.
    pub fn similar(&self, mode: usize, label: u32, k: usize) -> Vec<Scored> {
        let (group, labels) = (self.spec.groups[mode], self.modes[mode].labels.len());
        with_numbers!(&self.numbers, fitted => {
            let row = |label: u32| fitted.parameters.row(group, label as usize);
            let own = row(label);
            let mut best = Best::new(k);
            for other in (0..labels as u32).filter(|&other| other != label) {
                let norms = (inner(own, own) * inner(row(other), row(other))).sqrt();
                let cosine = if norms > 0.0 { inner(own, row(other)) / norms } else { 0.0 };
                best.offer(other, cosine);
            }
            best.into_sorted()
        })
    }
}
