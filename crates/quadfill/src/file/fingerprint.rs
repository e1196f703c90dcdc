//! Tells whether a checkpoint belongs to these data and settings.

use serde::{Deserialize, Serialize};

use crate::observations::{Labels, Observations};
use crate::solve::FitConfig;
use quadfill_kernels::Real;

/// A hash of the data (sizes, labels, indices, values, weights) and one of the settings, precision
/// included. The time limit does not count: a fit that ran out of time goes on with more of it.
///
/// ```
/// use quadfill::file::Fingerprint;
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::FitConfig;
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let indices = vec![vec![0, 1], vec![0, 1]];
/// let data = Observations::new(modes, indices, vec![1.0, 2.0], None, OnDuplicate::Error)?;
/// let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// let before = Fingerprint::new(&data, &config);
/// config.seed += 1;
/// assert_ne!(Fingerprint::new(&data, &config), before);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    pub(super) data: String,
    pub(super) settings: String,
}

impl Fingerprint {
    /// Of these data and settings.
    pub fn new<T: Real>(data: &Observations<T>, config: &FitConfig) -> Self {
        let mut hash = Hash::new();
        hash.number(data.modes().len() as u64);
        for (at, mode) in data.modes().iter().enumerate() {
            hash.bytes(mode.name.as_bytes());
            hash.number(mode.labels.len() as u64);
            match &mode.labels {
                Labels::Integers(labels) => hash.numbers(labels.iter().map(|&l| l as u64)),
                Labels::Text(text) => {
                    for label in 0..text.len() {
                        hash.bytes(text.name(label).as_bytes());
                    }
                }
            }
            hash.numbers(data.indices(at).iter().map(|&i| i.into()));
        }
        for column in std::iter::once(data.values()).chain(data.weights()) {
            hash.number(column.len() as u64);
            hash.numbers(column.iter().map(|x| x.to_f64().to_bits()));
        }

        let untimed = FitConfig { time_limit: None, ..config.clone() };
        let json = serde_json::to_vec(&untimed).expect("every setting has a JSON form");
        let mut settings = Hash::new();
        settings.bytes(&json);
        settings.bytes(T::NAME.as_bytes());
        Self { data: hash.finish(), settings: settings.finish() }
    }
}

/// A plain 128-bit hash, one word at a time. It must not change from one build to the next, which
/// hash functions of libraries do not promise.
pub(super) struct Hash([u64; 2]);

impl Hash {
    pub(super) fn new() -> Self {
        Self([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344])
    }

    pub(super) fn number(&mut self, word: u64) {
        // Odd multipliers keep every step one to one, and the rotations bring high bits down.
        let [a, b] = &mut self.0;
        *a = (*a ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        *b = (*b ^ word.rotate_left(32)).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31);
        *b = b.wrapping_add(*a);
    }

    pub(super) fn numbers(&mut self, words: impl Iterator<Item = u64>) {
        for word in words {
            self.number(word);
        }
    }

    /// With its length, so that neighbours cannot trade letters.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    pub(super) fn finish(mut self) -> String {
        // Rounds without input spread the last words over all bits.
        for round in 0..4 {
            self.number(round);
        }
        format!("{:016x}{:016x}", self.0[0], self.0[1])
    }
}
