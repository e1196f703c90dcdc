//! Files seen as bytes without copying them.

use std::fs::File;
use std::io;
use std::ops::Deref;

/// The bytes of a file, paged in by the system as they are touched.
///
/// The file must not be shortened while this is alive: the system ends a process that touches
/// pages that are gone.
#[derive(Debug)]
pub struct MappedFile(memmap2::Mmap);

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps a regular file that is not empty.
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
    // SAFETY: the map is read only and private to this process. Another process that changes the
    // file changes what is read, which every reader treats as untrusted bytes anyway; one that
    // shortens it ends this process, as documented on `MappedFile`.
    let map = unsafe { memmap2::Mmap::map(file)? };
    Ok(MappedFile(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_cannot_be_mapped() {
        let directory = File::open(std::env::temp_dir()).expect("the temporary folder opens");
        assert!(map_file(&directory).is_err());
    }
}
