//! The kernels on cells against their definitions, for each instruction set and precision.

mod common;

use common::{FormShape, Problem, Shape, assert_close, shapes};
use proptest::prelude::*;
use quadfill_kernels::{AlignedVec, Form, Isa, Kernels, ModeContext, Real, RowCells, Workspace};

/// Runs every kernel on the problem and compares each number with its definition.
fn check<T: Real>(shape: &Shape) {
    let problem = Problem::<T>::new(shape);
    let cells: Vec<_> = (0..shape.cells).map(|k| problem.cell(k)).collect();
    for isa in Isa::available() {
        let kernels = Kernels::new(isa);
        let mut ws = Workspace::new(shape.rank, shape.biases);
        check_residuals(&problem, &cells, kernels, &mut ws);
        check_normal_equations(&problem, &cells, kernels, &mut ws);
        check_gradient(&problem, &cells, kernels, &mut ws);
        check_directional(&problem, &cells, kernels, &mut ws);
    }
}

fn check_residuals<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    kernels: Kernels,
    ws: &mut Workspace<T>,
) {
    let mut residuals = vec![T::ZERO; cells.len()];
    let squares = problem.with(|ctx, row, _| {
        kernels.residuals(ctx, row, ws, &mut residuals);
        kernels.squared_residuals(ctx, row, ws)
    });
    let (mut sum, mut size) = (0.0, 0.0);
    for (got, cell) in residuals.iter().zip(cells) {
        assert_close::<T>(got.to_f64(), cell.residual, cell.size, "residual");
        sum += cell.weight * cell.residual * cell.residual;
        size += cell.weight * cell.size * cell.size;
    }
    assert_close::<T>(squares, sum, size, "squared residuals");
}

fn check_normal_equations<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    kernels: Kernels,
    ws: &mut Workspace<T>,
) {
    let order = problem.cols() + 1;
    let mut out = vec![2.5; order * order];
    problem.with(|ctx, row, _| kernels.normal_equations(ctx, row, ws, &mut out));
    let entry = |cell: &common::Cell, i: usize| {
        if i + 1 < order {
            (cell.slope[i], bound(problem, cell.slope[i]))
        } else {
            (cell.residual, cell.size)
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

/// What a slope's rounding error is relative to: slopes are sums of a few numbers of order one,
/// or products of them.
fn bound<T: Real>(problem: &Problem<T>, slope: f64) -> f64 {
    if problem.shape.form == FormShape::Product { slope.abs() } else { slope.abs() + 20.0 }
}

fn check_gradient<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    kernels: Kernels,
    ws: &mut Workspace<T>,
) {
    let mut out = vec![-1.5; problem.cols()];
    let squares = problem.with(|ctx, row, _| kernels.gradient(ctx, row, ws, &mut out));
    let again = problem.with(|ctx, row, _| kernels.squared_residuals(ctx, row, ws));
    assert_eq!(squares.to_bits(), again.to_bits());
    for j in 0..problem.cols() {
        let (mut sum, mut size) = (-1.5, 1.5);
        for cell in cells {
            sum += cell.weight * cell.residual * cell.slope[j];
            size += cell.weight * cell.size * bound(problem, cell.slope[j]);
        }
        assert_close::<T>(out[j], sum, size, "gradient");
    }
}

fn check_directional<T: Real>(
    problem: &Problem<T>,
    cells: &[common::Cell],
    kernels: Kernels,
    ws: &mut Workspace<T>,
) {
    for second_order in [false, true] {
        let mut out = vec![0.5; problem.cols()];
        problem.with(|ctx, row, dir| {
            kernels.directional(ctx, row, dir, ws, &mut out, second_order);
        });
        for j in 0..problem.cols() {
            let (mut sum, mut size) = (0.5, 0.5);
            for cell in cells {
                let turn = if second_order { cell.turn[j] } else { 0.0 };
                sum += cell.weight * (cell.tangent * cell.slope[j] - cell.residual * turn);
                // The tangent is a sum of as many terms of about the size of the residual's.
                let tangent = cell.tangent.abs() + 10.0 * cell.size + 100.0;
                size += cell.weight
                    * (tangent * bound(problem, cell.slope[j])
                        + cell.size * (bound(problem, turn) + 10.0));
            }
            assert_close::<T>(out[j], sum, size, "directional");
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

fn bits<T: Real>(shape: &Shape, kernels: Kernels, ws: &mut Workspace<T>, shift: usize) -> Vec<u64> {
    // Copies of everything that is read, begun `shift` entries into a buffer.
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
        kernels.normal_equations(&ctx, &row, ws, &mut out);
        kernels.residuals(&ctx, &row, ws, &mut residuals);
    });
    let residuals = residuals.iter().map(|r| r.to_f64().to_bits());
    out.iter().map(|x| x.to_bits()).chain(residuals).collect()
}

#[test]
fn bits_depend_neither_on_alignment_nor_on_what_the_workspace_did_before() {
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
        let kernels = Kernels::new(isa);
        let fresh = bits::<f32>(&shape, kernels, &mut Workspace::new(13, true), 0);
        let mut ws = Workspace::new(13, true);
        for shift in [1, 3, 7] {
            bits::<f32>(&longer, kernels, &mut ws, shift);
            assert_eq!(bits::<f32>(&shape, kernels, &mut ws, shift), fresh);
        }
        // A workspace may also go from one instruction set to another.
        bits::<f32>(&shape, Kernels::new(Isa::Plain), &mut ws, 0);
        assert_eq!(bits::<f32>(&shape, kernels, &mut ws, 0), fresh);
    }
}

#[test]
fn a_residual_does_not_depend_on_its_place_among_the_cells() {
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
        let kernels = Kernels::new(isa);
        let mut ws = Workspace::new(10, false);
        let mut all = vec![0.0; 131];
        problem.with(|ctx, row, _| {
            kernels.residuals(ctx, row, &mut ws, &mut all);
            for k in 0..131 {
                let one = RowCells {
                    others: &row.others[2 * k..2 * k + 2],
                    values: &row.values[k..=k],
                    ..*row
                };
                let mut alone = [0.0];
                kernels.residuals(ctx, &one, &mut ws, &mut alone);
                assert_eq!(alone[0].to_bits(), all[k].to_bits());
            }
        });
    }
}

#[test]
#[should_panic(expected = "a cell picks a row that is not there")]
fn a_row_that_is_not_there_panics() {
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
    Kernels::detect().squared_residuals(&ctx, &row, &mut Workspace::new(3, false));
}
