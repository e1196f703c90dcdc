//! The `.npy` format, versions 1 to 3.

use std::borrow::Cow;

use super::array::{Array, Element, Order};
use crate::error::{ReadError, Result};
use crate::escape::escape;

/// Reads one array.
pub(crate) fn parse_npy<'a>(file: &str, bytes: Cow<'a, [u8]>) -> Result<Array<'a>> {
    let malformed =
        |reason: String| ReadError::Malformed { file: file.to_owned(), format: ".npy", reason };
    let (header, data_start) =
        find_header(&bytes).map_err(|reason| malformed(reason.to_owned()))?;
    let header = Header::parse(header).map_err(|reason| malformed(reason.to_owned()))?;
    let (element, big_endian) = dtype(&header.descr).ok_or_else(|| ReadError::Unsupported {
        file: file.to_owned(),
        what: format!("the dtype `{}` is not read", escape(header.descr.as_bytes())),
        hint: "save floats of 4 or 8 bytes, integers or booleans".to_owned(),
    })?;
    let data = match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[data_start..]),
        Cow::Owned(mut bytes) => Cow::Owned(bytes.split_off(data_start)),
    };
    let order = if header.fortran_order { Order::Fortran } else { Order::C };
    Array::new(header.shape, order, element, big_endian, data).map_err(malformed)
}

/// The text of the header, and where the numbers begin.
fn find_header(bytes: &[u8]) -> std::result::Result<(&[u8], usize), &'static str> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it does not begin as one")?;
    let (length, prefix) = match rest {
        [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
        [1..=3, ..] | [] => return Err("it ends inside its header"),
        _ => return Err("its version is not 1, 2 or 3"),
    };
    let end = prefix + length;
    bytes.get(prefix..end).map(|header| (header, end)).ok_or("it ends inside its header")
}

fn dtype(descr: &str) -> Option<(Element, bool)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let big_endian = match order {
        "<" | "|" => false,
        "=" => cfg!(target_endian = "big"),
        ">" => true,
        _ => return None,
    };
    let element = match kind {
        "f4" => Element::F32,
        "f8" => Element::F64,
        "i1" => Element::I8,
        "i2" => Element::I16,
        "i4" => Element::I32,
        "i8" => Element::I64,
        "u1" | "b1" => Element::U8,
        "u2" => Element::U16,
        "u4" => Element::U32,
        "u8" => Element::U64,
        _ => return None,
    };
    Some((element, big_endian))
}

/// The Python dictionary of the header.
#[derive(Debug, Default, PartialEq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &[u8]) -> std::result::Result<Self, &'static str> {
        let text = std::str::from_utf8(text).map_err(|_| "its header is not text")?;
        let mut rest = text.trim().strip_prefix('{').ok_or("its header is not a dictionary")?;
        let mut header = Self::default();
        let mut seen = [false; 3];
        loop {
            rest = rest.trim_start_matches([' ', ',', '\n']);
            if rest.starts_with('}') {
                break;
            }
            let (key, after) = quoted(rest).ok_or("its header is not a dictionary")?;
            let after = after.trim_start().strip_prefix(':').ok_or("its header lacks a `:`")?;
            let after = after.trim_start();
            match key {
                "descr" => {
                    let (descr, after) = quoted(after).unwrap_or(("structured", ""));
                    descr.clone_into(&mut header.descr);
                    if after.is_empty() {
                        // A list of named fields: nothing here can be read.
                        return Ok(header);
                    }
                    (seen[0], rest) = (true, after);
                }
                "fortran_order" => {
                    header.fortran_order = after.starts_with("True");
                    let word = after.find([',', '}']).ok_or("its header does not end")?;
                    (seen[1], rest) = (true, &after[word..]);
                }
                "shape" => {
                    let (shape, after) = after
                        .strip_prefix('(')
                        .and_then(|after| after.split_once(')'))
                        .ok_or("its shape is not a tuple")?;
                    for size in shape.split(',').map(str::trim).filter(|size| !size.is_empty()) {
                        header
                            .shape
                            .push(size.parse().map_err(|_| "its shape is not a list of sizes")?);
                    }
                    (seen[2], rest) = (true, after);
                }
                _ => return Err("its header has a key that is not known"),
            }
        }
        if seen == [true; 3] {
            Ok(header)
        } else {
            Err("its header lacks descr, fortran_order or shape")
        }
    }
}

/// A Python string at the start of `text`, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, 5), }   \n";
        let expected =
            Header { descr: "<f8".to_owned(), fortran_order: false, shape: vec![3, 4, 5] };
        assert_eq!(Header::parse(text), Ok(expected));
        let text = b"{'shape': (7,), 'fortran_order': True, 'descr': '|b1'}";
        let expected = Header { descr: "|b1".to_owned(), fortran_order: true, shape: vec![7] };
        assert_eq!(Header::parse(text), Ok(expected));
    }

    #[test]
    fn a_shape_beyond_all_memory_is_an_error() {
        let mut bytes = b"\x93NUMPY\x01\x00\x50\x00".to_vec();
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000000)}";
        bytes.extend(format!("{text:<80}").bytes());
        let error = parse_npy("big.npy", Cow::Owned(bytes)).expect_err("too large");
        assert_eq!(
            error.to_string(),
            "big.npy: this is not a valid .npy file: its shape needs 8000000000000000 bytes of numbers, there are 0: write or fetch the file again"
        );
    }
}
