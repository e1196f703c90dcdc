//! A text read a few pieces at a time, for data that are more than the memory holds.

use rayon::prelude::*;

use super::delimiter::Delimiter;
use super::layout::TextLayout;
use super::rows::{PIECE, Records, cut, walk_lines, walk_records};
use super::{TableSink, looks_like_header, sample};
use crate::error::Result;
use crate::options::ReadOptions;
use crate::recognise::ColumnFacts;
use crate::roles::{Columns, Roles};
use crate::source::Bytes;
use crate::table::{Piece, RowPosition};

/// Rows of a piece of a text with quotes, where lines are not rows.
const ROWS: usize = 1 << 18;

/// A text among the parts of the data.
#[derive(Debug)]
pub(crate) struct TextPart {
    pub(crate) file: String,
    bytes: Bytes,
    layout: TextLayout,
    is_tns: bool,
}

impl TextPart {
    pub(crate) fn open(
        file: String,
        bytes: Bytes,
        options: &ReadOptions,
        is_tns: bool,
    ) -> Result<Self> {
        let layout = TextLayout::find(&file, &bytes, options, is_tns, |first| {
            looks_like_header(first, options)
        })?;
        Ok(Self { file, bytes, layout, is_tns })
    }

    pub(crate) fn columns(&self) -> Columns<'_> {
        let names = self.layout.header.as_deref();
        Columns { file: &self.file, names, count: self.layout.fields }
    }

    /// What the first rows say about their columns; those of a `.tns` file are what their order says.
    pub(crate) fn facts(&self) -> Vec<ColumnFacts> {
        if self.is_tns { Vec::new() } else { sample(&self.bytes, &self.layout) }
    }

    /// About how many rows there are.
    pub(crate) fn rows(&self) -> usize {
        const TOP: usize = 1 << 20;
        let text = &self.bytes[self.layout.data_start..];
        let top = &text[..text.len().min(TOP)];
        let lines = memchr::memchr_iter(b'\n', top).count().max(1);
        (lines as f64 * (text.len() as f64 / top.len().max(1) as f64)) as usize
    }

    /// Reads all rows; `convert` is called by several threads, `take` with what it returns in the order of the
    /// rows, and with the share of the text that is done. It ends the reading by returning false.
    pub(crate) fn read<R: Send>(
        &self,
        roles: &Roles,
        options: &ReadOptions,
        convert: impl Fn(Piece) -> Result<R> + Sync,
        mut take: impl FnMut(R, f64) -> Result<bool>,
    ) -> Result<()> {
        let (bytes, layout) = (&self.bytes[..], &self.layout);
        let new_sink = |rows: usize| TableSink {
            roles: &roles.of_columns,
            plan: &roles.modes,
            piece: Piece::new(&roles.modes, roles.weighted, rows),
        };
        let finish = |mut piece: Piece| {
            if options.values_are_ones {
                piece.fill_ones();
            }
            convert(piece)
        };
        let share = |end: usize| end as f64 / bytes.len().max(1) as f64;
        if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
            let mut records = Records::new(bytes, layout.data_start, *delimiter);
            loop {
                let mut sink = new_sink(ROWS);
                let rows = walk_records(&mut records, layout, ROWS, &mut sink)
                    .map_err(|problem| layout.explain(&self.file, bytes, problem))?;
                if rows == 0 || !take(finish(sink.piece)?, share(records.end()))? {
                    return Ok(());
                }
            }
        }
        let ranges = cut(bytes, layout.data_start, PIECE);
        for some in ranges.chunks(rayon::current_num_threads()) {
            let pieces: Vec<Result<R>> = some
                .par_iter()
                .map(|range| {
                    let text = &bytes[range.clone()];
                    let mut sink = new_sink(memchr::memchr_iter(b'\n', text).count() + 1);
                    walk_lines(text, range.start, layout, &mut sink)
                        .map_err(|problem| layout.explain(&self.file, bytes, problem))?;
                    finish(sink.piece)
                })
                .collect();
            for (piece, range) in pieces.into_iter().zip(some) {
                if !take(piece?, share(range.end))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The line on which a row (from 0) stands.
    pub(crate) fn position(&self, row: usize) -> RowPosition {
        let [position, _] = self.layout.row_positions(&self.file, &self.bytes, [row, row]);
        position
    }
}
