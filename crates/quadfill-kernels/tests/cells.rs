//! The kernels on cells are compared with their definitions, for each instruction set and
//! precision.

mod common;

use common::{FormShape, Problem, Shape, assert_close, shapes};
use proptest::prelude::*;
use quadfill_kernels::{AlignedVec, Backend, Form, Isa, ModeContext, Real, RowCells, Workspace};

/// Runs every kernel on the problem and compares each result with its definition.
fn check<T: Real>(shape: &Shape) {
    let problem = Problem::<T>::new(shape);
    let cells: Vec<_> = (0..shape.cells).map(|k| problem.cell(k)).collect();
    for isa in Isa::available() {
        let backend = Backend::new(isa);
        let mut ws = Workspace::new(shape.rank, shape.biases);
        check_residuals(&problem, &cells, backend, &mut ws);
        check_normal_equations(&problem, &cells, backend, &mut ws);
        check_gradient(&problem, &cells, backend, &mut ws);
        check_hessian_vec(&problem, &cells, backend, &mut ws);
    }
}

fn check_residuals<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    backend: Backend,
    ws: &mut Workspace<T>,
) {
    let mut residuals = vec![T::ZERO; cells.len()];
    let squares = problem.with(|ctx, row, _| {
        backend.residuals(ctx, row, ws, &mut residuals);
        backend.squared_residuals(ctx, row, ws)
    });
    let (mut sum, mut size) = (0.0, 0.0);
    for (got, cell) in residuals.iter().zip(cells) {
        assert_close::<T>(got.to_f64(), cell.residual, cell.magnitude, "residual");
        sum += cell.weight * cell.residual * cell.residual;
        size += cell.weight * cell.magnitude * cell.magnitude;
    }
    assert_close::<T>(squares, sum, size, "squared residuals");
}

fn check_normal_equations<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    backend: Backend,
    ws: &mut Workspace<T>,
) {
    let order = problem.cols() + 1;
    let mut out = vec![2.5; order * order];
    problem.with(|ctx, row, _| backend.normal_equations(ctx, row, ws, &mut out));
    let entry = |cell: &common::Cell, i: usize| {
        if i + 1 < order {
            (cell.jacobian[i], bound(problem, cell.jacobian[i]))
        } else {
            (cell.residual, cell.magnitude)
        }
    };
    for i in 0..order {
        for j in 0..order {
            let (mut sum, mut size) = (2.5, 2.5);
            if j <= i {
                for cell in cells {
                    let ((a, a_size), (b, b_size)) = (entry(cell, i), entry(cell, j));
                    sum += cell.weight * a * b;
                    size += cell.weight * a_size * b_size;
                }
            }
            assert_close::<T>(out[i * order + j], sum, size, "normal equations");
        }
    }
}

/// The magnitude that the rounding error of a Jacobian entry is relative to: entries are sums or
/// products of a few numbers of order one.
fn bound<T: Real>(problem: &Problem<T>, jacobian: f64) -> f64 {
    if problem.shape.form == FormShape::Product { jacobian.abs() } else { jacobian.abs() + 20.0 }
}

fn check_gradient<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    backend: Backend,
    ws: &mut Workspace<T>,
) {
    let mut out = vec![-1.5; problem.cols()];
    let squares = problem.with(|ctx, row, _| backend.gradient(ctx, row, ws, &mut out));
    let again = problem.with(|ctx, row, _| backend.squared_residuals(ctx, row, ws));
    assert_eq!(squares.to_bits(), again.to_bits());
    for j in 0..problem.cols() {
        let (mut sum, mut size) = (-1.5, 1.5);
        for cell in cells {
            sum += cell.weight * cell.residual * cell.jacobian[j];
            size += cell.weight * cell.magnitude * bound(problem, cell.jacobian[j]);
        }
        assert_close::<T>(out[j], sum, size, "gradient");
    }
}

fn check_hessian_vec<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    backend: Backend,
    ws: &mut Workspace<T>,
) {
    for second_order in [false, true] {
        let mut out = vec![0.5; problem.cols()];
        problem.with(|ctx, row, dir| {
            backend.hessian_vec(ctx, row, dir, ws, &mut out, second_order);
        });
        for j in 0..problem.cols() {
            let (mut sum, mut size) = (0.5, 0.5);
            for cell in cells {
                let jacobian_derivative =
                    if second_order { cell.jacobian_derivative[j] } else { 0.0 };
                sum += cell.weight
                    * (cell.tangent * cell.jacobian[j] - cell.residual * jacobian_derivative);
                // The tangent is a sum of as many terms as the residual, of about the same
                // magnitude.
                let tangent = cell.tangent.abs() + 10.0 * cell.magnitude + 100.0;
                size += cell.weight
                    * (tangent * bound(problem, cell.jacobian[j])
                        + cell.magnitude * (bound(problem, jacobian_derivative) + 10.0));
            }
            assert_close::<T>(out[j], sum, size, "Hessian-vector product");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn agree_with_the_definitions_in_double_precision(shape in shapes()) {
        check::<f64>(&shape);
    }

    #[test]
    fn agree_with_the_definitions_in_single_precision(shape in shapes()) {
        check::<f32>(&shape);
    }
}

#[test]
fn agree_with_the_definitions_at_high_rank() {
    for rank in [63, 64, 65, 130] {
        for (form, biases) in [(FormShape::Pairwise, true), (FormShape::Product, false)] {
            let shape =
                Shape { others: 2, rank, cells: 300, weights: biases, biases, form, seed: 5 };
            check::<f32>(&shape);
            check::<f64>(&shape);
        }
    }
}

#[test]
fn agree_with_the_definitions_for_every_rank_that_fits_a_vector() {
    for rank in 1..=17 {
        for (form, biases) in [(FormShape::Pairwise, false), (FormShape::Indefinite, true)] {
            let shape =
                Shape { others: 2, rank, cells: 299, weights: biases, biases, form, seed: 9 };
            check::<f32>(&shape);
            check::<f64>(&shape);
        }
    }
}

#[test]
fn cells_that_are_read_next_change_nothing() {
    let shape = Shape {
        others: 2,
        rank: 10,
        cells: 150,
        weights: false,
        biases: false,
        form: FormShape::Pairwise,
        seed: 4,
    };
    let problem = Problem::<f32>::new(&shape);
    for isa in Isa::available() {
        let mut ws = Workspace::new(10, false);
        problem.with(|ctx, row, _| {
            let mut equations = |known: usize| {
                let mut out = [0.0; 121];
                let row = RowCells {
                    values: &row.values[..70],
                    others: &row.others[..2 * known],
                    ..*row
                };
                Backend::new(isa).normal_equations(ctx, &row, &mut ws, &mut out);
                out
            };
            assert_eq!(equations(70), equations(150));
        });
    }
}

fn bits<T: Real>(shape: &Shape, backend: Backend, ws: &mut Workspace<T>, shift: usize) -> Vec<u64> {
    // Copies of all inputs, each at an offset of `shift` entries into a buffer.
    let problem = Problem::<T>::new(shape);
    let moved = |entries: &[T]| {
        let mut buffer = AlignedVec::zeros(entries.len() + shift);
        buffer[shift..].copy_from_slice(entries);
        buffer
    };
    let order = problem.cols() + 1;
    let mut out = vec![0.0; order * order];
    let mut residuals = vec![T::ZERO; shape.cells];
    problem.with(|ctx, row, _| {
        let factors: Vec<_> = ctx.factors.iter().map(|f| moved(f)).collect();
        let factors: Vec<_> = factors.iter().map(|f| &f[shift..]).collect();
        let (own, values) = (moved(row.own), moved(row.values));
        let ctx = ModeContext { factors: &factors, ..*ctx };
        let row = RowCells { own: &own[shift..], values: &values[shift..], ..*row };
        backend.normal_equations(&ctx, &row, ws, &mut out);
        backend.residuals(&ctx, &row, ws, &mut residuals);
    });
    let residuals = residuals.iter().map(|r| r.to_f64().to_bits());
    out.iter().map(|x| x.to_bits()).chain(residuals).collect()
}

#[test]
fn results_are_bit_identical_for_any_alignment_and_reused_workspace() {
    let shape = Shape {
        others: 3,
        rank: 13,
        cells: 211,
        weights: true,
        biases: true,
        form: FormShape::Indefinite,
        seed: 11,
    };
    let longer = Shape { cells: 290, seed: 12, ..shape.clone() };
    for isa in Isa::available() {
        let backend = Backend::new(isa);
        let fresh = bits::<f32>(&shape, backend, &mut Workspace::new(13, true), 0);
        let mut ws = Workspace::new(13, true);
        for shift in [1, 3, 7] {
            bits::<f32>(&longer, backend, &mut ws, shift);
            assert_eq!(bits::<f32>(&shape, backend, &mut ws, shift), fresh);
        }
        // A workspace may also be reused with another instruction set.
        bits::<f32>(&shape, Backend::new(Isa::Plain), &mut ws, 0);
        assert_eq!(bits::<f32>(&shape, backend, &mut ws, 0), fresh);
    }
}

#[test]
fn a_residual_does_not_depend_on_its_position_among_the_cells() {
    let shape = Shape {
        others: 2,
        rank: 10,
        cells: 131,
        weights: false,
        biases: false,
        form: FormShape::Pairwise,
        seed: 3,
    };
    let problem = Problem::<f32>::new(&shape);
    for isa in Isa::available() {
        let backend = Backend::new(isa);
        let mut ws = Workspace::new(10, false);
        let mut all = vec![0.0; 131];
        problem.with(|ctx, row, _| {
            backend.residuals(ctx, row, &mut ws, &mut all);
            for k in 0..131 {
                let one = RowCells {
                    others: &row.others[2 * k..2 * k + 2],
                    values: &row.values[k..=k],
                    ..*row
                };
                let mut alone = [0.0];
                backend.residuals(ctx, &one, &mut ws, &mut alone);
                assert_eq!(alone[0].to_bits(), all[k].to_bits());
            }
        });
    }
}

#[test]
#[should_panic(expected = "a cell picks a row that does not exist")]
fn a_row_that_does_not_exist_panics() {
    let factor = AlignedVec::<f32>::zeros(32);
    let own = AlignedVec::<f32>::zeros(16);
    let ctx = ModeContext {
        form: Form::Product,
        rank: 3,
        stride: 16,
        factors: &[&factor],
        biases: None,
        mean: 0.0,
    };
    let row =
        RowCells { own: &own, own_bias: 0.0, others: &[0, 2], values: &[1.0, 1.0], weights: None };
    Backend::detect().squared_residuals(&ctx, &row, &mut Workspace::new(3, false));
}
