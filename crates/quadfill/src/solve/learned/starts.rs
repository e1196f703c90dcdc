//! The kernels that the search begins with.

use crate::model::Kernel;

/// The maximum number of kernels that are tried.
const MOST: usize = 8;

/// Pairwise kernels with every pattern of signs that is distinct up to scaling, up to a maximum number.
///
/// Rows of mode `a` that are `s_a` times as long turn `K[a][b]` into `K[a][b] / (s_a s_b)`. So the signs
/// of the first row can be made positive, and with three modes only the sign of one entry is left: one of
/// two kernels is right, and the sizes of its entries are scales of the factors. With more modes the
/// sizes have to be learned too.
pub(super) fn sign_patterns(modes: usize) -> Vec<Kernel> {
    let pairwise = Kernel::pairwise(modes);
    let free: Vec<(usize, usize)> =
        pairwise.distinct_entries().into_iter().filter(|&(a, b)| a > 0 && a < b).collect();
    let patterns = 1usize << free.len().min(usize::BITS as usize - 1);
    let kernel = |pattern: usize| {
        let number = |i: usize| if pattern >> i & 1 == 1 { -0.5 } else { 0.5 };
        let numbers: Vec<f64> = (0..free.len()).map(number).collect();
        pairwise.with_entries(&free, &numbers)
    };
    // All positive and all negative first: then the others in order.
    let mut order: Vec<usize> = vec![0, patterns - 1];
    order.extend((1..patterns.saturating_sub(1)).take(MOST - 2));
    order.dedup();
    order.into_iter().map(kernel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_are_all_there_are_up_to_scales() {
        assert_eq!(sign_patterns(2), [Kernel::pairwise(2)]);
        let three = sign_patterns(3);
        assert_eq!(three.len(), 2);
        assert_eq!((three[0].get(1, 2), three[1].get(1, 2)), (0.5, -0.5));
        let four = sign_patterns(4);
        assert_eq!(four.len(), 8);
        assert!(four.iter().enumerate().all(|(i, kernel)| !four[..i].contains(kernel)));
        assert_eq!(sign_patterns(8).len(), 8);
    }
}
