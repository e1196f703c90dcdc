//! Calls into the Parquet decoder, which asserts what a damaged file may break.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use parquet::errors::ParquetError;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call of the decoder; a panic inside becomes an error, without a word on standard error.
pub(crate) fn guarded<R>(
    call: impl FnOnce() -> Result<R, ParquetError>,
) -> Result<R, ParquetError> {
    silence_guarded_panics();
    let before = GUARDED.replace(true);
    // What the panic leaves half done is dropped with the error and never looked at.
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(before);
    result.unwrap_or_else(|_| Err(ParquetError::General("its contents are damaged".to_owned())))
}

/// Panics outside of guarded calls are reported as before.
fn silence_guarded_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                report(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let result = guarded(|| -> Result<(), ParquetError> { panic!("broken assertion") });
        let error = result.expect_err("it panicked").to_string();
        assert_eq!(error, "Parquet error: its contents are damaged");
        assert!(guarded(|| Ok(1)).is_ok());
    }
}
