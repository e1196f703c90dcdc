//! Walking over the rows of a text, in pieces on all threads.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

use super::delimiter::Delimiter;
use super::layout::TextLayout;

/// Why a field cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    NotANumber,
    NotATime,
    NotFinite,
    NegativeWeight,
    OutsideBins,
    NoLabel,
    BadIndex,
    NotUtf8,
}

/// What takes the fields of the rows.
pub(crate) trait RowSink {
    /// One field; those of a row come in order, those past the last column of the layout too.
    fn field(&mut self, column: usize, text: &[u8]) -> Result<(), Problem>;
}

/// A row that stops the reading.
#[derive(Debug)]
pub(crate) struct RowProblem {
    /// Where the row begins in the whole text.
    pub offset: usize,
    pub kind: RowProblemKind,
}

#[derive(Debug)]
pub(crate) enum RowProblemKind {
    Ragged { got: usize },
    OpenQuote,
    Field { column: usize, text: Vec<u8>, problem: Problem },
}

/// How many bytes one piece has, about.
pub(crate) const PIECE: usize = 8 << 20;

/// Reads all rows below the header into one sink per piece, in order.
///
/// `new_sink` is told how many rows to expect at most. The problem returned is the first one of
/// the text, whatever the threads do.
pub(crate) fn read_rows<S: RowSink + Send>(
    bytes: &[u8],
    layout: &TextLayout,
    piece: usize,
    new_sink: impl Fn(usize) -> S + Sync,
) -> Result<Vec<S>, RowProblem> {
    if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
        let mut sink = new_sink(memchr_iter(b'\n', bytes).count());
        walk_quoted(bytes, layout, *delimiter, &mut sink)?;
        return Ok(vec![sink]);
    }
    let pieces: Vec<Result<S, RowProblem>> = cut(bytes, layout.data_start, piece)
        .into_par_iter()
        .map(|range| {
            let text = &bytes[range.clone()];
            let mut sink = new_sink(memchr_iter(b'\n', text).count() + 1);
            walk_lines(text, range.start, layout, &mut sink)?;
            Ok(sink)
        })
        .collect();
    pieces.into_iter().collect()
}

/// Pieces of about `piece` bytes that end where lines end.
pub(super) fn cut(bytes: &[u8], start: usize, piece: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = start;
    while from < bytes.len() {
        let about = from.saturating_add(piece.max(1)).min(bytes.len());
        let to = memchr(b'\n', &bytes[about - 1..]).map_or(bytes.len(), |at| about + at);
        pieces.push(from..to);
        from = to;
    }
    pieces
}

pub(super) fn walk_lines<S: RowSink>(
    text: &[u8],
    base: usize,
    layout: &TextLayout,
    sink: &mut S,
) -> Result<(), RowProblem> {
    let mut start = 0;
    while start < text.len() {
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        let line = without_carriage_return(&text[start..end]);
        if !layout.is_skipped(line) {
            row(line, base + start, layout, sink)?;
        }
        start = end + 1;
    }
    Ok(())
}

#[inline]
fn row<S: RowSink>(
    line: &[u8],
    offset: usize,
    layout: &TextLayout,
    sink: &mut S,
) -> Result<(), RowProblem> {
    let result = layout.delimiter.split(line, |column, text| {
        sink.field(column, text).map_err(|problem| (column, text, problem))
    });
    let got = match result {
        Ok(got) if got == layout.fields => return Ok(()),
        Ok(got) => got,
        Err((column, text, problem)) => {
            // A wrong number of fields explains more than what stands in one of them.
            let got = layout
                .delimiter
                .split(line, |_, _| Ok::<(), std::convert::Infallible>(()))
                .unwrap_or_else(|never| match never {});
            if got == layout.fields {
                let kind = RowProblemKind::Field { column, text: text.to_vec(), problem };
                return Err(RowProblem { offset, kind });
            }
            got
        }
    };
    Err(RowProblem { offset, kind: RowProblemKind::Ragged { got } })
}

fn walk_quoted<S: RowSink>(
    bytes: &[u8],
    layout: &TextLayout,
    delimiter: u8,
    sink: &mut S,
) -> Result<(), RowProblem> {
    let mut records = Records::new(bytes, layout.data_start, delimiter);
    walk_records(&mut records, layout, usize::MAX, sink).map(|_| ())
}

/// Goes through up to `most` records, and tells how many there were.
pub(super) fn walk_records<S: RowSink>(
    records: &mut Records<'_>,
    layout: &TextLayout,
    most: usize,
    sink: &mut S,
) -> Result<usize, RowProblem> {
    let mut rows = 0;
    while rows < most
        && let Some(offset) = records.advance()
    {
        rows += 1;
        let record = &records.record;
        if record.len() != layout.fields {
            let kind = if records.open_quote(offset) {
                RowProblemKind::OpenQuote
            } else {
                RowProblemKind::Ragged { got: record.len() }
            };
            return Err(RowProblem { offset, kind });
        }
        for (column, text) in record.iter().enumerate() {
            sink.field(column, text).map_err(|problem| {
                let kind = RowProblemKind::Field { column, text: text.to_vec(), problem };
                RowProblem { offset, kind }
            })?;
        }
    }
    Ok(rows)
}

/// The records of a text with quotes, blank lines left out.
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    base: usize,
    reader: csv::Reader<&'a [u8]>,
    pub record: csv::ByteRecord,
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: usize, delimiter: u8) -> Self {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(&bytes[base..]);
        Self { bytes, base, reader, record: csv::ByteRecord::new() }
    }

    /// Goes to the next record and tells where it begins.
    pub(crate) fn advance(&mut self) -> Option<usize> {
        loop {
            let mut offset = self.base + self.reader.position().byte() as usize;
            // Reading from memory into a flexible byte record cannot fail.
            if !self.reader.read_byte_record(&mut self.record).unwrap_or(false) {
                return None;
            }
            let blank = self.record.len() == 1
                && self.record[0].iter().all(|byte| matches!(byte, b' ' | b'\t'));
            if !blank {
                while matches!(self.bytes.get(offset), Some(b'\n' | b'\r')) {
                    offset += 1;
                }
                return Some(offset);
            }
        }
    }

    /// Where the text after the current record begins.
    pub(crate) fn end(&self) -> usize {
        self.base + self.reader.position().byte() as usize
    }

    /// Whether the record that begins at `offset` ran to the end of the text with a quote open.
    fn open_quote(&self, offset: usize) -> bool {
        self.end() >= self.bytes.len() && memchr_iter(b'"', &self.bytes[offset..]).count() % 2 == 1
    }
}

/// Hands the fields of each row to `row`, in order, until it returns an error.
pub(crate) fn each_row<E>(
    bytes: &[u8],
    layout: &TextLayout,
    mut row: impl FnMut(&[&[u8]]) -> Result<(), E>,
) -> Result<(), E> {
    if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
        let mut records = Records::new(bytes, layout.data_start, *delimiter);
        while records.advance().is_some() {
            row(&records.record.iter().collect::<Vec<_>>())?;
        }
        return Ok(());
    }
    let mut fields = Vec::with_capacity(layout.fields);
    for line in bytes[layout.data_start..].split(|&byte| byte == b'\n') {
        let line = without_carriage_return(line);
        if layout.is_skipped(line) {
            continue;
        }
        fields.clear();
        layout.delimiter.split(line, |_, text| {
            fields.push(text);
            Ok(())
        })?;
        row(&fields)?;
    }
    Ok(())
}

/// The lines (from 1) on which rows with these positions (from 0, rising) stand.
pub(crate) fn lines_of_rows(bytes: &[u8], layout: &TextLayout, rows: [usize; 2]) -> [usize; 2] {
    let mut offsets = [bytes.len(); 2];
    let mut note = |row: usize, offset: usize| {
        for (asked, found) in rows.iter().zip(&mut offsets) {
            if *asked == row {
                *found = offset;
            }
        }
        row < rows[1].max(rows[0])
    };
    let mut row = 0;
    if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
        let mut records = Records::new(bytes, layout.data_start, *delimiter);
        while let Some(offset) = records.advance() {
            if !note(row, offset) {
                break;
            }
            row += 1;
        }
    } else {
        let mut start = layout.data_start;
        while start < bytes.len() {
            let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            if !layout.is_skipped(without_carriage_return(&bytes[start..end])) {
                if !note(row, start) {
                    break;
                }
                row += 1;
            }
            start = end + 1;
        }
    }
    offsets.map(|offset| line_of(bytes, offset))
}

/// The line (from 1) that holds the byte at `offset`.
pub(crate) fn line_of(bytes: &[u8], offset: usize) -> usize {
    memchr_iter(b'\n', &bytes[..offset.min(bytes.len())]).count() + 1
}

#[inline]
pub(crate) fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
