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
    /// The tiles for matrices of `order` with `lanes` columns to a vector and `accumulators`
    /// registers for sums.
    pub(super) fn tiles(&mut self, order: usize, lanes: usize, accumulators: usize) -> &[Tile] {
        if (self.order, self.lanes) != (order, lanes) {
            self.tiles.clear();
            for row in (0..order).step_by(lanes) {
                // These rows all end in the same vector of columns.
                let rows = lanes.min(order - row);
                let blocks = row / lanes + 1;
                cut_band(&mut self.tiles, row, rows, blocks, accumulators);
            }
            (self.order, self.lanes) = (order, lanes);
        }
        &self.tiles
    }
}

/// Cuts `rows` by `blocks` into about equal tiles, as cheaply as possible.
fn cut_band(tiles: &mut Vec<Tile>, row: usize, rows: usize, blocks: usize, accumulators: usize) {
    let mut best = (u32::MAX, 1, 1);
    for tall in 1..=rows.min(MAX_ROWS) {
        for wide in 1..=blocks.min(MAX_BLOCKS) {
            if tall * wide <= accumulators {
                let (down, across) = (rows.div_ceil(tall), blocks.div_ceil(wide));
                let price = price_of_cut(rows, down, blocks, across);
                best = best.min((price, down, across));
            }
        }
    }
    let (_, down, across) = best;
    for i in 0..down {
        let (top, bottom) = (rows * i / down, rows * (i + 1) / down);
        for j in 0..across {
            let (left, right) = (blocks * j / across, blocks * (j + 1) / across);
            tiles.push(Tile {
                row: row + top,
                rows: bottom - top,
                block: left,
                blocks: right - left,
            });
        }
    }
}

/// Half cycles per cell, roughly, on machines with two multiply-adds and two loads a cycle.
fn price_of_cut(rows: usize, down: usize, blocks: usize, across: usize) -> u32 {
    let (tall, wide) = (rows.div_ceil(down), blocks.div_ceil(across));
    // Sums that wait for one another, and the loop itself.
    let (latency, overhead) = (8, 1);
    let one = (tall * wide).max(tall + wide).max(latency) + overhead;
    (one * down * across) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_lower_triangle_once_and_fit_the_registers() {
        for (lanes, accumulators) in [(2, 12), (4, 12), (8, 12), (8, 24), (16, 24)] {
            for order in 1..130usize {
                let mut plan = Plan::default();
                let mut covered = vec![0; order * order.next_multiple_of(lanes)];
                let stride = order.next_multiple_of(lanes);
                for tile in plan.tiles(order, lanes, accumulators) {
                    assert!(tile.rows * tile.blocks <= accumulators);
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
