//! Bins as the readers and as model files write them.

use quadfill::observations::Binning as Stored;
use quadfill_io::Binning;

pub(super) fn for_storing(bins: &[Binning]) -> Vec<Stored> {
    let store = |bin: &Binning| Stored {
        mode: bin.mode.clone(),
        origin: bin.origin,
        width: bin.width,
        count: bin.count,
    };
    bins.iter().map(store).collect()
}

pub(super) fn for_reading(bins: &[Stored]) -> Vec<Binning> {
    let read = |bin: &Stored| Binning {
        mode: bin.mode.clone(),
        origin: bin.origin,
        width: bin.width,
        count: bin.count,
    };
    bins.iter().map(read).collect()
}
