//! The little of JSON that is written here.

use std::io::{self, Write};

/// A text in quotes.
pub(crate) fn write_json_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    for character in text.chars() {
        match character {
            '"' => out.write_all(b"\\\"")?,
            '\\' => out.write_all(b"\\\\")?,
            '\n' => out.write_all(b"\\n")?,
            '\r' => out.write_all(b"\\r")?,
            '\t' => out.write_all(b"\\t")?,
            control if control < ' ' => write!(out, "\\u{:04x}", u32::from(control))?,
            other => write!(out, "{other}")?,
        }
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_forbids_is_escaped() {
        let mut out = Vec::new();
        write_json_text(&mut out, "a\"\\\n\u{1}é").expect("memory");
        assert_eq!(String::from_utf8(out).expect("UTF-8"), "\"a\\\"\\\\\\n\\u0001é\"");
    }
}
