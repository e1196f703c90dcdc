//! Random cells and a straightforward reference implementation of the kernels.

use proptest::prelude::*;
use quadfill_kernels::cells::{Direction, Form, ModeContext, RowCells};
use quadfill_kernels::streams::{fill_normal, stream};
use quadfill_kernels::{AlignedVec, Real};

/// The shape of a problem; its numbers are determined by `seed`.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) others: usize,
    pub(crate) rank: usize,
    pub(crate) cells: usize,
    pub(crate) weights: bool,
    pub(crate) biases: bool,
    pub(crate) form: FormShape,
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FormShape {
    Product,
    /// Weight one for every pair of different rows.
    Pairwise,
    /// A random weight for every pair of different rows.
    Pairs,
    Indefinite,
}

pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    let form = prop_oneof![
        Just(FormShape::Product),
        Just(FormShape::Pairwise),
        Just(FormShape::Pairs),
        Just(FormShape::Indefinite)
    ];
    (1usize..=7, 1usize..=70, 0usize..=300, any::<[bool; 2]>(), form, any::<u64>()).prop_map(
        |(others, rank, cells, [weights, biases], form, seed)| Shape {
            others,
            rank,
            cells,
            weights,
            biases,
            form,
            seed,
        },
    )
}

/// The current row and the factors of the other modes. Also used for directions.
pub(crate) struct Rows<T: Real> {
    pub(crate) own: AlignedVec<T>,
    pub(crate) own_bias: T,
    pub(crate) factors: Vec<AlignedVec<T>>,
    pub(crate) biases: Vec<Vec<T>>,
}

pub(crate) struct Problem<T: Real> {
    pub(crate) shape: Shape,
    pub(crate) stride: usize,
    pub(crate) own_weight: T,
    pub(crate) cross: Vec<T>,
    pub(crate) among: Vec<T>,
    pub(crate) mean: T,
    pub(crate) point: Rows<T>,
    pub(crate) direction: Rows<T>,
    pub(crate) picks: Vec<u32>,
    pub(crate) values: Vec<T>,
    pub(crate) weights: Vec<T>,
}

const ROWS: [usize; 7] = [5, 3, 11, 2, 1, 4, 6];

impl<T: Real> Problem<T> {
    pub(crate) fn new(shape: &Shape) -> Self {
        let mut block = 0;
        // Rounded to `T`, so that the reference uses the same numbers.
        let mut draw = |len: usize| -> Vec<T> {
            let mut draws = vec![0.0; len];
            fill_normal(&mut draws, &mut stream(shape.seed, 1, block));
            block += 1;
            draws.into_iter().map(T::from_f64).collect()
        };
        let stride = shape.rank.next_multiple_of(T::LINE);
        let mut rows = || {
            let mut padded = |count: usize| {
                let mut matrix = AlignedVec::zeros(count * stride);
                let entries = draw(count * shape.rank);
                for (row, entries) in matrix.chunks_mut(stride).zip(entries.chunks(shape.rank)) {
                    row[..shape.rank].copy_from_slice(entries);
                }
                matrix
            };
            let own = padded(1);
            let factors = ROWS[..shape.others].iter().map(|&n| padded(n)).collect();
            let mut biases: Vec<_> = ROWS[..shape.others].iter().map(|&n| draw(n)).collect();
            let mut own_bias = draw(1)[0];
            if !shape.biases {
                biases.clear();
                own_bias = T::ZERO;
            }
            Rows { own, own_bias, factors, biases }
        };
        let (point, direction) = (rows(), rows());
        let o = shape.others;
        let mut own_weight = draw(1)[0];
        let mut cross = draw(o);
        let raw = draw(o * o);
        let mut among: Vec<T> = (0..o * o).map(|i| raw[i] + raw[i % o * o + i / o]).collect();
        if shape.form == FormShape::Pairwise {
            cross.fill(T::from_f64(0.5));
            among.fill(T::from_f64(0.5));
        }
        if matches!(shape.form, FormShape::Pairwise | FormShape::Pairs) {
            own_weight = T::ZERO;
            for b in 0..o {
                among[b * o + b] = T::ZERO;
            }
        }
        let picks = draw(shape.cells * o);
        let picks = picks.iter().enumerate();
        let picks = picks.map(|(i, x)| (x.to_f64().abs() * 1000.0) as u32 % ROWS[i % o] as u32);
        let picks = picks.collect();
        let weights = draw(shape.cells);
        Self {
            shape: shape.clone(),
            stride,
            own_weight,
            cross,
            among,
            mean: draw(1)[0],
            point,
            direction,
            picks,
            values: draw(shape.cells),
            weights: weights.iter().map(|&w| w * w).collect(),
        }
    }

    pub(crate) fn cols(&self) -> usize {
        self.shape.rank + usize::from(self.shape.biases)
    }

    /// Calls `then` with the arguments of the kernels.
    pub(crate) fn with<R>(
        &self,
        then: impl FnOnce(&ModeContext<T>, &RowCells<T>, &Direction<T>) -> R,
    ) -> R {
        let factors: Vec<&[T]> = self.point.factors.iter().map(|f| &f[..]).collect();
        let biases: Vec<&[T]> = self.point.biases.iter().map(|b| &b[..]).collect();
        let dir_factors: Vec<&[T]> = self.direction.factors.iter().map(|f| &f[..]).collect();
        let dir_biases: Vec<&[T]> = self.direction.biases.iter().map(|b| &b[..]).collect();
        let form = match self.shape.form {
            FormShape::Product => Form::Product,
            FormShape::Pairwise | FormShape::Pairs | FormShape::Indefinite => {
                Form::Quadratic { own: self.own_weight, cross: &self.cross, among: &self.among }
            }
        };
        let ctx = ModeContext {
            form,
            rank: self.shape.rank,
            stride: self.stride,
            factors: &factors,
            biases: self.shape.biases.then_some(&biases[..]),
            mean: self.mean,
        };
        let row = RowCells {
            own: &self.point.own,
            own_bias: self.point.own_bias,
            others: &self.picks,
            values: &self.values,
            weights: self.shape.weights.then_some(&self.weights[..]),
        };
        let direction = Direction {
            own: &self.direction.own,
            own_bias: self.direction.own_bias,
            factors: &dir_factors,
            biases: self.shape.biases.then_some(&dir_biases[..]),
        };
        then(&ctx, &row, &direction)
    }

    /// A cell computed from the definitions in double precision.
    pub(crate) fn cell(&self, k: usize) -> Cell {
        let (o, rank) = (self.shape.others, self.shape.rank);
        let rows_of = |rows: &Rows<T>| -> (Vec<f64>, Vec<Vec<f64>>, f64) {
            let wide = |row: &[T]| row[..rank].iter().map(|x| x.to_f64()).collect::<Vec<_>>();
            let mut bias = rows.own_bias.to_f64();
            let mut others = Vec::new();
            for b in 0..o {
                let pick = self.picks[k * o + b] as usize;
                others.push(wide(&rows.factors[b][pick * self.stride..]));
                if self.shape.biases {
                    bias += rows.biases[b][pick].to_f64();
                }
            }
            (wide(&rows.own), others, bias)
        };
        let (u, v, bias) = rows_of(&self.point);
        let (du, dv, dbias) = rows_of(&self.direction);
        let mut cell = Cell {
            weight: 1.0,
            residual: 0.0,
            magnitude: 0.0,
            jacobian: vec![0.0; self.cols()],
            tangent: dbias,
            jacobian_derivative: vec![0.0; self.cols()],
        };
        if self.shape.weights {
            cell.weight = self.weights[k].to_f64();
        }
        let mut terms = vec![self.mean.to_f64(), bias];
        for l in 0..rank {
            if self.shape.form == FormShape::Product {
                let others = |skip: usize| -> f64 {
                    (0..o).filter(|&b| b != skip).map(|b| v[b][l]).product()
                };
                cell.jacobian[l] = others(o);
                cell.jacobian_derivative[l] = (0..o).map(|b| dv[b][l] * others(b)).sum();
                terms.push(u[l] * cell.jacobian[l]);
                cell.tangent += du[l] * cell.jacobian[l] + u[l] * cell.jacobian_derivative[l];
            } else {
                let own = self.own_weight.to_f64();
                let among = |b: usize, c: usize| self.among[b * o + c].to_f64();
                cell.jacobian[l] = 2.0 * own * u[l];
                cell.jacobian_derivative[l] = 2.0 * own * du[l];
                terms.push(own * u[l] * u[l]);
                for b in 0..o {
                    let cross = self.cross[b].to_f64();
                    cell.jacobian[l] += 2.0 * cross * v[b][l];
                    cell.jacobian_derivative[l] += 2.0 * cross * dv[b][l];
                    terms.push(2.0 * cross * u[l] * v[b][l]);
                    cell.tangent += 2.0 * cross * u[l] * dv[b][l];
                    for c in 0..o {
                        terms.push(among(b, c) * v[b][l] * v[c][l]);
                        cell.tangent += among(b, c) * (dv[b][l] * v[c][l] + v[b][l] * dv[c][l]);
                    }
                }
                cell.tangent += du[l] * cell.jacobian[l];
            }
        }
        if self.shape.biases {
            cell.jacobian[rank] = 1.0;
        }
        let y = self.values[k].to_f64();
        cell.residual = y - terms.iter().sum::<f64>();
        cell.magnitude = y.abs() + terms.iter().map(|t| t.abs()).sum::<f64>();
        cell
    }
}

pub(crate) struct Cell {
    pub(crate) weight: f64,
    pub(crate) residual: f64,
    /// The sum of the magnitudes of the terms of the residual: rounding errors are relative to it.
    pub(crate) magnitude: f64,
    pub(crate) jacobian: Vec<f64>,
    pub(crate) tangent: f64,
    pub(crate) jacobian_derivative: Vec<f64>,
}

/// The machine epsilon of `T`.
pub(crate) fn unit<T: Real>() -> f64 {
    if T::NAME == "f32" { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Asserts that `got` equals `expected` up to rounding in sums of terms of total magnitude `size`.
#[track_caller]
pub(crate) fn assert_close<T: Real>(got: f64, expected: f64, size: f64, what: &str) {
    let allowed = 128.0 * unit::<T>() * size + 1e-300;
    assert!(
        (got - expected).abs() <= allowed,
        "{what}: {got} instead of {expected}, off by {:e}, allowed {allowed:e}",
        (got - expected).abs()
    );
}
