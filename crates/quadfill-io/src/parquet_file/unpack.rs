//! Packed pages, unpacked into one buffer that is used again and again.

use parquet::basic::Compression;
use snap::raw::Decoder as Snappy;
use zstd::bulk::Decompressor as Zstd;

use super::page_header::{PageHeader, PageKind};

/// How the pages of a column are packed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Codec {
    None,
    Snappy,
    Zstd,
}

impl Codec {
    pub(super) fn of(compression: Compression) -> Option<Self> {
        match compression {
            Compression::UNCOMPRESSED => Some(Self::None),
            Compression::SNAPPY => Some(Self::Snappy),
            Compression::ZSTD(_) => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The buffer and the state of the decoders.
#[derive(Default)]
pub(super) struct Unpacker {
    buffer: Vec<u8>,
    snappy: Snappy,
    zstd: Option<Zstd<'static>>,
}

/// A page as it was before it was packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unpacked<'a> {
    /// The definition levels in front of the packed values; none if they are among those.
    pub levels: Option<&'a [u8]>,
    pub values: &'a [u8],
}

impl Unpacker {
    /// Unpacks a page whose claims were checked; `None` if it is damaged.
    pub(super) fn unpack<'a>(
        &'a mut self,
        codec: Codec,
        header: &PageHeader,
        stored: &'a [u8],
    ) -> Option<Unpacked<'a>> {
        let (levels, stored, length) = if header.kind == Some(PageKind::DataV2) {
            let bytes = header.repetition_bytes.checked_add(header.level_bytes)?;
            let (levels, stored) = stored.split_at_checked(bytes)?;
            (levels.get(header.repetition_bytes..), stored, header.unpacked.checked_sub(bytes)?)
        } else {
            (None, stored, header.unpacked)
        };
        let codec = if header.is_packed { codec } else { Codec::None };
        let values = match codec {
            Codec::None => stored,
            // A page of nulls has nothing to pack.
            _ if length == 0 => &[],
            Codec::Snappy => {
                self.buffer.resize(length, 0);
                let unpacked = self.snappy.decompress(stored, &mut self.buffer).ok()?;
                self.buffer.get(..unpacked)?
            }
            Codec::Zstd => {
                self.buffer.clear();
                self.buffer.reserve(length);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(Zstd::new().ok()?),
                };
                zstd.decompress_to_buffer(stored, &mut self.buffer).ok()?;
                &self.buffer
            }
        };
        (values.len() == length).then_some(Unpacked { levels, values })
    }
}
