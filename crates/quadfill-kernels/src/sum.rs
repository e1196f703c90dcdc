//! Sums in a fixed order, so that results are bit-identical for the same terms.

use crate::real::Real;

/// Up to this many terms are summed in independent lanes; longer sums are split in half.
const LEAF: usize = 256;
const LANES: usize = 8;

/// Pairwise summation in an order that depends only on the length. The rounding error grows with
/// the logarithm of the length.
///
/// ```
/// let tenths = vec![0.1; 1_000_000];
/// assert!((quadfill_kernels::sum::ordered_sum(&tenths) - 1e5).abs() < 1e-9);
/// ```
pub fn ordered_sum(terms: &[f64]) -> f64 {
    pairwise(terms.len(), &|from, to| {
        let (chunks, rest) = terms[from..to].as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for chunk in chunks {
            for l in 0..LANES {
                lanes[l] += chunk[l];
            }
        }
        for l in 0..rest.len() {
            lanes[l] += rest[l];
        }
        sum_lanes(lanes)
    })
}

/// The inner product in double precision, summed in the order of [`ordered_sum`].
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(a: &[T], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "the lengths differ");
    pairwise(a.len(), &|from, to| {
        let (a, a_rest) = a[from..to].as_chunks::<LANES>();
        let (b, b_rest) = b[from..to].as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for (a, b) in a.iter().zip(b) {
            for l in 0..LANES {
                lanes[l] += a[l].to_f64() * b[l];
            }
        }
        for l in 0..a_rest.len() {
            lanes[l] += a_rest[l].to_f64() * b_rest[l];
        }
        sum_lanes(lanes)
    })
}

/// The Euclidean norm.
pub fn norm2(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn sum_lanes(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

fn pairwise(len: usize, leaf: &impl Fn(usize, usize) -> f64) -> f64 {
    fn recurse(from: usize, to: usize, leaf: &impl Fn(usize, usize) -> f64) -> f64 {
        if to - from <= LEAF {
            return leaf(from, to);
        }
        let middle = from + (to - from).div_ceil(2).next_multiple_of(LEAF);
        if middle >= to {
            let middle = from + LEAF;
            return leaf(from, middle) + recurse(middle, to, leaf);
        }
        recurse(from, middle, leaf) + recurse(middle, to, leaf)
    }
    recurse(0, len, leaf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_exact_sums_of_integers() {
        for len in [0, 1, 7, 8, 9, 255, 256, 257, 511, 513, 1000, 5000, 65537] {
            let terms: Vec<f64> = (0..len).map(|i| f64::from(i % 1000) - 300.0).collect();
            assert_eq!(ordered_sum(&terms), terms.iter().sum::<f64>());
            let products: Vec<f64> = terms.iter().map(|x| x * (x + 1.0)).collect();
            let next: Vec<f64> = terms.iter().map(|x| x + 1.0).collect();
            assert_eq!(dot(&terms, &next), products.iter().sum::<f64>());
        }
        assert_eq!(norm2(&[3.0, 4.0]), 5.0);
    }
}
