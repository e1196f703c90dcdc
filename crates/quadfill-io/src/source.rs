//! From a path to bytes: files mapped, streams and archives read whole.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use quadfill_kernels::mapped::{MappedFile, map_file};

use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};

/// The bytes of a file, unpacked.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Bytes with the name that messages give them and the format to read them in.
#[derive(Debug)]
pub(crate) struct Source {
    pub name: String,
    pub bytes: Bytes,
    pub format: Format,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let named_format = match options.format {
            Some(format) => Some(format),
            None if is_stdin => None,
            None => Some(
                Format::of_name(path)
                    .map_err(|ending| ReadError::UnknownEnding { file: name.clone(), ending })?,
            ),
        };
        let packed = if is_stdin { read_whole(io::stdin().lock()) } else { open_file(path) }
            .map_err(|source| ReadError::Io { file: name.clone(), source })?;
        let promised = path.extension().and_then(|ending| ending.to_str());
        let bytes = unpack(&name, packed, promised)?;
        let format = named_format.unwrap_or_else(|| Format::of_bytes(&bytes));
        Ok(Self { name, bytes, format })
    }
}

fn open_file(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::other("this is a folder: name a file"));
    }
    if about.is_file() && about.len() > 0 {
        Ok(Bytes::Mapped(map_file(&file)?))
    } else {
        // Pipes have no length, and an empty file cannot be mapped.
        read_whole(file)
    }
}

fn read_whole(mut stream: impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(Bytes::Owned(bytes))
}

/// Decompresses gzip and zstd, recognised by their first bytes; `promised` is the ending of the name.
fn unpack(name: &str, packed: Bytes, promised: Option<&str>) -> Result<Bytes> {
    let kind = match (&packed[..], promised) {
        ([0x1f, 0x8b, ..], _) | (_, Some("gz")) => "gzip",
        ([0x28, 0xb5, 0x2f, 0xfd, ..], _) | (_, Some("zst")) => "zstd",
        _ => return Ok(packed),
    };
    let broken = |error: io::Error| ReadError::BrokenArchive {
        file: name.to_owned(),
        kind,
        reason: error.to_string(),
    };
    if packed.is_empty() {
        return Err(broken(io::Error::other("it is empty")));
    }
    match kind {
        "gzip" => read_whole(flate2::bufread::MultiGzDecoder::new(&packed[..])),
        _ => zstd::stream::read::Decoder::with_buffer(&packed[..]).and_then(read_whole),
    }
    .map_err(broken)
}
