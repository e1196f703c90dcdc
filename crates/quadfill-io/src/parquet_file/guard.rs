//! Calls into the Parquet decoder, which asserts what a damaged file may break.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

/// Runs a call of the decoder; a panic inside becomes an error.
///
/// What is known to make it panic is refused before. Whatever is left is reported by the panic hook
/// of the program first, which is the program's to set.
pub(crate) fn guarded<R>(
    call: impl FnOnce() -> Result<R, ParquetError>,
) -> Result<R, ParquetError> {
    // What the panic leaves half done is dropped with the error and never looked at.
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(ParquetError::General("its contents are damaged".to_owned())))
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
