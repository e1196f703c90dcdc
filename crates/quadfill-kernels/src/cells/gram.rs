//! Normal equations: the Gram matrix of Jacobians and residuals.

use super::MAX_OTHERS;
use super::call::Call;
use super::gather::{Span, prefetch_cells};
use super::gradient::set_column;
use super::narrow::Narrow;
use super::plan::Tile;
use super::residual::gather;
use super::workspace::{Layout, Workspace};
use crate::Real;
use crate::products::add_products;
use crate::simd::{Simd, Task};

/// Number of panels summed in `T` before the sums are added to the double-precision result: few
/// enough for the loss of accuracy to be negligible, enough to amortise the conversion.
const PANELS_PER_FLUSH: usize = 4;

/// Rows of at least this many cache lines are prefetched while the previous panel is summed:
/// gathering alone would request them faster than memory can deliver them.
const MIN_LINES_TO_PREFETCH_PANELS: usize = 2;

pub(super) struct NormalEquations<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
    pub(super) out: &'a mut [f64],
}

impl<T: Real> Task<T> for NormalEquations<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { call, ws, out } = self;
        let order = call.cols() + 1;
        let layout = Layout::new::<T>(call.cols(), S::LANES);
        let panels = call.cells().div_ceil(layout.cells);
        let prefetches_panels = call.rank >= MIN_LINES_TO_PREFETCH_PANELS * T::LINE;
        // Rows prefetched with the previous panel need not be prefetched again.
        let without_prefetch = Call { prefetched: [false; MAX_OTHERS], ..call };
        for (panel, span) in Span::panels(call.cells(), layout).enumerate() {
            let gathered = if prefetches_panels && panel > 0 { &without_prefetch } else { &call };
            gather(simd, gathered, span, layout, true, ws);
            finish_panel(simd, &call, span, layout, ws);
            let overwrite = panel % PANELS_PER_FLUSH == 0;
            if Narrow::<T>::fits::<S>(call.cols()) {
                let narrow = Narrow {
                    layout,
                    cols: call.cols(),
                    overwrite,
                    panel: &ws.jacobians,
                    residuals: &ws.residuals[..span.cells],
                    sums: &mut ws.sums,
                };
                narrow.add(simd);
            } else {
                set_residuals(&call, span, layout, ws);
                let triangle = LowerTriangle {
                    layout,
                    cells: span.cells,
                    overwrite,
                    panel: &ws.jacobians,
                    sums: &mut ws.sums,
                };
                let tiles = ws.plan.tiles(order, S::LANES, S::REGISTERS);
                // The rows of the next panel are prefetched while this one is summed.
                let next = span.first + span.cells;
                let early = prefetches_panels && next < call.cells();
                let share = layout.cells.div_ceil(tiles.len());
                triangle.add_tiles(simd, tiles, |done| {
                    if early {
                        prefetch_cells(&call, next + done * share, share);
                    }
                });
            }
            if panel % PANELS_PER_FLUSH == PANELS_PER_FLUSH - 1 || panel + 1 == panels {
                flush(&ws.sums, layout.stride, order, out);
            }
        }
    }
}

/// Appends the bias column to the Jacobians, and multiplies them and the residual of each cell by
/// the square root of its weight.
#[inline(always)]
fn finish_panel<T: Real, S: Simd<T>>(
    simd: S,
    call: &Call<T>,
    span: Span,
    layout: Layout,
    ws: &mut Workspace<T>,
) {
    if call.with_biases {
        set_column(&mut ws.jacobians, layout, span, call.rank, T::ONE);
    }
    let Some(weights) = call.row.weights else {
        return;
    };
    let cells = ws.jacobians.chunks_exact_mut(layout.stride).zip(&mut ws.residuals);
    for ((cell, r), w) in cells.zip(&weights[span.first..][..span.cells]) {
        let root = w.sqrt();
        *r = root * *r;
        let root = simd.splat(root);
        for lanes in cell.chunks_exact_mut(S::LANES) {
            // SAFETY: the chunk has the length of a vector.
            unsafe {
                let v = simd.load(lanes.as_ptr());
                simd.store(lanes.as_mut_ptr(), simd.mul(root, v));
            }
        }
    }
}

/// Appends the residuals to the Jacobians.
#[inline(always)]
fn set_residuals<T: Real>(call: &Call<T>, span: Span, layout: Layout, ws: &mut Workspace<T>) {
    let cells = ws.jacobians.chunks_exact_mut(layout.stride);
    for (cell, &r) in cells.zip(&ws.residuals[..span.cells]) {
        cell[call.cols()] = r;
    }
}

/// Adds the lower triangle of `sums` to `out`.
#[inline(always)]
fn flush<T: Real>(sums: &[T], stride: usize, order: usize, out: &mut [f64]) {
    for i in 0..order {
        let row = &sums[i * stride..][..=i];
        for (out, sum) in out[i * order..][..=i].iter_mut().zip(row) {
            *out += sum.to_f64();
        }
    }
}

/// The lower triangle of the Gram matrix of a panel's columns.
struct LowerTriangle<'a, T> {
    layout: Layout,
    cells: usize,
    /// Whether the previous contents of `sums` are overwritten rather than added to.
    overwrite: bool,
    panel: &'a [T],
    sums: &'a mut [T],
}

macro_rules! tiles {
    ($simd:expr, $shape:expr, $task:expr, $($rows:literal x $blocks:literal)*) => {
        match $shape {
            $(($rows, $blocks) => $simd.run(AddTiles::<T, _, $rows, $blocks>($task)),)*
            (rows, blocks) => unreachable!("no tile of {rows} x {blocks}"),
        }
    };
}

impl<T: Real> LowerTriangle<'_, T> {
    /// Computes all tiles. `before` is called before each tile with the number of tiles done.
    #[inline(always)]
    fn add_tiles<S: Simd<T>>(mut self, simd: S, tiles: &[Tile], before: impl Fn(usize)) {
        let mut done = 0;
        for same_shape in tiles.chunk_by(|a, b| a.shape() == b.shape()) {
            let task = SameShapeTiles {
                triangle: &mut self,
                tiles: same_shape,
                before: |i: usize| before(done + i),
            };
            // Large tiles need many registers, so they are compiled only for machines that have
            // them.
            if S::REGISTERS <= 16 {
                tiles!(simd, same_shape[0].shape(), task,
                    1 x 1 2 x 1 3 x 1 4 x 1 5 x 1 6 x 1 7 x 1 8 x 1 9 x 1 10 x 1 11 x 1 12 x 1
                    1 x 2 2 x 2 3 x 2 4 x 2 5 x 2 6 x 2
                    1 x 3 2 x 3 3 x 3
                    1 x 4 2 x 4
                    1 x 5
                    1 x 6);
            } else {
                tiles!(simd, same_shape[0].shape(), task,
                    1 x 1 2 x 1 3 x 1 4 x 1 5 x 1 6 x 1 7 x 1 8 x 1
                    9 x 1 10 x 1 11 x 1 12 x 1 13 x 1 14 x 1 15 x 1 16 x 1
                    1 x 2 2 x 2 3 x 2 4 x 2 5 x 2 6 x 2 7 x 2 8 x 2 9 x 2 10 x 2 11 x 2 12 x 2
                    1 x 3 2 x 3 3 x 3 4 x 3 5 x 3 6 x 3 7 x 3 8 x 3
                    1 x 4 2 x 4 3 x 4 4 x 4 5 x 4 6 x 4
                    1 x 5 2 x 5 3 x 5 4 x 5
                    1 x 6 2 x 6 3 x 6 4 x 6);
            }
            done += same_shape.len();
        }
    }
}

/// Tiles of the same shape, and a callback to run before each.
struct SameShapeTiles<'s, 'a, T, F> {
    triangle: &'s mut LowerTriangle<'a, T>,
    tiles: &'s [Tile],
    before: F,
}

/// Computes tiles of the same shape in one call, as a call costs as much as several cells.
struct AddTiles<'s, 'a, T, F, const ROWS: usize, const BLOCKS: usize>(SameShapeTiles<'s, 'a, T, F>);

impl<T: Real, F: Fn(usize), const ROWS: usize, const BLOCKS: usize> Task<T>
    for AddTiles<'_, '_, T, F, ROWS, BLOCKS>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let SameShapeTiles { triangle, tiles, before } = self.0;
        let stride = triangle.layout.stride;
        assert!(triangle.cells * stride <= triangle.panel.len());
        for (i, tile) in tiles.iter().enumerate() {
            before(i);
            let column = tile.block * S::LANES;
            assert!(column + BLOCKS * S::LANES <= stride && tile.row + ROWS <= stride);
            assert!((tile.row + ROWS) * stride <= triangle.sums.len());
            let mut acc = [[simd.splat(T::ZERO); BLOCKS]; ROWS];
            // SAFETY: the assertions keep rows and columns of the tile inside the sums.
            unsafe {
                let corner = triangle.sums.as_mut_ptr().add(tile.row * stride + column);
                if !triangle.overwrite {
                    for i in 0..ROWS {
                        for j in 0..BLOCKS {
                            acc[i][j] = simd.load(corner.add(i * stride + j * S::LANES));
                        }
                    }
                }
                add_products(
                    simd,
                    triangle.panel.as_ptr(),
                    triangle.cells,
                    stride,
                    tile.row,
                    column,
                    &mut acc,
                );
                for i in 0..ROWS {
                    for j in 0..BLOCKS {
                        simd.store(corner.add(i * stride + j * S::LANES), acc[i][j]);
                    }
                }
            }
        }
    }
}
