//! The text of some files in blocks that end between words.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::words::is_between_words;
use crate::error::{ReadError, Result};

/// Bytes of a block.
pub(super) const BLOCK: usize = 1 << 20;

/// Blocks that are read ahead for each thread.
const AHEAD: usize = 4;

/// A piece of the text of one file.
struct Block {
    text: Vec<u8>,
    file: usize,
    /// The line in which it begins, from 1.
    line: usize,
    begins_file: bool,
}

/// Lets `work` see every block, with whatever accumulator is free, and returns the accumulators in any
/// order and what came of the blocks in theirs, each with whether it begins a file.
///
/// While blocks are worked on, one thread reads and unpacks those that follow.
pub(super) fn for_each_block<A: Send, R: Send>(
    files: &[PathBuf],
    size: usize,
    make: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &mut [u8]) -> R + Sync,
) -> Result<(Vec<A>, Vec<(bool, R)>)> {
    let idle = Mutex::new(Vec::new());
    let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let do_one = |block: &mut Block| {
        check_utf8(block, files)?;
        let free = lock().pop();
        let mut accumulator = free.unwrap_or_else(&make);
        let result = work(&mut accumulator, &mut block.text);
        lock().push(accumulator);
        Ok((block.begins_file, result))
    };
    let ahead = AHEAD * rayon::current_num_threads();
    let mut reader = Blocks::new(files, size);
    let mut results = Vec::new();
    let mut batch = reader.take(ahead)?;
    while !batch.is_empty() {
        let (next, done): (_, Vec<Result<(bool, R)>>) = rayon::join(
            || reader.take(ahead),
            || batch.par_iter_mut().with_max_len(1).map(do_one).collect(),
        );
        for one in done {
            results.push(one?);
        }
        reader.spare.extend(batch.into_iter().map(|block| block.text));
        batch = next?;
    }
    Ok((idle.into_inner().unwrap_or_else(PoisonError::into_inner), results))
}

fn check_utf8(block: &Block, files: &[PathBuf]) -> Result<()> {
    let Err(error) = std::str::from_utf8(&block.text) else {
        return Ok(());
    };
    let lines_before = line_ends(&block.text[..error.valid_up_to()]);
    let file = files[block.file].display().to_string();
    Err(ReadError::NotUtf8 { file, line: block.line + lines_before })
}

fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Reads the files one after the other.
struct Blocks<'a> {
    files: &'a [PathBuf],
    size: usize,
    /// The file that is being read, and how it is packed.
    file: usize,
    stream: Option<(Box<dyn Read + Send>, Option<&'static str>)>,
    /// What follows the last block of the file.
    rest: Vec<u8>,
    line: usize,
    /// Room for blocks to come.
    spare: Vec<Vec<u8>>,
}

impl<'a> Blocks<'a> {
    fn new(files: &'a [PathBuf], size: usize) -> Self {
        Self { files, size, file: 0, stream: None, rest: Vec::new(), line: 1, spare: Vec::new() }
    }

    fn take(&mut self, count: usize) -> Result<Vec<Block>> {
        let mut blocks = Vec::new();
        while blocks.len() < count {
            match self.next()? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }

    fn next(&mut self) -> Result<Option<Block>> {
        let Some(path) = self.files.get(self.file) else {
            return Ok(None);
        };
        let name = || path.display().to_string();
        let begins_file = self.stream.is_none();
        if begins_file {
            let opened = open(path).map_err(|source| ReadError::Io { file: name(), source })?;
            self.stream = Some(opened);
            self.line = 1;
        }
        let Some((stream, packed)) = &mut self.stream else {
            return Ok(None);
        };
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text.reserve(self.size + 1);
        text.append(&mut self.rest);
        let wanted = self.size.saturating_sub(text.len()) as u64;
        let got = stream.take(wanted).read_to_end(&mut text).map_err(|error| match *packed {
            Some(kind) => {
                ReadError::BrokenArchive { file: name(), kind, reason: error.to_string() }
            }
            None => ReadError::Io { file: name(), source: error },
        })?;
        let (file, line) = (self.file, self.line);
        if (got as u64) < wanted {
            self.stream = None;
            self.file += 1;
        } else {
            let end = text.iter().rposition(|&byte| is_between_words(byte)).map_or(0, |at| at + 1);
            if end == 0 {
                return Err(ReadError::Unsupported {
                    file: name(),
                    what: format!("from line {line} on there is no blank in {} bytes", text.len()),
                    hint: "give a plain text".to_owned(),
                });
            }
            self.rest.extend_from_slice(&text[end..]);
            text.truncate(end);
        }
        self.line += line_ends(&text);
        Ok(Some(Block { text, file, line, begins_file }))
    }
}

/// Opens a file and tells from its first bytes how it is packed.
fn open(path: &PathBuf) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::other("this is a folder: name a file"));
    }
    if !about.is_file() {
        return Err(io::Error::other("a corpus is read twice: name a file instead of a stream"));
    }
    let mut head = Vec::new();
    (&mut file).take(4).read_to_end(&mut head)?;
    let promised = path.extension().and_then(|ending| ending.to_str());
    let whole = io::Cursor::new(head.clone()).chain(file);
    Ok(match (&head[..], promised) {
        ([0x1f, 0x8b, ..], _) | (_, Some("gz")) => {
            let unpacked = flate2::bufread::MultiGzDecoder::new(BufReader::new(whole));
            (Box::new(unpacked), Some("gzip"))
        }
        ([0x28, 0xb5, 0x2f, 0xfd], _) | (_, Some("zst")) => {
            (Box::new(zstd::stream::read::Decoder::new(whole)?), Some("zstd"))
        }
        _ => (Box::new(whole), None),
    })
}
