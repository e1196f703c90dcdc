//! Cholesky, eigenpairs and Lanczos are compared with each other and with their definitions.

use quadfill_kernels::cholesky::{draw_lanes, factor, solve_factored, solve_lanes};
use quadfill_kernels::dense::symmetric_eigen;
use quadfill_kernels::lanczos::largest;
use quadfill_kernels::streams::{fill_normal, stream};
use quadfill_kernels::sum::{dot, norm2};
use quadfill_kernels::{Backend, Isa};

fn normal(len: usize, block: u64) -> Vec<f64> {
    let mut draws = vec![0.0; len];
    fill_normal(&mut draws, &mut stream(99, 0, block));
    draws
}

/// The full matrix `G G^T + ridge I`.
fn definite(n: usize, ridge: f64, block: u64) -> Vec<f64> {
    let g = normal(n * n, block);
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = dot(&g[i * n..][..n], &g[j * n..][..n]);
        }
        a[i * n + i] += ridge;
    }
    a
}

fn times(a: &[f64], n: usize, x: &[f64]) -> Vec<f64> {
    a.chunks_exact(n).map(|row| dot(row, x)).collect()
}

/// The matrix with the right-hand side as an additional row, and NaN in entries that must not be
/// read.
fn bordered(a: &[f64], n: usize, rhs: &[f64]) -> Vec<f64> {
    let order = n + 1;
    let mut block = vec![f64::NAN; order * order];
    for i in 0..n {
        block[i * order..=i * order + i].copy_from_slice(&a[i * n..=i * n + i]);
    }
    block[n * order..][..n].copy_from_slice(rhs);
    block
}

#[test]
fn a_factored_matrix_solves_its_system() {
    for n in [1, 2, 3, 4, 5, 8, 13, 31, 64, 101] {
        let (a, x) = (definite(n, 1.0, n as u64), normal(n, 1000));
        let mut b = times(&a, n, &x);
        let ld = n + 3;
        let mut padded = vec![f64::NAN; n * ld];
        for i in 0..n {
            padded[i * ld..=i * ld + i].copy_from_slice(&a[i * n..=i * n + i]);
        }
        assert!(factor(&mut padded, n, ld));
        for i in 0..n {
            for j in 0..=i {
                let product = dot(&padded[i * ld..=i * ld + j], &padded[j * ld..=j * ld + j]);
                assert!((product - a[i * n + j]).abs() < 1e-12 * (n as f64 + a[i * n + i]));
            }
        }
        solve_factored(&padded, n, ld, &mut b);
        for (got, expected) in b.iter().zip(&x) {
            assert!((got - expected).abs() < 1e-7, "order {n}");
        }
    }
}

#[test]
fn indefinite_and_singular_matrices_are_rejected() {
    let mut a = definite(12, 1.0, 5);
    a[7 * 12 + 7] = -1.0;
    assert!(!factor(&mut a, 12, 12));
    assert!(!factor(&mut [1.0, 0.0, 1.0, 1.0], 2, 2));
    assert!(!factor(&mut [f64::NAN], 1, 1));
    assert!(!factor(&mut [0.0], 1, 1));
    assert!(factor(&mut [], 0, 0));
}

#[test]
fn eight_systems_agree_with_one_at_a_time() {
    for isa in Isa::available() {
        for n in (1..=52).chain([63, 64, 65, 100]) {
            let systems: Vec<_> =
                (0..8).map(|l| (definite(n, 0.5, l + 1), normal(n, l + 500))).collect();
            for count in [1, 3, 8] {
                let mut blocks = Vec::new();
                for (a, rhs) in &systems {
                    blocks.extend(bordered(a, n, rhs));
                }
                let mut out = vec![f64::NAN; 8 * n];
                let failed = solve_lanes(Backend::new(isa), n, &mut blocks, count, &mut out);
                assert_eq!(failed, 0);
                for (l, (a, rhs)) in systems.iter().enumerate() {
                    let got = &out[l * n..][..n];
                    if l >= count {
                        assert!(got.iter().all(|&x| x == 0.0));
                        continue;
                    }
                    let (mut a, mut x) = (a.clone(), rhs.clone());
                    assert!(factor(&mut a, n, n));
                    solve_factored(&a, n, n, &mut x);
                    for (got, expected) in got.iter().zip(&x) {
                        let close = 1e-9 * (1.0 + norm2(&x));
                        assert!((got - expected).abs() < close, "{isa} {n} {l}");
                    }
                }
            }
        }
    }
}

#[test]
fn noise_goes_through_the_transposed_factor_only() {
    for isa in Isa::available() {
        for n in [1, 2, 5, 11, 21, 40] {
            let (a, rhs, noise) = (definite(n, 0.5, 7), normal(n, 8), normal(8 * n, 9));
            let mut blocks: Vec<f64> = (0..8).flat_map(|_| bordered(&a, n, &rhs)).collect();
            let mut out = vec![f64::NAN; 8 * n];
            assert_eq!(draw_lanes(Backend::new(isa), n, &mut blocks, 8, &noise, &mut out), 0);
            let (mut a, mut x) = (a.clone(), rhs.clone());
            assert!(factor(&mut a, n, n));
            solve_factored(&a, n, n, &mut x);
            for (out, noise) in out.chunks(n).zip(noise.chunks(n)) {
                // The transposed factor times the contribution of the noise is the noise.
                for i in 0..n {
                    let back: f64 = (i..n).map(|k| a[k * n + i] * (out[k] - x[k])).sum();
                    assert!((back - noise[i]).abs() < 1e-8, "{isa} {n}");
                }
            }
        }
    }
}

#[test]
fn noise_goes_through_the_reversed_factor_in_large_systems() {
    for isa in Isa::available() {
        for n in [45, 46, 64] {
            let (a, rhs, noise) = (definite(n, 0.5, 7), normal(n, 8), normal(8 * n, 9));
            let mut blocks: Vec<f64> = (0..8).flat_map(|_| bordered(&a, n, &rhs)).collect();
            let mut out = vec![f64::NAN; 8 * n];
            assert_eq!(draw_lanes(Backend::new(isa), n, &mut blocks, 8, &noise, &mut out), 0);
            let (mut factored, mut x) = (a.clone(), rhs.clone());
            assert!(factor(&mut factored, n, n));
            solve_factored(&factored, n, n, &mut x);
            // The same matrix with its rows and columns in reverse order.
            let mut reversed: Vec<f64> = a.iter().rev().copied().collect();
            for i in 0..n {
                for j in 0..i {
                    reversed[i * n + j] = reversed[j * n + i];
                }
            }
            assert!(factor(&mut reversed, n, n));
            for (out, noise) in out.chunks(n).zip(noise.chunks(n)) {
                // The factor, in the original order, times the contribution of the noise is the
                // noise.
                for i in 0..n {
                    let entry = |j: usize| reversed[(n - 1 - j) * n + (n - 1 - i)];
                    let back: f64 = (0..=i).map(|j| entry(j) * (out[j] - x[j])).sum();
                    assert!((back - noise[i]).abs() < 1e-8, "{isa} {n}");
                }
            }
        }
    }
}

#[test]
fn a_lane_depends_neither_on_its_position_nor_on_its_neighbours() {
    for n in [11, 50] {
        check_independent_lanes(n);
    }
}

fn check_independent_lanes(n: usize) {
    let (a, rhs) = (definite(n, 0.1, 77), normal(n, 78));
    let mut indefinite = definite(n, 0.1, 79);
    indefinite[5 * n + 5] = -3.0;
    for isa in Isa::available() {
        let mut expected: Option<Vec<u64>> = None;
        for position in 0..8 {
            for neighbour in [&definite(n, 2.0, 80), &indefinite, &vec![f64::NAN; n * n]] {
                let mut blocks = Vec::new();
                for l in 0..8 {
                    blocks.extend(bordered(if l == position { &a } else { neighbour }, n, &rhs));
                }
                let mut out = vec![0.0; 8 * n];
                let failed = solve_lanes(Backend::new(isa), n, &mut blocks, 8, &mut out);
                let is_definite = neighbour[5 * n + 5] > 0.0;
                assert_eq!(failed, if is_definite { 0 } else { !(1 << position) });
                for (l, x) in out.chunks(n).enumerate() {
                    assert!(is_definite || l == position || x.iter().all(|&x| x == 0.0));
                }
                let bits: Vec<_> = out[position * n..][..n].iter().map(|x| x.to_bits()).collect();
                assert_eq!(expected.get_or_insert_with(|| bits.clone()), &bits);
            }
        }
    }
}

#[test]
fn eigenpairs_are_those_of_the_lower_triangle() {
    for n in [1, 2, 7, 40] {
        let mut a = definite(n, 0.0, 3);
        for i in 0..n {
            a[i * n + i] -= n as f64;
        }
        let mut lower = a.clone();
        for i in 0..n {
            lower[i * n + i + 1..][..n - i - 1].fill(123.0);
        }
        let eigen = symmetric_eigen(&lower, n).expect("finite");
        assert!(eigen.values.is_sorted());
        for i in 0..n {
            let (x, image) = (eigen.vector(i), times(&a, n, eigen.vector(i)));
            for (x, y) in x.iter().zip(&image) {
                assert!((y - eigen.values[i] * x).abs() < 1e-10);
            }
            for j in 0..n {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(x, eigen.vector(j)) - expected).abs() < 1e-12);
            }
        }
    }
    assert_eq!(symmetric_eigen(&[f64::NAN], 1), None);
    assert_eq!(symmetric_eigen(&[], 0).map(|e| e.values.len()), Some(0));
}

#[test]
fn lanczos_finds_the_largest_eigenpairs_of_a_dense_matrix() {
    let n = 120;
    let mut a = definite(n, 0.0, 8);
    for i in 0..n {
        a[i * n + i] -= 150.0; // both signs, the largest in size negative
    }
    let eigen = symmetric_eigen(&a, n).expect("finite");
    let found = largest(n, 5, n, 4, |x, y| y.copy_from_slice(&times(&a, n, x)));
    for i in 0..5 {
        assert!((found.values[i] - eigen.values[n - 1 - i]).abs() < 1e-6);
        assert!(found.residuals[i] < 1e-5);
        let overlap = dot(&found.vectors[i], eigen.vector(n - 1 - i)).abs();
        assert!((overlap - 1.0).abs() < 1e-6);
    }
    let again = largest(n, 5, n, 4, |x, y| y.copy_from_slice(&times(&a, n, x)));
    assert_eq!(found, again);
}

#[test]
fn lanczos_bounds_its_error_when_stopped_early() {
    let n = 400;
    let apply = |x: &[f64], y: &mut [f64]| {
        for i in 0..n {
            y[i] = x[i] * i as f64;
        }
    };
    let found = largest(n, 2, 12, 4, apply);
    for (value, residual) in found.values.iter().zip(&found.residuals) {
        assert!(*residual > 1e-3);
        let nearest = (value - value.round()).abs();
        assert!(nearest <= *residual);
    }
}

#[test]
fn lanczos_survives_invariant_subspaces() {
    // Three eigenvalues of high multiplicity: every Krylov space has at most three dimensions.
    let n = 30;
    let apply = |x: &[f64], y: &mut [f64]| {
        for i in 0..n {
            y[i] = x[i] * [3.0, -1.0, 7.0][i % 3];
        }
    };
    let found = largest(n, 12, n, 1, apply);
    for i in 0..12 {
        let expected = if i < 10 { 7.0 } else { 3.0 };
        assert!((found.values[i] - expected).abs() < 1e-9);
        assert!(found.residuals[i] < 1e-9);
    }
    let zero = largest(4, 2, 10, 1, |_, y| y.fill(0.0));
    assert_eq!(zero.values, [0.0, 0.0]);
    assert!(largest(0, 3, 10, 1, |_, _| ()).values.is_empty());
}
