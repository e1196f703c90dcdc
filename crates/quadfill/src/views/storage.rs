//! Where the cells of views are kept, and which is chosen.

use serde::{Deserialize, Serialize};

use super::memory::{free_memory, total_memory};
use super::{PackedObservations, packed::Packing};
use crate::observations::Observations;
use quadfill_kernels::Real;
use quadfill_kernels::bits::bits_for;

/// How the cells of views are kept. It changes memory and time, and no result.
///
/// ```
/// use quadfill::solve::Choice;
/// use quadfill::{FitConfig, views::Storage};
/// let config = FitConfig { views: Choice::Fixed(Storage::Packed), ..FitConfig::default() };
/// assert!(config.check().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// As the kernels read them.
    Plain,
    /// In as few bits as the labels need, in memory. Values and weights of which at most 256 differ take a
    /// byte at most.
    Packed,
    /// The same in temporary files, of which the system keeps in memory what there is room for.
    Mapped,
}

/// Where the free memory is unknown, data beyond this many bytes are packed.
const LARGE: usize = 4 << 30;

impl Storage {
    /// The fastest storage for which there is room.
    pub(super) fn choose<T: Real>(data: &Observations) -> Self {
        Self::for_size(Size::of::<T>(data), free_memory())
    }

    /// The same for packed data.
    pub(super) fn choose_for_packed<T: Real>(data: &PackedObservations) -> Self {
        Self::for_size(Size::of_packed::<T>(data), free_memory())
    }

    /// Whether so many rows can be read and fitted as they are, in a share of the machine's memory that does not depend
    /// on what else runs.
    ///
    /// ```
    /// use quadfill::views::Storage;
    /// assert!(Storage::rows_fit(100_000, 3));
    /// assert!(!Storage::rows_fit(1 << 50, 3));
    /// ```
    pub fn rows_fit(rows: usize, modes: usize) -> bool {
        // Columns while they are read and put together, then views in double precision.
        let reading = 2 * (modes * size_of::<u32>() + size_of::<f64>());
        let views = modes * ((modes - 1) * size_of::<u32>() + size_of::<f64>());
        let limit = total_memory().map_or(LARGE, |total| total / 10 * 6);
        rows.saturating_mul(reading.max(views)) <= limit
    }

    /// Whether rows that are packed while they are read, and sorted, stay in memory.
    pub(super) fn choose_for_rows(rows: usize, packing: &Packing<f64>) -> Self {
        let of_numbers = packing.bits_of_numbers::<f64>();
        let bits = |labels: &usize| bits_for(*labels) + of_numbers;
        let modes = packing.sizes.len() as u32;
        let unsorted: u32 =
            packing.sizes.iter().map(|&labels| bits_for(labels)).sum::<u32>() + of_numbers;
        let first = unsorted - bits_for(packing.sizes[0]);
        let all: u32 = packing.sizes.iter().map(bits).sum::<u32>() + unsorted * (modes - 2);
        let bytes = rows / 8 * (unsorted + first).max(all) as usize;
        match free_memory() {
            Some(free) if bytes > free / 10 * 7 => Self::Mapped,
            _ => Self::Packed,
        }
    }

    fn for_size(size: Size, free: Option<usize>) -> Self {
        let Some(free) = free else {
            return if size.plain > LARGE { Self::Packed } else { Self::Plain };
        };
        // Factors, draws and a certificate need memory too.
        let room = free / 10 * 6;
        if size.plain <= room {
            Self::Plain
        } else if size.packed <= room {
            Self::Packed
        } else {
            Self::Mapped
        }
    }
}

/// Bytes of views.
#[derive(Debug, Clone, Copy)]
struct Size {
    plain: usize,
    /// If no table is short enough, while a plain view is packed.
    packed: usize,
}

impl Size {
    fn of<T: Real>(data: &Observations) -> Self {
        let (len, sizes) = (data.len(), data.sizes());
        let numbers = size_of::<T>() * (1 + usize::from(data.weights().is_some()));
        let plain = (sizes.len() - 1) * size_of::<u32>() + numbers;
        let bits: u32 = sizes.iter().map(|&labels| bits_for(labels)).sum();
        let packed = (sizes.len() - 1) * bits.div_ceil(8) as usize + sizes.len() * numbers;
        Self { plain: len * sizes.len() * plain, packed: len * (packed + plain) }
    }

    /// Of data whose first view is there already.
    fn of_packed<T: Real>(data: &PackedObservations) -> Self {
        let (len, sizes) = (data.len(), data.sizes());
        let numbers = 1 + usize::from(data.is_weighted());
        let plain = (sizes.len() - 1) * size_of::<u32>() + numbers * size_of::<T>();
        let of_numbers = data.packing.bits_of_numbers::<T>() as usize;
        let bits = |grouped_by: usize| {
            let others = sizes.iter().enumerate().filter(|&(mode, _)| mode != grouped_by);
            of_numbers + others.map(|(_, &labels)| bits_for(labels) as usize).sum::<usize>()
        };
        let packed: usize = (1..sizes.len()).map(bits).sum();
        Self { plain: len * sizes.len() * plain, packed: len / 8 * packed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_follows_the_room() {
        let size = Size { plain: 36 << 20, packed: 25 << 20 };
        let chosen = |free| Storage::for_size(size, free);
        assert_eq!(chosen(Some(100 << 20)), Storage::Plain);
        assert_eq!(chosen(Some(50 << 20)), Storage::Packed);
        assert_eq!(chosen(Some(20 << 20)), Storage::Mapped);
        assert_eq!(chosen(None), Storage::Plain);
        let large = Size { plain: 36 << 30, packed: 25 << 30 };
        assert_eq!(Storage::for_size(large, None), Storage::Packed);
    }
}
