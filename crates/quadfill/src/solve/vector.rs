//! Inner products over flat parameter vectors, in double precision and in order.

use quadfill_kernels::{Real, sum};

const BLOCK: usize = 4096;

pub(crate) fn dot<T: Real>(x: &[T], y: &[T]) -> f64 {
    let blocks: Vec<f64> = x
        .chunks(BLOCK)
        .zip(y.chunks(BLOCK))
        .map(|(x, y)| x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum())
        .collect();
    sum::ordered_sum(&blocks)
}

pub(crate) fn norm<T: Real>(x: &[T]) -> f64 {
    dot(x, x).sqrt()
}

/// `y += a x`.
pub(crate) fn add_scaled<T: Real>(y: &mut [T], a: f64, x: &[T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = T::from_f64(y.to_f64() + a * x.to_f64());
    }
}
