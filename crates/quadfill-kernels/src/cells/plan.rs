//! Tiling of the lower triangle of a Gram matrix into tiles that fit the registers.

/// A tile of the triangle, in rows and vectors of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// First row.
    pub(super) row: usize,
    /// Number of rows.
    pub(super) rows: usize,
    /// First vector of columns.
    pub(super) block: usize,
    /// Number of vectors.
    pub(super) blocks: usize,
}

impl Tile {
    /// Number of rows and of vectors.
    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.blocks)
    }
}

/// The tiling for matrices of one order and vectors of one length.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    order: usize,
    lanes: usize,
    tiles: Vec<Tile>,
}

/// The maximum number of rows of a tile.
const MAX_ROWS: usize = 16;
/// The maximum number of vectors of a tile.
const MAX_BLOCKS: usize = 6;

impl Plan {
    /// The tiles for matrices of order `order`, with `lanes` columns per vector and `registers`
    /// registers.
    pub(super) fn tiles(&mut self, order: usize, lanes: usize, registers: usize) -> &[Tile] {
        if (self.order, self.lanes) != (order, lanes) {
            self.tiles = (1..=MAX_BLOCKS)
                .map(|width| tile_triangle(order, lanes, width, registers))
                .min_by_key(|tiles| {
                    tiles.iter().map(|tile| cost(tile.rows, tile.blocks)).sum::<u32>()
                })
                .unwrap_or_default();
            // Tiles of the same shape are computed in one call.
            self.tiles.sort_by_key(Tile::shape);
            (self.order, self.lanes) = (order, lanes);
        }
        &self.tiles
    }
}

/// Splits the triangle into strips of `width` vectors of columns. A strip begins with steps along
/// the diagonal, where rows end inside the strip. The rows below span the whole strip and are
/// divided evenly among tiles that are as tall as the registers allow.
fn tile_triangle(order: usize, lanes: usize, width: usize, registers: usize) -> Vec<Tile> {
    let blocks = order.div_ceil(lanes);
    let mut tiles = Vec::new();
    for block in (0..blocks).step_by(width) {
        let width = width.min(blocks - block);
        for step in 1..=width {
            let row = (block + step - 1) * lanes;
            let end = if step < width { row + lanes } else { order };
            let rows = end - row;
            let count = tiles_per_column(rows, step, registers);
            for i in 0..count {
                let (top, bottom) = (rows * i / count, rows * (i + 1) / count);
                tiles.push(Tile { row: row + top, rows: bottom - top, block, blocks: step });
            }
        }
    }
    tiles
}

/// The cheapest number of tiles to stack for `rows` rows of `width` vectors.
fn tiles_per_column(rows: usize, width: usize, registers: usize) -> usize {
    (1..=rows.min(MAX_ROWS))
        .filter(|height| fits(*height, width, registers))
        .map(|height| rows.div_ceil(height))
        .min_by_key(|&count| count as u32 * cost(rows.div_ceil(count), width))
        .unwrap_or(rows)
}

/// Whether the sums of a tile fit into the registers together with the vectors and two entries of a
/// cell. The compiler loads an entry before it has finished with the previous one, and spilling a
/// sum halves the speed.
fn fits(height: usize, width: usize, registers: usize) -> bool {
    height * width <= registers / 4 * 3 && height * width + width + 2 <= registers
}

/// Estimated half cycles per cell on machines with two multiply-adds and two loads per cycle.
fn cost(height: usize, width: usize) -> u32 {
    // The latency of dependent multiply-adds, and the loop overhead.
    let (latency, overhead) = (8, 1);
    ((height * width).max(height + width).max(latency) + overhead) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_lower_triangle_once_and_fit_the_registers() {
        for (lanes, registers) in [(2, 16), (4, 16), (8, 16), (8, 32), (16, 32)] {
            for order in (1..130usize).chain([257, 513, 1000]) {
                let mut plan = Plan::default();
                let mut covered = vec![0; order * order.next_multiple_of(lanes)];
                let stride = order.next_multiple_of(lanes);
                for tile in plan.tiles(order, lanes, registers) {
                    assert!(fits(tile.rows, tile.blocks, registers));
                    // The tile shapes that `gram.rs` compiles.
                    let max_rows =
                        if registers <= 16 { [12, 6, 3, 2, 1, 1] } else { [16, 12, 8, 6, 4, 4] };
                    assert!(tile.rows <= max_rows[tile.blocks - 1], "{tile:?}");
                    for i in tile.row..tile.row + tile.rows {
                        for j in tile.block * lanes..(tile.block + tile.blocks) * lanes {
                            covered[i * stride + j] += 1;
                        }
                    }
                }
                for i in 0..order {
                    let row = &covered[i * stride..][..stride];
                    let end = (i + 1).next_multiple_of(lanes);
                    assert!(row[..end].iter().all(|&times| times == 1));
                    assert!(row[end..].iter().all(|&times| times == 0));
                }
            }
        }
    }
}
