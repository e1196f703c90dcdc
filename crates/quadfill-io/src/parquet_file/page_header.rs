//! The pages of a column, and what the header of each claims.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::claims::wrong;
use super::thrift::{INTEGER, STRUCT, Thrift};

/// The number of the encoding in which every text may repeat the start of the one before it.
const DELTA_BYTE_ARRAY: i32 = 7;

/// What a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Dictionary,
    /// Levels and values packed together.
    Data,
    /// Levels in front of the packed values.
    DataV2,
}

/// What the header of a page claims.
#[derive(Debug)]
pub(super) struct PageHeader {
    /// `None` for kinds of pages that hold no values.
    pub kind: Option<PageKind>,
    /// How many bytes the page takes in the file.
    pub stored: usize,
    pub unpacked: usize,
    /// Entries of a dictionary.
    pub entries: Option<usize>,
    pub values: usize,
    /// The number of the encoding of the values.
    pub encoding: i32,
    pub level_encoding: i32,
    /// Bytes of levels in front of the packed values.
    pub level_bytes: usize,
    pub repetition_bytes: usize,
    /// Whether the values are packed with the codec of the column.
    pub is_packed: bool,
    number: i32,
    length: usize,
}

impl PageHeader {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut page = Self {
            kind: None,
            stored: 0,
            unpacked: 0,
            entries: None,
            values: 0,
            encoding: 0,
            level_encoding: 0,
            level_bytes: 0,
            repetition_bytes: 0,
            is_packed: true,
            number: -1,
            length: 0,
        };
        let mut thrift = Thrift::new(bytes);
        thrift.fields(|header, field, kind| match (field, kind) {
            (1, INTEGER) => {
                page.number = header.integer()?;
                Some(())
            }
            (2, INTEGER) => set(&mut page.unpacked, header),
            (3, INTEGER) => set(&mut page.stored, header),
            // The headers of data pages of both versions, and that of a dictionary.
            (5, STRUCT) => page.read_kind(header, PageKind::Data),
            (7, STRUCT) => page.read_kind(header, PageKind::Dictionary),
            (8, STRUCT) => page.read_kind(header, PageKind::DataV2),
            (2 | 3 | 5 | 7 | 8, _) => None,
            _ => header.skip(kind),
        })?;
        page.length = thrift.at();
        let number = match page.kind {
            Some(PageKind::Data) => 0,
            Some(PageKind::Dictionary) => 2,
            Some(PageKind::DataV2) => 3,
            None => page.number,
        };
        if number != page.number {
            page.kind = None;
        }
        Some(page)
    }

    fn read_kind(&mut self, header: &mut Thrift<'_>, of: PageKind) -> Option<()> {
        use PageKind::{Data, DataV2, Dictionary};
        self.kind = Some(of);
        header.fields(|header, field, kind| match (of, field, kind) {
            (Dictionary, 1, INTEGER) => set(self.entries.get_or_insert(0), header),
            (_, 1, INTEGER) => set(&mut self.values, header),
            (_, 1, _) => None,
            (Data | Dictionary, 2, INTEGER) | (DataV2, 4, INTEGER) => {
                self.encoding = header.integer()?;
                Some(())
            }
            (Data, 3, INTEGER) => {
                self.level_encoding = header.integer()?;
                Some(())
            }
            (DataV2, 5, INTEGER) => set(&mut self.level_bytes, header),
            (DataV2, 6, INTEGER) => set(&mut self.repetition_bytes, header),
            (DataV2, 7, truth) => {
                self.is_packed = truth == 1;
                header.skip(truth)
            }
            _ => header.skip(kind),
        })
    }

    /// Whether its texts may be far longer than what is stored.
    pub(super) fn repeats_starts(&self) -> bool {
        self.encoding == DELTA_BYTE_ARRAY
    }
}

fn set(size: &mut usize, header: &mut Thrift<'_>) -> Option<()> {
    *size = usize::try_from(header.integer()?).ok()?;
    Some(())
}

/// The pages of a column one after the other, with what the file holds of each.
pub(super) struct Pages<'a> {
    rest: &'a [u8],
}

impl<'a> Pages<'a> {
    pub(super) fn new(
        file: &'a Bytes,
        column: &ColumnChunkMetaData,
    ) -> std::result::Result<Self, ParquetError> {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        usize::try_from(start)
            .ok()
            .zip(usize::try_from(column.compressed_size()).ok())
            .and_then(|(start, length)| file.get(start..start.checked_add(length)?))
            .map(|rest| Self { rest })
            .ok_or_else(|| wrong("a column is outside of the file"))
    }
}

impl<'a> Iterator for Pages<'a> {
    type Item = std::result::Result<(PageHeader, &'a [u8]), ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let page = PageHeader::read(self.rest).and_then(|header| {
            let (stored, rest) = self.rest[header.length..].split_at_checked(header.stored)?;
            self.rest = rest;
            Some((header, stored))
        });
        Some(page.ok_or_else(|| wrong("the header of a page is damaged")))
    }
}
