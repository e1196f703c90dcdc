//! How the lower triangle of a Gram matrix is cut into tiles that fit the registers.

/// A piece of the triangle: some rows by some vectors of columns.
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
    /// Rows and vectors.
    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.blocks)
    }
}

/// The tiles for matrices of one order and vectors of one length.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    order: usize,
    lanes: usize,
    tiles: Vec<Tile>,
}

/// The most rows of a tile that is one vector wide.
const MAX_ROWS: usize = 16;
/// The most vectors of a tile.
const MAX_BLOCKS: usize = 6;

impl Plan {
    /// The tiles for matrices of `order` with `lanes` columns to a vector, on a machine with
    /// `registers`.
    pub(super) fn tiles(&mut self, order: usize, lanes: usize, registers: usize) -> &[Tile] {
        if (self.order, self.lanes) != (order, lanes) {
            self.tiles = (1..=MAX_BLOCKS)
                .map(|wide| cut(order, lanes, wide, registers))
                .min_by_key(|tiles| {
                    tiles.iter().map(|tile| price(tile.rows, tile.blocks)).sum::<u32>()
                })
                .unwrap_or_default();
            // Tiles of one shape are added up together.
            self.tiles.sort_by_key(Tile::shape);
            (self.order, self.lanes) = (order, lanes);
        }
        &self.tiles
    }
}

/// Cuts the triangle into strips of columns, `wide` vectors each. A strip begins with steps at the
/// diagonal, where rows end inside of it; all rows below are as wide as the strip, so that their
/// number may be shared out among tiles as tall as the registers hold.
fn cut(order: usize, lanes: usize, wide: usize, registers: usize) -> Vec<Tile> {
    let blocks = order.div_ceil(lanes);
    let mut tiles = Vec::new();
    for block in (0..blocks).step_by(wide) {
        let wide = wide.min(blocks - block);
        for step in 1..=wide {
            let row = (block + step - 1) * lanes;
            let end = if step < wide { row + lanes } else { order };
            let rows = end - row;
            let down = tiles_down(rows, step, registers);
            for i in 0..down {
                let (top, bottom) = (rows * i / down, rows * (i + 1) / down);
                tiles.push(Tile { row: row + top, rows: bottom - top, block, blocks: step });
            }
        }
    }
    tiles
}

/// How many tiles, one below the other, are the cheapest for `rows` by `wide` vectors.
fn tiles_down(rows: usize, wide: usize, registers: usize) -> usize {
    (1..=rows.min(MAX_ROWS))
        .filter(|tall| fits(*tall, wide, registers))
        .map(|tall| rows.div_ceil(tall))
        .min_by_key(|&down| down as u32 * price(rows.div_ceil(down), wide))
        .unwrap_or(rows)
}

/// Whether a tile's sums stay in registers, together with the vectors of a cell and two entries
/// of it: the compiler reads one entry before it is done with the last, and a sum that has to
/// make room for it costs half the speed.
fn fits(tall: usize, wide: usize, registers: usize) -> bool {
    tall * wide <= registers / 4 * 3 && tall * wide + wide + 2 <= registers
}

/// Half cycles per cell, roughly, on machines with two multiply-adds and two loads a cycle.
fn price(tall: usize, wide: usize) -> u32 {
    // Sums that wait for one another, and the loop itself.
    let (latency, overhead) = (8, 1);
    ((tall * wide).max(tall + wide).max(latency) + overhead) as u32
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
                    // What `gram.rs` has compiled.
                    let tallest =
                        if registers <= 16 { [12, 6, 3, 2, 1, 1] } else { [16, 12, 8, 6, 4, 4] };
                    assert!(tile.rows <= tallest[tile.blocks - 1], "{tile:?}");
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
