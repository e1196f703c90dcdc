//! Pages on their way to the decoder, with the counts and lengths inside of them checked: the decoder
//! makes room for what they claim, and panics where a text reaches past the end of its page.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;

use super::claims::wrong;
use super::thrift::Thrift;

/// The pages of one column of a group.
pub(super) struct CheckedPages {
    pub pages: Box<dyn PageReader>,
    pub physical: Physical,
    /// Whether every page of the first version begins with definition levels.
    pub has_levels: bool,
}

impl CheckedPages {
    fn check(&self, page: &Page) -> Result<()> {
        if self.physical != Physical::BYTE_ARRAY {
            return Ok(());
        }
        if let Page::DataPage { def_level_encoding, .. } = page
            && self.has_levels
            && *def_level_encoding != Encoding::RLE
        {
            // Levels of very old files have no length; the decoder must do without this check.
            return Ok(());
        }
        let values = page.num_values() as usize;
        let check = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => check_texts_behind_lengths,
            Encoding::DELTA_BYTE_ARRAY => check_texts_with_prefixes,
            Encoding::PLAIN => check_plain_texts,
            Encoding::PLAIN_DICTIONARY if matches!(page, Page::DictionaryPage { .. }) => {
                check_plain_texts
            }
            _ => return Ok(()),
        };
        // Texts that are null are not stored.
        let may_have_nulls = self.has_levels && page.is_data_page();
        match self.after_levels(page).and_then(|bytes| check(bytes, values)) {
            Some(texts) if texts == values || (may_have_nulls && texts < values) => Ok(()),
            _ => Err(wrong("the texts of a page do not fit into it")),
        }
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

/// Counts texts, at most `limit` of them, that are stored with their lengths before them.
fn check_plain_texts(mut bytes: &[u8], limit: usize) -> Option<usize> {
    let mut texts = 0;
    while texts < limit && !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        bytes = rest.get(u32::from_le_bytes(*length) as usize..)?;
        texts += 1;
    }
    Some(texts)
}

/// Counts texts that are stored behind a list of all lengths.
fn check_texts_behind_lengths(bytes: &[u8], limit: usize) -> Option<usize> {
    let (lengths, rest) = read_lengths(bytes, limit)?;
    let total = lengths
        .iter()
        .try_fold(0usize, |total, &length| total.checked_add(usize::try_from(length).ok()?))?;
    (total <= rest.len()).then_some(lengths.len())
}

/// Counts texts that share their beginnings with the text before them.
fn check_texts_with_prefixes(bytes: &[u8], limit: usize) -> Option<usize> {
    let (prefixes, rest) = read_lengths(bytes, limit)?;
    let texts = check_texts_behind_lengths(rest, limit)?;
    (texts == prefixes.len()).then_some(texts)
}

/// Delta-packed lengths, at most `limit` of them, and what follows them.
fn read_lengths(bytes: &[u8], limit: usize) -> Option<(Vec<i32>, &[u8])> {
    let mut head = Thrift::new(bytes);
    let block = usize::try_from(head.unsigned()?).ok()?;
    let parts = usize::try_from(head.unsigned()?).ok()?;
    let count = usize::try_from(head.unsigned()?).ok()?;
    let mut last = head.integer()?;
    let mut rest = &bytes[head.at()..];
    // Parts are whole numbers of 32 lengths, so that they end between bytes.
    let per_part = block.checked_div(parts).filter(|&lengths| lengths > 0 && lengths % 32 == 0)?;
    if count > limit {
        return None;
    }
    let mut lengths = Vec::with_capacity(count);
    if count > 0 {
        lengths.push(last);
    }
    while lengths.len() < count {
        let mut head = Thrift::new(rest);
        let smallest = head.integer()?;
        let (widths, packed) = rest[head.at()..].split_at_checked(parts)?;
        rest = packed;
        for &width in widths {
            if lengths.len() == count {
                break;
            }
            let width = usize::from(width);
            let (part, behind) = rest.split_at_checked(width.checked_mul(per_part / 8)?)?;
            for at in 0..per_part.min(count - lengths.len()) {
                let step = bits(part, at * width, width)?;
                last = last.wrapping_add(smallest).wrapping_add(step);
                lengths.push(last);
            }
            rest = behind;
        }
    }
    Some((lengths, rest))
}

/// The number of `width` bits, at most 32, that begins at a bit.
fn bits(bytes: &[u8], start: usize, width: usize) -> Option<i32> {
    if width > 32 {
        return None;
    }
    let bytes = &bytes[(start / 8).min(bytes.len())..];
    let mut word = [0; 8];
    let stored = bytes.len().min(word.len());
    word[..stored].copy_from_slice(&bytes[..stored]);
    let shifted = u64::from_le_bytes(word) >> (start % 8);
    Some((shifted & ((1 << width) - 1)) as u32 as i32)
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
