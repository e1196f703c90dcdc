//! Peak rates of this machine, as a reference for benchmarks.

use std::hint::black_box;
use std::time::Instant;

use crate::simd::{Simd, Task};
use crate::{Backend, Real};

/// Number of independent accumulators: enough to hide the latency of a multiply-add.
const ACCUMULATORS: usize = 12;

/// Peak multiply-add rate of one core with `backend`, in GFLOP/s (two operations each): the best of
/// several short runs.
pub fn multiply_add_gflops<T: Real>(backend: Backend) -> f64 {
    const ROUNDS: usize = 1 << 20;
    best_rate(20, || backend.run::<T, _>(MultiplyAdds { rounds: ROUNDS, entry: T::ONE }))
}

/// Memory read bandwidth of one core, in GB/s: the best of several runs over a buffer of 256 MB.
pub fn read_bandwidth(backend: Backend) -> f64 {
    let buffer = vec![1.0f64; 32 << 20];
    best_rate(5, || backend.run::<f64, _>(Read { buffer: &buffer }))
}

/// The highest rate over several runs, in units per nanosecond, where each run returns its number
/// of units.
fn best_rate(runs: usize, mut run: impl FnMut() -> f64) -> f64 {
    let mut best = 0.0f64;
    for _ in 0..runs {
        let start = Instant::now();
        let units = run();
        best = best.max(units / start.elapsed().as_secs_f64() * 1e-9);
    }
    best
}

struct MultiplyAdds<T> {
    rounds: usize,
    entry: T,
}

impl<T: Real> Task<T> for MultiplyAdds<T> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> f64 {
        let half = simd.splat(black_box(self.entry) / (T::ONE + T::ONE));
        let mut sums = [half; ACCUMULATORS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = simd.mul_add(*sum, half, half);
            }
        }
        let mut total = sums[0];
        for &sum in &sums[1..] {
            total = simd.add(total, sum);
        }
        black_box(simd.sum_each([total; 4]));
        (2 * self.rounds * ACCUMULATORS * S::LANES) as f64
    }
}

struct Read<'a> {
    buffer: &'a [f64],
}

impl Task<f64> for Read<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> f64 {
        const WIDTH: usize = 8;
        let mut sums = [simd.splat(0.0); WIDTH];
        for chunk in self.buffer.chunks_exact(WIDTH * S::LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the chunk holds `WIDTH` vectors.
                let v = unsafe { simd.load(chunk.as_ptr().add(i * S::LANES)) };
                *sum = simd.add(*sum, v);
            }
        }
        black_box(simd.sum_each([sums[0], sums[1], sums[2], sums[3]]));
        black_box(simd.sum_each([sums[4], sums[5], sums[6], sums[7]]));
        size_of_val(self.buffer) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive() {
        assert!(multiply_add_gflops::<f32>(Backend::detect()) > 0.0);
        assert!(multiply_add_gflops::<f64>(Backend::detect()) > 0.0);
        assert!(read_bandwidth(Backend::detect()) > 0.0);
    }
}
