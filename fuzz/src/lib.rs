//! What every fuzz target does with its bytes: read them as data and as a query.

use quadfill::{Labels, Mode, OnDuplicate};
use quadfill_io::{Binning, Format, QueryValues, ReadOptions, read_bytes, read_query_bytes};

/// Reads bytes in a format; whatever they are, the answer is data or an error.
pub fn read_anything(format: Format, bytes: &[u8]) {
    let options = ReadOptions {
        format: Some(format),
        on_duplicate: OnDuplicate::Last,
        ..ReadOptions::default()
    };
    if let Err(error) = read_bytes::<f32>("fuzz", bytes, &options) {
        assert!(!error.to_string().contains('\n'), "a message is one line");
    }
    let modes = [
        Mode::new("user", Labels::range(3)),
        Mode::new("film", Labels::from_names(["Heat", "Up"])),
        Mode::new("time", Labels::range(2)),
    ];
    let bins = [Binning { mode: "time".into(), origin: 0.0, width: 10.0, count: Some(2) }];
    for values in [QueryValues::Ignored, QueryValues::Required] {
        let query = read_query_bytes("fuzz", bytes.to_vec(), &options, &modes, &bins, values);
        if let Ok(query) = query {
            let mut rows = 0;
            let Ok(()) = query.rows.for_each(|_| {
                rows += 1;
                Ok::<(), std::convert::Infallible>(())
            });
            assert_eq!(rows, query.len(), "every row comes back");
        }
    }
}
