//! What every fuzz target does with its bytes: read them as data and as a query.

use quadfill::observations::{Binning, TimeUnit};
use quadfill::{Labels, Mode, OnDuplicate};
use quadfill_io::{Format, QueryValues, ReadOptions, read_bytes, read_query_bytes};

/// Reads bytes in a format; whatever they are, the answer is data or an error.
pub fn read_anything(format: Format, bytes: &[u8]) {
    let options = ReadOptions {
        format: Some(format),
        on_duplicate: OnDuplicate::Last,
        ..ReadOptions::default()
    };
    if let Err(error) = read_bytes("fuzz", bytes, &options) {
        assert!(!error.to_string().contains('\n'), "a message is one line");
    }
    let modes = [
        Mode::new("user", Labels::range(3)),
        Mode::new("film", Labels::from_names(["Heat", "Up"])),
        Mode {
            bins: Some(Binning { origin: 0.0, width: 10.0, count: Some(2), unit: TimeUnit::Number }),
            ..Mode::new("time", Labels::range(2))
        },
    ];
    for values in [QueryValues::Ignored, QueryValues::Required] {
        let query = read_query_bytes("fuzz", bytes.to_vec(), &options, &modes, values);
        if let Ok(query) = query {
            let mut rows = 0;
            let Ok(()) = query.for_each_row(|_| {
                rows += 1;
                Ok::<(), std::convert::Infallible>(())
            });
            assert_eq!(rows, query.len(), "every row comes back");
        }
    }
}
