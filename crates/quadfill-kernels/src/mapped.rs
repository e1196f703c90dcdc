//! Memory-mapped files.

use std::fs::File;
use std::io;
use std::ops::Deref;

/// The bytes of a file, paged in by the system on access.
///
/// The file must not be truncated while it is mapped: the system terminates a process that accesses
/// pages that no longer exist.
#[derive(Debug)]
pub struct MappedFile(memmap2::Mmap);

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps a regular, non-empty file.
///
/// ```
/// let path = std::env::temp_dir().join(format!("quadfill-mapped-{}", std::process::id()));
/// std::fs::write(&path, b"1 2 3")?;
/// let bytes = quadfill_kernels::mapped::map_file(&std::fs::File::open(&path)?)?;
/// assert_eq!(&bytes[..], b"1 2 3");
/// # drop(bytes);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn map_file(file: &File) -> io::Result<MappedFile> {
    // SAFETY: the mapping is read-only. If another process changes the file, the bytes change too,
    // but every reader treats them as untrusted anyway; if it truncates the file, this process is
    // terminated on access, as documented on `MappedFile`.
    let map = unsafe { memmap2::Mmap::map(file)? };
    Ok(MappedFile(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_cannot_be_mapped() {
        let directory = File::open(std::env::temp_dir()).expect("the temporary directory opens");
        assert!(map_file(&directory).is_err());
    }
}
