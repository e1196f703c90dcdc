//! Seeded random streams: one per purpose and block of work, so that draws depend neither on the
//! number of threads nor on the machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

/// The stream of `block` for `purpose`, a number that the caller assigns to each use of randomness.
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
    stream_at(seed, purpose, [0, 0], block)
}

/// The stream of `block` for one occurrence of `purpose`, identified by two numbers, such as the
/// sweep and the matrix that is drawn.
///
/// ```
/// use quadfill_kernels::streams::{stream, stream_at};
/// use rand::RngExt;
///
/// let draw = |index| stream_at(7, 1, index, 0).random::<u64>();
/// assert_eq!(draw([0, 0]), stream(7, 1, 0).random::<u64>());
/// assert_ne!(draw([1, 0]), draw([0, 1]));
/// ```
pub fn stream_at(seed: u64, purpose: u64, index: [u64; 2], block: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, number) in key.chunks_exact_mut(8).zip([seed, purpose, index[0], index[1]]) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
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

/// A draw from the gamma distribution with the given shape and rate, both positive and finite.
///
/// ```
/// use quadfill_kernels::streams::{gamma, stream};
///
/// let draw = gamma(1e6, 2e6, &mut stream(7, 1, 0));
/// assert!((draw - 0.5).abs() < 0.01);
/// ```
///
/// # Panics
/// If the shape or the rate is not positive and finite.
pub fn gamma(shape: f64, rate: f64, rng: &mut ChaCha8Rng) -> f64 {
    let scale = 1.0 / rate;
    Gamma::new(shape, scale).expect("shape and rate are positive and finite").sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_in_each_of_their_numbers() {
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
