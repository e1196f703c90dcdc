//! The rows of a query as they stand in its file, field by field.

use std::borrow::Cow;

use crate::delimited::{Delimiter, Records, TextLayout, without_carriage_return};
use crate::source::Bytes;

/// The columns of a query, kept in the shape they were read in.
#[derive(Debug)]
#[non_exhaustive]
pub enum QueryRows {
    /// Lines of text, cut into fields again when they are asked for.
    Text(TextRows),
}

/// The text of a query.
#[derive(Debug)]
pub struct TextRows {
    pub(crate) names: Vec<String>,
    pub(crate) bytes: Bytes,
    pub(crate) layout: TextLayout,
}

impl QueryRows {
    /// The names of the columns; those of the model where the file has none.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Text(text) => &text.names,
        }
    }

    /// What separated the fields, for text.
    pub fn delimiter(&self) -> Option<&Delimiter> {
        match self {
            Self::Text(text) => Some(&text.layout.delimiter),
        }
    }

    /// Hands each row's fields to `row`, in order, until it returns an error.
    pub fn for_each<E>(&self, row: impl FnMut(&[Cow<'_, str>]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Text(text) => text.for_each(row),
        }
    }
}

impl TextRows {
    fn for_each<E>(&self, mut row: impl FnMut(&[Cow<'_, str>]) -> Result<(), E>) -> Result<(), E> {
        let (bytes, layout) = (&self.bytes[..], &self.layout);
        if let (true, Delimiter::Byte(delimiter)) = (layout.quoted, &layout.delimiter) {
            let mut records = Records::new(bytes, layout.data_start, *delimiter);
            while records.advance().is_some() {
                let fields: Vec<Cow<'_, str>> =
                    records.record.iter().map(String::from_utf8_lossy).collect();
                row(&fields)?;
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
                fields.push(String::from_utf8_lossy(text));
                Ok(())
            })?;
            row(&fields)?;
        }
        Ok(())
    }
}
