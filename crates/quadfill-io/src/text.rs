//! Plain text files, compressed as `.gz` or `.zst` or not at all.

use std::path::Path;

use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};
use crate::source::Source;

/// Reads a UTF-8 text file (or standard input for `-`), decompressing gzip and zstd. Returns the name
/// that messages use for it and its text.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-text-{}.txt", std::process::id()));
/// # std::fs::write(&path, "up down\n")?;
/// let (name, text) = quadfill_io::read_text(&path)?;
/// assert_eq!((name, text.as_str()), (path.display().to_string(), "up down\n"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_text(path: impl AsRef<Path>) -> Result<(String, String)> {
    let options = ReadOptions { format: Some(Format::Delimited), ..ReadOptions::default() };
    let source = Source::open(path.as_ref(), &options)?;
    match std::str::from_utf8(&source.bytes) {
        Ok(text) => Ok((source.name, text.to_owned())),
        Err(error) => {
            let before = &source.bytes[..error.valid_up_to()];
            let line = 1 + memchr::memchr_iter(b'\n', before).count();
            Err(ReadError::NotUtf8 { file: source.name, line })
        }
    }
}
