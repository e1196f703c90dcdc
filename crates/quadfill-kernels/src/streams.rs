//! Seeded random streams: one per purpose and block of work, so that what is drawn depends
//! neither on threads nor on the machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// The stream of `block` for `purpose`, a number the caller gives to each use of randomness.
///
/// ```
/// use quadfill_kernels::streams::{fill_normal, stream};
///
/// let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
/// fill_normal(&mut a, &mut stream(7, 1, 0));
/// fill_normal(&mut b, &mut stream(7, 1, 0));
/// assert_eq!(a, b);
/// fill_normal(&mut b, &mut stream(7, 1, 1));
/// assert_ne!(a, b);
/// ```
pub fn stream(seed: u64, purpose: u64, block: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&purpose.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(block);
    rng
}

/// Fills `out` with draws from the standard normal distribution.
pub fn fill_normal(out: &mut [f64], rng: &mut ChaCha8Rng) {
    for x in out {
        *x = rng.sample(StandardNormal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_each_of_their_numbers() {
        let first = |seed, purpose, block| stream(seed, purpose, block).random::<u64>();
        let base = first(1, 2, 3);
        assert_eq!(base, first(1, 2, 3));
        for other in [first(2, 2, 3), first(1, 3, 3), first(1, 2, 4), first(2, 1, 3)] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut draws = vec![0.0; 20_000];
        fill_normal(&mut draws, &mut stream(1, 0, 0));
        let n = draws.len() as f64;
        let mean = crate::sum::ordered_sum(&draws) / n;
        let variance = crate::sum::dot(&draws, &draws) / n - mean * mean;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04);
    }
}
