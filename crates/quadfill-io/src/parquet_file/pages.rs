//! Pages on their way to the decoder, with the counts inside of them checked.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;

use super::claims::wrong;
use super::thrift::Thrift;

/// The pages of one column of a group.
///
/// Texts may be stored behind a list of their lengths, which has a count of its own that the
/// decoder makes room for; it must not be above the number of values of the page.
pub(super) struct CheckedPages {
    pub pages: Box<dyn PageReader>,
    /// Whether every page of the first version begins with definition levels.
    pub has_levels: bool,
}

impl CheckedPages {
    fn check(&self, page: &Page) -> Result<()> {
        let lists = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let mut bytes = self.after_levels(page);
        for _ in 0..lists {
            bytes = bytes.and_then(|bytes| after_lengths(bytes, page.num_values() as usize));
        }
        bytes.map(|_| ()).ok_or_else(|| wrong("a page claims more texts than it has values"))
    }

    /// What follows the definition levels.
    fn after_levels<'a>(&self, page: &'a Page) -> Option<&'a [u8]> {
        let bytes = &page.buffer()[..];
        match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len)?;
                bytes.get(levels as usize..)
            }
            Page::DataPage { .. } if self.has_levels => {
                let (length, rest) = bytes.split_first_chunk::<4>()?;
                rest.get(u32::from_le_bytes(*length) as usize..)
            }
            _ => Some(bytes),
        }
    }
}

/// What follows a list of delta-packed lengths that has at most `most` of them.
fn after_lengths(bytes: &[u8], most: usize) -> Option<&[u8]> {
    let mut head = Thrift::new(bytes);
    let block = usize::try_from(head.unsigned()?).ok()?;
    let parts = usize::try_from(head.unsigned()?).ok()?;
    let count = usize::try_from(head.unsigned()?).ok()?;
    let _first = head.unsigned()?;
    if count > most {
        return None;
    }
    let per_part = block.checked_div(parts).filter(|&lengths| lengths > 0)?;
    let mut left = count.saturating_sub(1);
    let mut rest = &bytes[head.at()..];
    while left > 0 {
        let mut head = Thrift::new(rest);
        let _smallest = head.unsigned()?;
        let (widths, packed) = rest[head.at()..].split_at_checked(parts)?;
        rest = packed;
        for &width in widths {
            if left > 0 {
                let bits = usize::from(width).checked_mul(per_part)?;
                // The last part may be cut off behind its last length.
                rest = rest.get(bits / 8..).unwrap_or_default();
                left = left.saturating_sub(per_part);
            }
        }
    }
    Some(rest)
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
