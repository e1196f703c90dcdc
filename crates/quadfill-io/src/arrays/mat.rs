//! MATLAB files of version 5: dense numeric arrays, packed or not.

use std::borrow::Cow;
use std::io::Read;

use super::array::{Array, Element, Order};
use crate::error::{ReadError, Result};
use crate::escape::{escape, list};

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const CUT: &str = "it is cut short";

/// Reads the variable asked for, or the only numeric array with 2 to 8 dimensions.
pub(crate) fn parse_mat(
    file: &str,
    bytes: &[u8],
    variable: Option<&str>,
) -> Result<Array<'static>> {
    let malformed = |reason: &str| ReadError::Malformed {
        file: file.to_owned(),
        format: "MATLAB version 5",
        reason: reason.to_owned(),
    };
    if bytes.starts_with(b"\x89HDF") || bytes.get(512..516) == Some(b"\x89HDF") {
        return Err(ReadError::Unsupported {
            file: file.to_owned(),
            what: "this is a MATLAB file of version 7.3 (HDF5)".to_owned(),
            hint: "save it with -v7, or as .npy".to_owned(),
        });
    }
    let big_endian = match bytes.get(126..128) {
        Some(b"IM") => false,
        Some(b"MI") => true,
        _ => return Err(malformed("its header is not that of one")),
    };
    let mut found: Vec<Variable> = Vec::new();
    let mut rest = Elements { bytes: &bytes[128..], big_endian };
    while let Some(element) = rest.next().map_err(malformed)? {
        let unpacked;
        let matrix = match element.kind {
            COMPRESSED => {
                let mut inner = Vec::new();
                flate2::read::ZlibDecoder::new(element.data)
                    .read_to_end(&mut inner)
                    .map_err(|_| malformed("a packed variable is cut short or damaged"))?;
                unpacked = inner;
                Elements { bytes: &unpacked, big_endian }.next().map_err(malformed)?
            }
            _ => Some(element),
        };
        if let Some(Tagged { kind: MATRIX, data }) = matrix
            && let Some(array) = Variable::parse(data, big_endian).map_err(malformed)?
        {
            found.push(array);
        }
    }
    choose(file, found, variable)
}

/// The variable with this name, or the only one that can be meant.
fn choose(file: &str, mut found: Vec<Variable>, name: Option<&str>) -> Result<Array<'static>> {
    let list = |found: &[Variable]| {
        list(&found.iter().map(|known| known.name.as_str()).collect::<Vec<_>>())
    };
    if let Some(name) = name {
        match found.iter().position(|known| known.name == name) {
            Some(at) => return Ok(found.swap_remove(at).array),
            None if found.is_empty() => {}
            None => {
                let (name, available) = (escape(name.as_bytes()), list(&found));
                return Err(ReadError::NoSuchArray { file: file.to_owned(), name, available });
            }
        }
    }
    // A single number has two dimensions of size 1 in MATLAB; it is never the one that is meant.
    found.retain(|known| (2..=8).contains(&known.array.shape.len()) && known.array.len() > 1);
    match found.len() {
        0 => Err(ReadError::Unsupported {
            file: file.to_owned(),
            what: "there is no numeric array with 2 to 8 dimensions".to_owned(),
            hint: "save one".to_owned(),
        }),
        1 => Ok(found.swap_remove(0).array),
        _ => Err(ReadError::SeveralArrays { file: file.to_owned(), available: list(&found) }),
    }
}

/// One element of the file: what it is, and its bytes.
#[derive(Clone, Copy)]
struct Tagged<'a> {
    kind: u32,
    data: &'a [u8],
}

/// Elements that follow one another.
struct Elements<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Elements<'a> {
    fn next(&mut self) -> std::result::Result<Option<Tagged<'a>>, &'static str> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let first = self.word(0).ok_or(CUT)?;
        // Up to four bytes may stand in the tag itself, its length in the upper half.
        if first >> 16 != 0 {
            let length = (first >> 16) as usize;
            let data = self.bytes.get(4..4 + length.min(4)).ok_or(CUT)?;
            self.bytes = self.bytes.get(8..).unwrap_or_default();
            return Ok(Some(Tagged { kind: first & 0xffff, data }));
        }
        let length = self.word(4).ok_or(CUT)? as usize;
        let data = self.bytes.get(8..).and_then(|data| data.get(..length)).ok_or(CUT)?;
        let padded = if first == COMPRESSED { length } else { length.next_multiple_of(8) };
        self.bytes = self.bytes[8..].get(padded..).unwrap_or_default();
        Ok(Some(Tagged { kind: first, data }))
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes: [u8; 4] = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

/// A variable that is a real numeric array.
struct Variable {
    name: String,
    array: Array<'static>,
}

impl Variable {
    /// `None` if it is something else: text, a structure, sparse, complex.
    fn parse(data: &[u8], big_endian: bool) -> std::result::Result<Option<Self>, &'static str> {
        let mut parts = Elements { bytes: data, big_endian };
        let mut part = || parts.next().and_then(|part| part.ok_or("a variable is incomplete"));
        let flags = part()?;
        let flags = Elements { bytes: flags.data, big_endian }.word(0).ok_or("no array flags")?;
        let class = flags & 0xff;
        let is_complex = flags & 0x0800 != 0;
        // Classes 6 to 15 are double, single and the integers.
        if !(6..=15).contains(&class) || is_complex {
            return Ok(None);
        }
        let sizes = part()?;
        let words = Elements { bytes: sizes.data, big_endian };
        let mut shape = Vec::new();
        while let Some(size) = words.word(4 * shape.len()) {
            shape.push(usize::try_from(size as i32).map_err(|_| "a size is negative")?);
        }
        let name = String::from_utf8_lossy(part()?.data).into_owned();
        let numbers = part()?;
        // Numbers may be stored smaller than their class when they fit.
        let element = match numbers.kind {
            1 => Element::I8,
            2 => Element::U8,
            3 => Element::I16,
            4 => Element::U16,
            5 => Element::I32,
            6 => Element::U32,
            7 => Element::F32,
            9 => Element::F64,
            12 => Element::I64,
            13 => Element::U64,
            _ => return Err("a variable holds numbers of an unknown kind"),
        };
        let bytes = Cow::Owned(numbers.data.to_vec());
        let array = Array::new(shape, Order::Fortran, element, big_endian, bytes)
            .map_err(|_| "a variable has fewer numbers than its shape needs")?;
        Ok(Some(Self { name, array }))
    }
}
