//! Data that are more than the memory holds, or that are in many files: read twice, a few pieces at a time.
//!
//! The first pass collects the labels of every mode, the span of its times, and the values where few of them
//! differ. So the second one knows how many bits they need, and packs row after row.
//!
//! ```text
//! parts.rs   the files that a path names
//! part.rs    one file, and its columns by the use of those of the first
//! seen.rs    labels and times in the first pass, their indices in the second
//! ```

mod part;
mod parts;
mod seen;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use quadfill::observations::{Binning, LabelLookup};
use quadfill::views::{Data, FewNumbers, PackedBuilder, PackedObservations, Storage};
use quadfill::{Labels, Mode};

use crate::bins;
use crate::column_roles::ColumnRoles;
use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};
use crate::read::read_with_roles;
use crate::roles::Roles;
use crate::table::{ModeColumn, Piece, RowPosition, explain};
use crate::time_column::bins_of;
use part::Part;
pub use parts::data_files;
use seen::{Seen, TextAfterNumbers, indices_of};

/// How far the reading of large data is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadProgress {
    /// What is being done.
    pub stage: ReadStage,
    /// The share of it that is done.
    pub done: f64,
}

/// What is done with large data while they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStage {
    /// The first pass.
    Labels,
    /// The second pass.
    Cells,
    /// Rows are sorted by their labels.
    Sorting,
}

impl ReadStage {
    /// In one or two words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "reading labels",
            Self::Cells => "reading cells",
            Self::Sorting => "sorting cells",
        }
    }
}

/// Reads a file, all files of a folder, or all that match a pattern such as `part-*.parquet`, and tells what the
/// columns were taken for. What is more than the memory holds is packed; `storage` says where it is kept then.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("quadfill-parts-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::fs::write(folder.join("part-0.csv"), "user,film,stars\nann,Heat,4\n")?;
/// # std::fs::write(folder.join("part-1.csv"), "user,film,stars\nbob,Heat,5\n")?;
/// let pattern = folder.join("part-*.csv");
/// let (data, _) = quadfill_io::read_data(&pattern, &Default::default(), None, &mut |_| ())?;
/// assert_eq!(data.sizes(), vec![2, 1]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_data(
    source: impl AsRef<Path>,
    options: &ReadOptions,
    storage: Option<Storage>,
    progress: &mut dyn FnMut(ReadProgress),
) -> Result<(Data, Option<ColumnRoles>)> {
    let source = source.as_ref();
    let files =
        if source.as_os_str() == "-" { vec![source.to_owned()] } else { data_files(source)? };
    if files.len() == 1 && !may_be_large(&files[0], options) {
        return read_with_roles(&files[0], options).map(|(data, roles)| (data.into(), roles));
    }
    let parts = Parts { files, options, storage };
    let (data, roles) = parts.read(progress)?;
    let fits = Storage::rows_fit(data.len(), data.modes().len());
    Ok((if fits { data.unpack().into() } else { data.into() }, roles))
}

/// Whether a file has more rows than there is room for as they are.
fn may_be_large(file: &Path, options: &ReadOptions) -> bool {
    // A row has four bytes or more, and packed archives are read whole anyway.
    const FEW: u64 = 1 << 28;
    let is_big = std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() >= FEW);
    let format = options.format.map_or_else(|| Format::of_name(file), Ok);
    let has_rows = matches!(format, Ok(Format::Delimited | Format::Tns | Format::Parquet));
    is_big
        && has_rows
        && Part::open(file, options)
            .is_ok_and(|part| !Storage::rows_fit(part.rows(), part.columns().count.clamp(2, 8)))
}

/// The files and how they are read.
struct Parts<'a> {
    files: Vec<PathBuf>,
    options: &'a ReadOptions,
    storage: Option<Storage>,
}

/// What the first pass finds out.
struct Contents {
    seen: Vec<Seen>,
    values: FewNumbers,
    weights: Option<FewNumbers>,
    /// Rows of each part.
    rows: Vec<usize>,
}

/// What a piece says about values and weights.
struct Numbers {
    values: FewNumbers,
    weights: Option<FewNumbers>,
}

impl Numbers {
    fn of(piece: &Piece) -> Self {
        let few = |numbers: &[f64]| {
            let mut few = FewNumbers::default();
            few.add(numbers);
            few
        };
        Self { values: few(&piece.values), weights: piece.weights.as_deref().map(few) }
    }
}

impl Parts<'_> {
    fn name(&self) -> String {
        match &self.files[..] {
            [file] => file.display().to_string(),
            [first, .., last] => format!("{} .. {}", first.display(), last.display()),
            [] => String::new(),
        }
    }

    fn read(
        &self,
        progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<(PackedObservations, Option<ColumnRoles>)> {
        let first = Part::open(&self.files[0], self.options)?;
        let facts = first.facts();
        let columns = first.columns();
        let mut roles = Roles::find(columns, self.options, &facts)?;
        let is_tns = facts.is_empty();
        if is_tns {
            roles.labels_are_indices();
        }
        let contents = self.look_through(&first, &roles, progress)?;
        let data = self.pack(&first, &roles, contents, progress)?;
        let data = data.with_source(roles.source(columns.names));
        let described =
            (!is_tns).then(|| roles.describe(columns, self.options, &facts, data.modes()));
        Ok((data, described))
    }

    /// The first pass.
    fn look_through(
        &self,
        first: &Part,
        roles: &Roles,
        progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<Contents> {
        let mut are_texts = vec![false; roles.modes.len()];
        // Again, where a mode turns out to have labels that are not numbers.
        loop {
            match self.look_through_once(first, roles, &are_texts, progress)? {
                Ok(contents) => return Ok(contents),
                Err(mode) => are_texts[mode] = true,
            }
        }
    }

    fn look_through_once(
        &self,
        first: &Part,
        roles: &Roles,
        are_texts: &[bool],
        progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<std::result::Result<Contents, usize>> {
        let seen = roles.modes.iter().zip(are_texts).map(|(mode, are_texts)| match mode.bins {
            Some(_) => Seen::times(),
            None if *are_texts => Seen::texts(),
            None => Seen::numbers(),
        });
        let mut contents = Contents {
            seen: seen.collect(),
            values: FewNumbers::default(),
            weights: roles.weighted.then(FewNumbers::default),
            rows: Vec::new(),
        };
        let mut text_mode = None;
        self.each_piece(
            first,
            roles,
            |piece| Ok((Numbers::of(&piece), piece)),
            |part, (numbers, piece), done| {
                contents.rows.resize(part + 1, 0);
                let is_first = contents.rows.iter().all(|&rows| rows == 0);
                contents.rows[part] += piece.values.len();
                contents.values.join(&numbers.values);
                if let (Some(all), Some(some)) = (&mut contents.weights, &numbers.weights) {
                    all.join(some);
                }
                for (mode, (seen, column)) in contents.seen.iter_mut().zip(piece.modes).enumerate()
                {
                    if text_mode.is_none()
                        && let Err(TextAfterNumbers) = seen.add(column, is_first)
                    {
                        text_mode = Some(mode);
                    }
                }
                progress(ReadProgress { stage: ReadStage::Labels, done });
                Ok(text_mode.is_none())
            },
        )?;
        Ok(text_mode.map_or(Ok(contents), Err))
    }

    /// The second pass.
    fn pack(
        &self,
        first: &Part,
        roles: &Roles,
        contents: Contents,
        progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<PackedObservations> {
        let Contents { seen, values, weights, rows } = contents;
        let total = rows.iter().sum();
        if total == 0 {
            return Err(ReadError::Empty { file: self.name() });
        }
        let mut modes = Vec::with_capacity(seen.len());
        for (plan, seen) in roles.modes.iter().zip(seen) {
            let (labels, bins) = match (plan.bins, seen) {
                (Some(size), Seen::Times(span)) => {
                    let bins = bins::resolve(&self.name(), size, span, plan.unit)?;
                    (self.bin_labels(&bins, span)?, Some(bins))
                }
                (_, seen) => (seen.into_labels(), None),
            };
            modes.push(Mode { name: plan.name.clone(), labels, bins });
        }
        let explain_data = |source| ReadError::Data { file: self.name(), source };
        let mut builder = PackedBuilder::new(modes.clone(), values, weights, total, self.storage)
            .map_err(explain_data)?;
        let lookups: Vec<(LabelLookup<'_>, Option<Binning>)> =
            modes.iter().map(|mode| (mode.labels.lookup(), mode.bins)).collect();
        self.each_piece(
            first,
            roles,
            |piece| {
                let Piece { modes, values, weights } = piece;
                let columns = modes.into_iter().zip(&lookups);
                let columns: Vec<Vec<u32>> =
                    columns.map(|(column, way)| indices(column, way)).collect();
                Ok((columns, values, weights))
            },
            |_, (columns, values, weights), done| {
                builder.push(&columns, &values, weights.as_deref()).map_err(explain_data)?;
                progress(ReadProgress { stage: ReadStage::Cells, done });
                Ok(true)
            },
        )?;
        drop(lookups);
        progress(ReadProgress { stage: ReadStage::Sorting, done: 0.0 });
        builder.finish(self.options.on_duplicate).map_err(|error| {
            explain(&self.name(), error, |twice| twice.map(|row| self.locate(&rows, row)))
        })
    }

    /// All bins from the first time to the last; those that have no rows are left out in the end.
    fn bin_labels(&self, bins: &Binning, span: bins::Span) -> Result<Labels> {
        const MOST: u32 = 1 << 27;
        match bins.bin(span.last) {
            Some(last) if last < MOST => Ok(Labels::range(last as usize + 1)),
            _ => Err(ReadError::TooManyBins {
                file: self.name(),
                first: span.first,
                last: span.last,
                width: bins.width,
            }),
        }
    }

    /// Reads all parts. `take` is told the number of the part, and the share of all that is done; it ends the
    /// reading by returning false.
    fn each_piece<R: Send>(
        &self,
        first: &Part,
        roles: &Roles,
        convert: impl Fn(Piece) -> Result<R> + Sync,
        mut take: impl FnMut(usize, R, f64) -> Result<bool>,
    ) -> Result<()> {
        let parts = self.files.len() as f64;
        let mut goes_on = true;
        for (number, path) in self.files.iter().enumerate() {
            if !goes_on {
                break;
            }
            let (other, of_other);
            let (part, roles) = if number == 0 {
                (first, roles)
            } else {
                other = Part::open(path, self.options)?;
                of_other = other.roles_like(first, roles)?;
                (&other, &of_other)
            };
            part.read(roles, self.options, &convert, |piece, done| {
                goes_on = take(number, piece, (number as f64 + done) / parts)?;
                Ok(goes_on)
            })?;
        }
        Ok(())
    }

    /// Where a row of all stands.
    fn locate(&self, rows: &[usize], mut row: usize) -> RowPosition {
        for (path, &rows) in self.files.iter().zip(rows) {
            if row < rows {
                let file = path.display().to_string();
                return match Part::open(path, self.options) {
                    Ok(part) => part.position(row),
                    Err(_) => RowPosition { file, at: format!("row {}", row + 1) },
                };
            }
            row -= rows;
        }
        RowPosition { file: self.name(), at: format!("row {}", row + 1) }
    }
}

/// The label indices of a column.
fn indices(column: ModeColumn, (lookup, bins): &(LabelLookup<'_>, Option<Binning>)) -> Vec<u32> {
    match (column, bins) {
        (ModeColumn::Labels(column), _) => indices_of(column, lookup),
        (ModeColumn::Times(times), Some(bins)) => bins_of(vec![times], bins),
        (ModeColumn::Times(_) | ModeColumn::Bins(..), _) => {
            unreachable!("times have bins, which are not known beforehand")
        }
    }
}
