//! The symmetric matrix `K` that says which pairs of modes interact, and how strongly.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A symmetric `N x N` matrix: a cell's prediction is the sum of `K[a][b] <u_a, u_b>`.
///
/// ```
/// use quadfill::model::Kernel;
/// let pairwise = Kernel::pairwise(3);
/// assert_eq!(pairwise.get(0, 1), 0.5);
/// assert_eq!(pairwise, Kernel::parse("0 .5 .5; .5 0 .5; .5 .5 0")?);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>")]
pub struct Kernel {
    modes: usize,
    entries: Vec<f64>,
}

impl Kernel {
    /// From rows; must be square, symmetric, finite and not all zero.
    pub fn new(rows: &[Vec<f64>]) -> Result<Self> {
        let modes = rows.len();
        let bad = |what: String| Err(Error::setting(format!("the kernel {what}")));
        if !(2..=8).contains(&modes) {
            return bad(format!("has {modes} rows: give one per mode, 2 to 8"));
        }
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != modes) {
            return bad(format!(
                "has {} numbers in row {} instead of {modes}: give one per mode",
                row.len(),
                i + 1
            ));
        }
        let kernel = Self { modes, entries: rows.concat() };
        if kernel.entries.iter().any(|k| !k.is_finite()) {
            return bad(
                "has an entry that is not a finite number: write numbers such as 0.5".to_owned()
            );
        }
        for a in 0..modes {
            for b in 0..a {
                let (lower, upper) = (kernel.get(a, b), kernel.get(b, a));
                if lower != upper {
                    return bad(format!(
                        "is not symmetric: entry ({}, {}) is {lower} but ({}, {}) is {upper}: \
                         write the same number in both places",
                        a + 1,
                        b + 1,
                        b + 1,
                        a + 1
                    ));
                }
            }
        }
        if kernel.entries.iter().all(|&k| k == 0.0) {
            return bad(
                "is all zero: give at least one pair of modes a number, or they would not interact"
                    .to_owned(),
            );
        }
        Ok(kernel)
    }

    /// From text: rows separated by `;`, numbers by blanks or commas.
    pub fn parse(text: &str) -> Result<Self> {
        let mut rows = Vec::new();
        for row in text.split(';') {
            let mut numbers = Vec::new();
            for word in row.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
                numbers.push(word.parse().map_err(|_| {
                    Error::setting(format!(
                        "{word} in the kernel is not a number: write it as \"0 .5 .5; .5 0 .5; .5 .5 0\""
                    ))
                })?);
            }
            rows.push(numbers);
        }
        Self::new(&rows)
    }

    fn from_fn(modes: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..modes * modes).map(|i| entry(i / modes, i % modes)).collect();
        Self { modes, entries }
    }

    /// Every pair of different modes interacts: 1/2 off the diagonal.
    pub fn pairwise(modes: usize) -> Self {
        Self::from_fn(modes, |a, b| if a == b { 0.0 } else { 0.5 })
    }

    /// Only the given pairs (counted from 0) interact.
    pub fn pairs(modes: usize, pairs: &[(usize, usize)]) -> Result<Self> {
        let mut rows = vec![vec![0.0; modes]; modes];
        for &(a, b) in pairs {
            if a >= modes || b >= modes || a == b {
                return Err(Error::setting(format!(
                    "the pair {}-{} is not a pair of {modes} modes: write pairs as 1-2,1-3",
                    a + 1,
                    b + 1
                )));
            }
            rows[a][b] = 0.5;
            rows[b][a] = 0.5;
        }
        Self::new(&rows)
    }

    /// `v v^T` with `v = (1, .., 1, -1)`: the squared distance of the last row to the sum of the others.
    pub fn transe(modes: usize) -> Self {
        let sign = |a: usize| if a + 1 == modes { -1.0 } else { 1.0 };
        Self::from_fn(modes, |a, b| sign(a) * sign(b))
    }

    /// The identity: the sum of the squared norms.
    pub fn norms(modes: usize) -> Self {
        Self::from_fn(modes, |a, b| f64::from(u8::from(a == b)))
    }

    /// Only the first two modes interact: plain matrix factorization.
    pub fn matrix(modes: usize) -> Self {
        Self::from_fn(modes, |a, b| if a + b == 1 { 0.5 } else { 0.0 })
    }

    /// How many modes the kernel is for.
    pub fn modes(&self) -> usize {
        self.modes
    }

    /// `K[a][b]`.
    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.entries[a * self.modes + b]
    }

    /// The entries on and above the diagonal, as row and column.
    pub fn distinct_entries(&self) -> Vec<(usize, usize)> {
        (0..self.modes).flat_map(|a| (a..self.modes).map(move |b| (a, b))).collect()
    }

    /// The same with other numbers at some of the distinct entries, and below the diagonal to match.
    #[must_use]
    pub(crate) fn with_entries(&self, entries: &[(usize, usize)], numbers: &[f64]) -> Self {
        let mut changed = self.clone();
        for (&(a, b), &number) in entries.iter().zip(numbers) {
            changed.entries[a * self.modes + b] = number;
            changed.entries[b * self.modes + a] = number;
        }
        changed
    }

    /// The equivalent kernel for rows scaled by `1 / scales[a]` in mode `a`.
    #[must_use]
    pub(crate) fn scaled(&self, scales: &[f64]) -> Self {
        // The scales first: their product commutes, so the kernel stays exactly symmetric.
        Self::from_fn(self.modes, |a, b| scales[a] * scales[b] * self.get(a, b))
    }

    /// The Frobenius norm.
    pub(crate) fn norm(&self) -> f64 {
        self.entries.iter().map(|k| k * k).sum::<f64>().sqrt()
    }

    /// Whether any mode interacts with itself.
    pub(crate) fn has_diagonal(&self) -> bool {
        (0..self.modes).any(|a| self.get(a, a) != 0.0)
    }

    /// Whether a mode interacts with any mode.
    pub(crate) fn involves(&self, mode: usize) -> bool {
        (0..self.modes).any(|b| self.get(mode, b) != 0.0)
    }
}

impl TryFrom<Vec<Vec<f64>>> for Kernel {
    type Error = Error;
    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self> {
        Self::new(&rows)
    }
}

impl From<Kernel> for Vec<Vec<f64>> {
    fn from(kernel: Kernel) -> Self {
        kernel.entries.chunks(kernel.modes).map(<[f64]>::to_vec).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;

    #[test]
    fn presets_are_what_their_names_say() {
        assert_eq!(Kernel::transe(3), Kernel::parse("1 1 -1; 1 1 -1; -1 -1 1").unwrap());
        assert_eq!(Kernel::norms(2), Kernel::parse("1,0;0,1").unwrap());
        assert_eq!(Kernel::matrix(3), Kernel::pairs(3, &[(0, 1)]).unwrap());
        assert!(!Kernel::matrix(3).involves(2));
    }

    #[test]
    fn broken_kernels_are_refused_with_the_reason() {
        for (text, reason) in [
            ("0 1; 2 0", "not symmetric: entry (2, 1) is 2 but (1, 2) is 1"),
            ("0 1; 1", "has 1 numbers in row 2 instead of 2"),
            ("0 x; 1 0", "x in the kernel is not a number"),
            ("0 0; 0 0", "is all zero"),
            ("1", "has 1 rows"),
            ("0 inf; inf 0", "not a finite number"),
        ] {
            let error = Kernel::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
