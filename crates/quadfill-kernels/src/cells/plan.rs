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
pub(super) const MAX_ROWS: usize = 16;
/// The most vectors of a tile.
pub(super) const MAX_BLOCKS: usize = 6;

impl Plan {
    /// The tiles for matrices of `order` with `lanes` columns to a vector, on a machine with
    /// `registers`.
    pub(super) fn tiles(&mut self, order: usize, lanes: usize, registers: usize) -> &[Tile] {
        if (self.order, self.lanes) != (order, lanes) {
            self.tiles.clear();
            for row in (0..order).step_by(lanes) {
                // These rows all end in the same vector of columns.
                let rows = lanes.min(order - row);
                let blocks = row / lanes + 1;
                cut_band(&mut self.tiles, row, rows, blocks, registers);
            }
            // Tiles of one shape are added up together.
            self.tiles.sort_by_key(Tile::shape);
            (self.order, self.lanes) = (order, lanes);
        }
        &self.tiles
    }
}

/// Cuts `rows` by `blocks` into tiles: columns of one width and a narrower last one, each cut
/// into about equal heights, as cheaply as possible.
fn cut_band(tiles: &mut Vec<Tile>, row: usize, rows: usize, blocks: usize, registers: usize) {
    let price = |wide: usize| {
        let last = blocks % wide;
        let whole = (blocks / wide) as u32 * cut_column(rows, wide, registers).0;
        whole + if last > 0 { cut_column(rows, last, registers).0 } else { 0 }
    };
    let wide = (1..=blocks.min(MAX_BLOCKS)).min_by_key(|&wide| price(wide));
    let wide = wide.unwrap_or(1);
    for block in (0..blocks).step_by(wide) {
        let blocks = wide.min(blocks - block);
        let (_, down) = cut_column(rows, blocks, registers);
        for i in 0..down {
            let (top, bottom) = (rows * i / down, rows * (i + 1) / down);
            tiles.push(Tile { row: row + top, rows: bottom - top, block, blocks });
        }
    }
}

/// The price of the best cut of `rows` by `wide` vectors, and how many tiles it has.
fn cut_column(rows: usize, wide: usize, registers: usize) -> (u32, usize) {
    (1..=rows.min(MAX_ROWS))
        .filter(|tall| fits(*tall, wide, registers))
        .map(|tall| {
            let down = rows.div_ceil(tall);
            (down as u32 * price(rows.div_ceil(down), wide), down)
        })
        .min()
        .unwrap_or((u32::MAX / 64, rows))
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
            for order in 1..130usize {
                let mut plan = Plan::default();
                let mut covered = vec![0; order * order.next_multiple_of(lanes)];
                let stride = order.next_multiple_of(lanes);
                for tile in plan.tiles(order, lanes, registers) {
                    assert!(fits(tile.rows, tile.blocks, registers));
                    assert!(tile.rows <= MAX_ROWS && tile.blocks <= MAX_BLOCKS);
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
