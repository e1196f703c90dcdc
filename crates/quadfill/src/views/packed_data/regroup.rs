//! The view of a mode from that of the first one: its cells are picked out in their order, a range of labels at a
//! time.

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use super::ranges::{Room, starts_of};
use crate::views::packed::{PackedWriter, Packing};
use crate::views::plain::PlainCells;
use crate::views::{ModeReader, ModeSelection, Store, View};
use quadfill_kernels::Real;

/// Cells of a label with too many of them that are collected before they are packed.
const BLOCK: usize = 1 << 16;

/// The view of a mode, whose labels have these numbers of cells.
pub(in crate::views) fn regroup<T: Real>(
    first: &View<T>,
    mode: usize,
    counts: &[usize],
    packing: &Packing<T>,
    room: Room,
) -> io::Result<View<T>> {
    let mut writer = packing.writer(Some(mode))?;
    for round in room.ranges(counts).chunks(room.threads) {
        let is_long = |labels: &Range<usize>| {
            labels.len() == 1 && counts[labels.start] > room.of_one_thread()
        };
        // Beside a label that there is no room for, nothing else is unpacked.
        let whole: Vec<&Range<usize>> = round.iter().filter(|labels| !is_long(labels)).collect();
        let mut parts = whole
            .into_par_iter()
            .map(|labels| pick(first, mode, labels.clone(), counts))
            .collect::<Vec<_>>()
            .into_iter();
        for labels in round {
            if is_long(labels) {
                push_label(first, mode, labels.start, &mut writer)?;
            } else if let Some(cells) = parts.next() {
                writer.push(cells.cells(0..cells.len()))?;
            }
        }
    }
    let store = Store::Packed(writer.finish()?);
    Ok(View { starts: starts_of(counts), training_counts: None, store })
}

/// The cells of some labels, grouped by them.
fn pick<T: Real>(
    first: &View<T>,
    mode: usize,
    labels: Range<usize>,
    counts: &[usize],
) -> PlainCells<T> {
    let mut next = starts_of(&counts[labels.clone()]);
    let total = next.pop().unwrap_or(0);
    let mut cells = PlainCells::zeros(total, first.width(), first.is_weighted());
    visit(first, &mut |cell, value, weight| {
        let label = cell[mode] as usize;
        if labels.contains(&label) {
            let at = &mut next[label - labels.start];
            cells.set(*at, without(cell, mode), value, weight);
            *at += 1;
        }
    });
    cells
}

/// Packs the cells of one label as they are found.
fn push_label<T: Real>(
    first: &View<T>,
    mode: usize,
    label: usize,
    writer: &mut PackedWriter<T>,
) -> io::Result<()> {
    let mut cells = PlainCells::zeros(BLOCK, first.width(), first.is_weighted());
    let (mut filled, mut result) = (0, Ok(()));
    visit(first, &mut |cell, value, weight| {
        if cell[mode] as usize == label && result.is_ok() {
            cells.set(filled, without(cell, mode), value, weight);
            filled += 1;
            if filled == BLOCK {
                result = writer.push(cells.cells(0..filled));
                filled = 0;
            }
        }
    });
    result.and_then(|()| writer.push(cells.cells(0..filled)))
}

fn visit<T: Real>(view: &View<T>, see: &mut impl FnMut(&[u32], T, T)) {
    let mut reader = ModeReader::new(ModeSelection::all(view));
    for label in 0..view.labels() {
        reader.visit(0, label, view.starts[label]..view.starts[label + 1], see);
    }
}

fn without(cell: &[u32], mode: usize) -> impl Iterator<Item = u32> + '_ {
    cell[..mode].iter().chain(&cell[mode + 1..]).copied()
}
