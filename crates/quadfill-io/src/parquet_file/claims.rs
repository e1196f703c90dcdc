//! What a Parquet file claims about itself, held against its length before the decoder trusts it.
//!
//! The decoder makes room for whatever a header says. A damaged header may say gigabytes in a file
//! of a thousand bytes, so every claimed size is bounded here by the bytes that are there.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::page_header::Pages;
use super::thrift::{INTEGER, LIST, STRUCT, Thrift};

/// How many bytes one stored byte may stand for, far above what packing gains on
/// data that differ.
const MAX_RATIO: usize = 1024;
/// What small files may claim in bytes however well they are packed, and what is held at a time.
const MIN_LIMIT: usize = 1 << 24;
/// What a field takes in memory at the least.
const BYTES_PER_FIELD: usize = 4;

/// Whether `stored` bytes may stand for so many bytes.
pub(super) fn may_unpack(stored: usize, claimed: usize) -> bool {
    claimed <= MIN_LIMIT.max(stored.saturating_mul(MAX_RATIO))
}

/// The footer's tree of columns: no branch may claim more children than there are columns.
pub(super) fn check_schema(file: &[u8]) -> Result<(), ParquetError> {
    let Some((rest, [l0, l1, l2, l3, b'P', b'A', b'R', b'1'])) = file.split_last_chunk::<8>()
    else {
        // The decoder has a better sentence for files that are not Parquet files at all.
        return Ok(());
    };
    let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]) as usize;
    let Some(start) = rest.len().checked_sub(length) else {
        return Ok(());
    };
    let mut max_children = 0;
    let mut columns = 0;
    let parsed = Thrift::new(&rest[start..]).fields(|footer, field, kind| match (field, kind) {
        (2, LIST) => {
            let (kind, count) = footer.list()?;
            columns = count;
            (0..count).try_for_each(|_| {
                if kind != STRUCT {
                    return None;
                }
                footer.fields(|element, field, kind| match (field, kind) {
                    (5, INTEGER) => {
                        max_children = max_children.max(usize::try_from(element.integer()?).ok()?);
                        Some(())
                    }
                    (5, _) => None,
                    _ => element.skip(kind),
                })
            })
        }
        (2, _) => None,
        _ => footer.skip(kind),
    });
    match parsed {
        Some(()) if max_children <= columns => Ok(()),
        _ => Err(wrong("its footer is damaged")),
    }
}

/// The numbers of rows: fields that the file cannot hold are refused.
pub(super) fn check_rows(metadata: &ParquetMetaData, stored: usize) -> Result<(), ParquetError> {
    let mut fields = 0usize;
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows())
            .map_err(|_| wrong("it claims a negative number of rows"))?;
        fields = fields.saturating_add(rows.saturating_mul(group.num_columns()));
    }
    if may_unpack(stored, fields.saturating_mul(BYTES_PER_FIELD)) {
        Ok(())
    } else {
        Err(wrong(&format!("it claims {fields} fields in {stored} bytes")))
    }
}

/// The pages of a column in a group of `rows` rows, header by header.
///
/// Returns how many fields may be decoded at a time.
pub(super) fn check_pages(
    file: &Bytes,
    column: &ColumnChunkMetaData,
    rows: usize,
) -> Result<usize, ParquetError> {
    let mut batch_limit = usize::MAX;
    for page in Pages::new(file, column)? {
        let (page, _) = page?;
        let fits = may_unpack(page.stored, page.unpacked)
            // Every entry of a dictionary takes a byte or more.
            && page.entries.is_none_or(|entries| entries <= page.unpacked)
            && page.values <= rows;
        if !fits {
            return Err(wrong(&format!("a page claims more than its {} bytes hold", page.stored)));
        }
        if page.repeats_starts() {
            batch_limit = batch_limit.min((4 * MIN_LIMIT / page.unpacked.max(1)).max(1));
        }
    }
    Ok(batch_limit)
}

pub(super) fn wrong(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}
