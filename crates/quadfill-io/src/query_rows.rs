//! The rows of a query as they stand in its file, field by field.

use std::borrow::Cow;

use crate::delimited::{Delimiter, TextLayout, each_row};
use crate::source::Bytes;

/// The columns of a query, kept in the shape they were read in.
#[derive(Debug)]
pub(crate) enum QueryRows {
    /// Lines of text, cut into fields again when they are asked for.
    Text(TextRows),
    /// Columns of files that are not text.
    Columns {
        /// Their names.
        names: Vec<String>,
        /// Their fields.
        columns: Vec<QueryColumn>,
    },
}

/// One column of a query that was not text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum QueryColumn {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Other numbers.
    Reals(Vec<f64>),
    /// Texts.
    Texts(Vec<Box<str>>),
}

/// Columns with their names.
#[derive(Debug)]
pub(crate) struct NamedColumns {
    pub names: Vec<String>,
    pub columns: Vec<QueryColumn>,
    /// How many seconds one unit of each column is, where the file says that it holds times.
    pub seconds_per_unit: Vec<Option<f64>>,
}

impl QueryColumn {
    /// How many fields it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(fields) => fields.len(),
            Self::Reals(fields) => fields.len(),
            Self::Texts(fields) => fields.len(),
        }
    }

    /// One field as text.
    ///
    /// # Panics
    /// If `row` is not below [`len`](Self::len).
    pub(crate) fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Self::Integers(fields) => Cow::Owned(fields[row].to_string()),
            Self::Reals(fields) => Cow::Owned(fields[row].to_string()),
            Self::Texts(fields) => Cow::Borrowed(&fields[row]),
        }
    }
}

/// The text of a query.
#[derive(Debug)]
pub(crate) struct TextRows {
    pub(crate) names: Vec<String>,
    pub(crate) bytes: Bytes,
    pub(crate) layout: TextLayout,
}

impl QueryRows {
    /// The names of the columns; those of the model where the file has none.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Text(text) => &text.names,
            Self::Columns { names, .. } => names,
        }
    }

    /// What separated the fields, for text.
    pub(crate) fn delimiter(&self) -> Option<&Delimiter> {
        match self {
            Self::Text(text) => Some(&text.layout.delimiter),
            Self::Columns { .. } => None,
        }
    }

    /// Hands each row's fields to `row`, in order, until it returns an error.
    pub(crate) fn for_each<E>(
        &self,
        mut row: impl FnMut(&[Cow<'_, str>]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Text(text) => text.for_each(row),
            Self::Columns { columns, .. } => {
                let rows = columns.first().map_or(0, QueryColumn::len);
                let mut fields = Vec::with_capacity(columns.len());
                for position in 0..rows {
                    fields.clear();
                    fields.extend(columns.iter().map(|column| column.text(position)));
                    row(&fields)?;
                }
                Ok(())
            }
        }
    }
}

impl TextRows {
    fn for_each<E>(&self, mut row: impl FnMut(&[Cow<'_, str>]) -> Result<(), E>) -> Result<(), E> {
        each_row(&self.bytes, &self.layout, |fields| {
            let texts: Vec<Cow<'_, str>> =
                fields.iter().map(|field| String::from_utf8_lossy(field)).collect();
            row(&texts)
        })
    }
}
