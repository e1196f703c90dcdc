//! Tables in memory, column by column, such as the frames of other languages.

use std::ops::Range;

use quadfill::observations::Source;
use quadfill::{Mode, Observations};
use rayon::prelude::*;

use crate::chunk::{Chunk, Unreadable};
use crate::column_roles::ColumnRoles;
use crate::error::{ReadError, Result};
use crate::fields::{FieldSource, TakeFields, observe, pieces_for_modes};
use crate::options::ReadOptions;
use crate::query::{QueryValues, Wanted};
use crate::query_lookup::{LabelFinder, look_up};
use crate::table::{ModePlan, assemble, row_positions};

/// How many rows one thread takes at a time.
const PIECE: usize = 1 << 18;
/// How many rows are answered at a time.
const BLOCK: usize = 1 << 12;

/// One column of a [`Frame`].
pub struct FrameColumn<'a> {
    /// Its fields; how they are cut makes no difference.
    pub chunks: Vec<Chunk<'a>>,
    /// How many seconds one unit is, if the column holds times.
    pub seconds_per_unit: Option<f64>,
    /// The first row (from 0) that has no value.
    pub first_null: Option<usize>,
}

impl<'a> FrameColumn<'a> {
    /// A column of plain fields.
    pub fn new(chunk: Chunk<'a>) -> Self {
        Self { chunks: vec![chunk], seconds_per_unit: None, first_null: None }
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }
}

/// A table in memory. Its columns are read where they are.
///
/// ```
/// use quadfill_io::{Chunk, Frame, FrameColumn, ReadOptions};
/// let (user, film) = ([7i32, 9, 7], ["Heat", "Heat", "Up"].map(String::from).to_vec());
/// let columns = vec![
///     FrameColumn::new(Chunk::I32(&user)),
///     FrameColumn::new(Chunk::Texts(Box::new(film))),
///     FrameColumn::new(Chunk::F64(&[4.0, 5.0, 1.0])),
/// ];
/// let names = ["user", "film", "stars"].map(String::from).to_vec();
/// let frame = Frame::new("films", Some(names), columns)?;
/// let (data, roles) = frame.observe(&ReadOptions::default())?;
/// assert_eq!((data.sizes(), data.values()), (vec![2, 2], &[4.0, 5.0, 1.0][..]));
/// assert_eq!(roles.expect("columns").value.as_deref(), Some("stars"));
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub struct Frame<'a> {
    name: String,
    names: Option<Vec<String>>,
    columns: Vec<FrameColumn<'a>>,
    rows: usize,
}

impl<'a> Frame<'a> {
    /// Columns of the same length. `name` is what messages call the table.
    pub fn new(
        name: &str,
        names: Option<Vec<String>>,
        columns: Vec<FrameColumn<'a>>,
    ) -> Result<Self> {
        let rows = columns.first().map_or(0, FrameColumn::len);
        let frame = Self { name: name.to_owned(), names, columns, rows };
        match frame.columns.iter().position(|column| column.len() != rows) {
            None => Ok(frame),
            Some(other) => Err(ReadError::Data {
                file: name.to_owned(),
                source: quadfill::Error::ColumnLength {
                    column: frame.column_name(other),
                    expected: rows,
                    got: frame.columns[other].len(),
                },
            }),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The observations in it, and what its columns were taken for, as [`read_with_roles`](crate::read_with_roles)
    /// does for a file.
    pub fn observe(&self, options: &ReadOptions) -> Result<(Observations, Option<ColumnRoles>)> {
        observe(self, options)
    }

    /// The observations for the modes of a model, as [`read_for_modes`](crate::read_for_modes) does for files.
    pub fn observe_for_modes(
        &self,
        options: &ReadOptions,
        modes: &[Mode],
        source: &Source,
    ) -> Result<Observations> {
        let options = options.with_positions_of(source);
        let values =
            if options.values_are_ones { QueryValues::Ignored } else { QueryValues::Required };
        let wanted = Wanted { modes, values, value_name: Some(&source.value) };
        let pieces = pieces_for_modes(self, &options, &wanted)?;
        let plan = ModePlan::for_model(modes);
        let locate = |rows| row_positions(&self.name, rows);
        let data = assemble(&self.name, &plan, pieces, options.on_duplicate, locate)?;
        Ok(data.with_source(source.clone()))
    }

    /// One column of label indices per mode, [`UNKNOWN`](crate::UNKNOWN) where the model does not know a label,
    /// and the values if they are required. The column of values is looked for as in
    /// [`read_query_values`](crate::read_query_values).
    pub fn look_up(
        &self,
        options: &ReadOptions,
        modes: &[Mode],
        values: QueryValues,
        source: &Source,
    ) -> Result<(Vec<Vec<u32>>, Option<Vec<f64>>)> {
        let options = options.with_positions_of(source);
        let value_name = (values == QueryValues::Required).then_some(source.value.as_str());
        look_up(self, &options, &Wanted { modes, values, value_name })
    }

    /// One answer for each row, block by block in parallel: `answer` gets one column of label indices per mode
    /// ([`UNKNOWN`](crate::UNKNOWN) where the model does not know a label), while they are in the cache, and the
    /// answers to be written.
    ///
    /// ```
    /// use quadfill::{Labels, Mode, observations::Source};
    /// use quadfill_io::{Chunk, Frame, FrameColumn, ReadOptions};
    /// let columns = vec![FrameColumn::new(Chunk::I32(&[7, 9, 8])), FrameColumn::new(Chunk::U8(&[0, 1, 2]))];
    /// let names = ["user", "film"].map(String::from).to_vec();
    /// let frame = Frame::new("rows", Some(names), columns)?;
    /// let modes = [
    ///     Mode::new("film", Labels::range(3)),
    ///     Mode::new("user", Labels::from_integers(vec![7, 8])),
    /// ];
    /// let source = Source { value: "stars".to_owned(), positions: None };
    /// let sums = frame.answer_rows(&ReadOptions::default(), &modes, &source, |columns, sums: &mut [u64]| {
    ///     for (row, sum) in sums.iter_mut().enumerate() {
    ///         *sum = columns.iter().map(|column| u64::from(column[row])).sum();
    ///     }
    /// })?;
    /// assert_eq!(sums, [0, 1 + u64::from(u32::MAX), 3]);
    /// # Ok::<(), quadfill_io::ReadError>(())
    /// ```
    pub fn answer_rows<V: Copy + Default + Send>(
        &self,
        options: &ReadOptions,
        modes: &[Mode],
        source: &Source,
        answer: impl Fn(&[&[u32]], &mut [V]) + Sync,
    ) -> Result<Vec<V>> {
        let options = options.with_positions_of(source);
        let wanted = Wanted { modes, values: QueryValues::Ignored, value_name: None };
        let (finders, _) = LabelFinder::for_modes(self, &options, &wanted)?;
        let mut answers = vec![V::default(); self.rows];
        let blocks = answers.par_chunks_mut(BLOCK).enumerate();
        let done: Vec<Result<()>> = blocks
            .map_init(
                || vec![Vec::with_capacity(BLOCK); modes.len()],
                |found, (block, answers)| {
                    let rows = block * BLOCK..block * BLOCK + answers.len();
                    for (finder, found) in finders.iter().zip(found.iter_mut()) {
                        found.clear();
                        self.read_rows(finder.column, rows.clone(), &mut |fields, row| {
                            finder.push(self, fields, row, found)
                        })?;
                    }
                    let columns: Vec<&[u32]> = found.iter().map(Vec::as_slice).collect();
                    answer(&columns, answers);
                    Ok(())
                },
            )
            .collect();
        done.into_iter().collect::<Result<()>>()?;
        Ok(answers)
    }

    /// Hands some rows of a column to `take`.
    fn read_rows(
        &self,
        column: usize,
        rows: Range<usize>,
        take: &mut TakeFields<'_>,
    ) -> Result<()> {
        let FrameColumn { chunks, first_null, .. } = &self.columns[column];
        let null = first_null.filter(|&null| null < rows.end);
        // What comes before says what the column is.
        let end = null.unwrap_or(rows.end);
        let mut start = 0;
        for chunk in chunks {
            let after = start + chunk.len();
            let mut row = rows.start.max(start);
            if row < end.min(after) {
                chunk
                    .each(row - start..end.min(after) - start, &mut |fields| {
                        take(fields, row)?;
                        row += fields.len();
                        Ok(())
                    })
                    .map_err(|what| self.unreadable(column, what))?;
            }
            start = after;
        }
        match null {
            None => Ok(()),
            Some(null) => Err(ReadError::Null {
                file: self.name.clone(),
                row: null + 1,
                column: self.column_name(column),
            }),
        }
    }

    fn unreadable(&self, column: usize, what: Unreadable) -> ReadError {
        let kind = match what {
            Unreadable::Refused(error) => return error,
            Unreadable::TooLarge => "integers above 9223372036854775807".to_owned(),
            Unreadable::NoValue => "categories without values".to_owned(),
            Unreadable::Kind(kind) => kind,
        };
        ReadError::Unsupported {
            file: self.name.clone(),
            what: format!("column {} holds {kind}", self.column_name(column)),
            hint: "store it as integers, doubles or strings".to_owned(),
        }
    }
}

impl FieldSource for Frame<'_> {
    fn file(&self) -> &str {
        &self.name
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn pieces(&self) -> usize {
        self.rows.div_ceil(PIECE)
    }

    fn rows(&self, piece: usize) -> usize {
        PIECE.min(self.rows - piece * PIECE)
    }

    fn seconds_per_unit(&self, column: usize) -> Option<f64> {
        self.columns[column].seconds_per_unit
    }

    fn read_first(
        &self,
        piece: usize,
        column: usize,
        wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Result<()> {
        let first = piece * PIECE;
        self.read_rows(column, first..first + self.rows(piece).min(wanted), take)
    }
}
