//! What the top of a text says about all of it: delimiter, header, number of fields.

use memchr::memchr;

use super::delimiter::Delimiter;
use super::rows::{Problem, Records, RowProblem, RowProblemKind, line_of, without_carriage_return};
use crate::error::{ReadError, Result};
use crate::escape::{escape, list};
use crate::number::trim;
use crate::options::{ColumnRef, ReadOptions};

/// How the rows of a text are cut into fields.
#[derive(Debug, Clone)]
pub(crate) struct TextLayout {
    pub delimiter: Delimiter,
    /// How many fields every row has.
    pub fields: usize,
    pub header: Option<Vec<String>>,
    /// Where the first line below the header begins.
    pub data_start: usize,
    /// Whether fields may be quoted; then lines are not rows.
    pub quoted: bool,
    /// Whether lines that begin with `#` or `%` are left out.
    pub comments: bool,
}

impl TextLayout {
    /// Looks at the first rows. `is_header` judges the first one if the options do not.
    pub(crate) fn find(
        file: &str,
        bytes: &[u8],
        options: &ReadOptions,
        comments: bool,
        is_header: impl FnOnce(&[&[u8]]) -> bool,
    ) -> Result<Self> {
        let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(ReadError::NotUtf8 { file: file.to_owned(), line: 1 });
        }
        let mut layout = Self {
            delimiter: Delimiter::Whitespace,
            fields: 0,
            header: None,
            data_start: start,
            quoted: false,
            comments,
        };
        let top = layout.first_lines(bytes, start);
        let Some(&(first_start, first_line)) = top.first() else {
            return Err(ReadError::Empty { file: file.to_owned() });
        };
        if !comments {
            layout.delimiter = match &options.delimiter {
                Some(text) => Delimiter::parse(text)
                    .ok_or_else(|| ReadError::EmptyDelimiter { file: file.to_owned() })?,
                None => Delimiter::sniff(&top.iter().map(|(_, line)| *line).collect::<Vec<_>>()),
            };
            // Only a delimiter of one character can tell a quote that opens from one in a text.
            layout.quoted = matches!(layout.delimiter, Delimiter::Byte(_))
                && memchr(b'"', &bytes[start..]).is_some();
        }

        let mut records;
        let mut first: Vec<&[u8]> = Vec::new();
        let below_first;
        if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
            records = Records::new(bytes, start, *delimiter);
            records.advance();
            first.extend(records.record.iter().map(trim));
            below_first = records.end();
        } else {
            let line = without_carriage_return(first_line);
            let _ = layout.delimiter.split(line, |_, text| {
                first.push(trim(text));
                Ok::<(), std::convert::Infallible>(())
            });
            below_first = (first_start + first_line.len() + 1).min(bytes.len());
        }
        layout.fields = first.len();
        if !comments && options.header.unwrap_or_else(|| is_header(&first)) {
            let names = first.iter().map(|name| std::str::from_utf8(name).map(str::to_owned));
            let names: std::result::Result<Vec<String>, _> = names.collect();
            layout.header = Some(names.map_err(|_| ReadError::NotUtf8 {
                file: file.to_owned(),
                line: line_of(bytes, first_start),
            })?);
            layout.data_start = below_first;
        }
        Ok(layout)
    }

    /// Up to twenty rows from the top with where they begin, for judging the delimiter.
    fn first_lines<'a>(&self, bytes: &'a [u8], mut start: usize) -> Vec<(usize, &'a [u8])> {
        let mut lines = Vec::new();
        while start < bytes.len() && lines.len() < 20 {
            let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            if !self.is_skipped(without_carriage_return(&bytes[start..end])) {
                lines.push((start, &bytes[start..end]));
            }
            start = end + 1;
        }
        lines
    }

    /// Whether a line is not a row.
    #[inline]
    pub(crate) fn is_skipped(&self, line: &[u8]) -> bool {
        match line.first() {
            None => true,
            Some(b' ' | b'\t') => {
                let text = trim(line);
                text.is_empty() || (self.comments && matches!(text[0], b'#' | b'%'))
            }
            Some(first) => self.comments && matches!(first, b'#' | b'%'),
        }
    }

    /// A column in a message: its name or its number.
    pub(crate) fn column_name(&self, column: usize) -> String {
        match self.header.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("`{}`", escape(name.as_bytes())),
            None => (column + 1).to_string(),
        }
    }

    /// The sentence for a text without rows.
    pub(crate) fn no_rows(&self, file: &str) -> ReadError {
        let file = file.to_owned();
        match self.header {
            Some(_) => ReadError::OnlyHeader { file },
            None => ReadError::Empty { file },
        }
    }

    /// The sentence for a row that stops the reading.
    pub(crate) fn explain(&self, file: &str, bytes: &[u8], problem: RowProblem) -> ReadError {
        let file = file.to_owned();
        let line = line_of(bytes, problem.offset);
        let at = format!("line {line}");
        match problem.kind {
            RowProblemKind::Ragged { got } => ReadError::Ragged {
                file,
                line,
                expected: self.fields,
                got,
                delimiter: self.delimiter.describe(),
            },
            RowProblemKind::OpenQuote => ReadError::OpenQuote { file, line },
            RowProblemKind::Field { column, text, problem } => {
                let column = self.column_name(column);
                let text = escape(trim(&text));
                match problem {
                    Problem::NotANumber => ReadError::NotANumber { file, at, column, text },
                    Problem::NotATime => ReadError::NotATime { file, at, column, text },
                    Problem::NotFinite => ReadError::NotFinite { file, at, column, text },
                    Problem::OutsideBins => ReadError::OutsideBins { file, at, column, text },
                    Problem::NegativeWeight => ReadError::NegativeWeight { file, at, text },
                    Problem::NoLabel => ReadError::NoLabel { file, at, column },
                    Problem::BadIndex => ReadError::BadIndex { file, line, column, text },
                    Problem::NotUtf8 => ReadError::NotUtf8 { file, line },
                }
            }
        }
    }
}

/// The position of a column among `names`, or by its number among `count`.
pub(crate) fn resolve(
    file: &str,
    column: &ColumnRef,
    names: Option<&[String]>,
    count: usize,
) -> Result<usize> {
    let by_name =
        names.and_then(|names| names.iter().position(|name| name.as_str() == column.text()));
    let by_number = || column.number().filter(|number| (1..=count).contains(number));
    by_name.or_else(|| by_number().map(|number| number - 1)).ok_or_else(|| {
        let available = match names {
            Some(names) => list(names),
            None => format!("1 to {count}, without names"),
        };
        ReadError::NoSuchColumn {
            file: file.to_owned(),
            column: escape(column.text().as_bytes()),
            available,
        }
    })
}
