//! What separates the fields of a line, and how it is detected.

use memchr::{memchr, memmem};

/// What stands between two fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// One byte.
    Byte(u8),
    /// Two or more bytes, such as `::`.
    Text(Vec<u8>),
    /// Any run of blanks and tabs.
    Whitespace,
}

impl Delimiter {
    /// From the words a user writes; `None` if there are none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "" => None,
            "tab" | "\\t" => Some(Self::Byte(b'\t')),
            "comma" => Some(Self::Byte(b',')),
            "space" | "whitespace" | " " => Some(Self::Whitespace),
            _ => match text.as_bytes() {
                [byte] => Some(Self::Byte(*byte)),
                bytes => Some(Self::Text(bytes.to_vec())),
            },
        }
    }

    /// As a user writes it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Byte(b'\t') => "tabs".to_owned(),
            Self::Byte(byte) => format!("`{}`", char::from(*byte)),
            Self::Text(bytes) => format!("`{}`", String::from_utf8_lossy(bytes)),
            Self::Whitespace => "blanks".to_owned(),
        }
    }

    /// The bytes to write between two fields.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Byte(byte) => vec![*byte],
            Self::Text(bytes) => bytes.clone(),
            Self::Whitespace => vec![b' '],
        }
    }

    /// Hands the fields of a line to `field` in order and returns how many there were.
    #[inline]
    pub(crate) fn split<'a, E>(
        &self,
        line: &'a [u8],
        mut field: impl FnMut(usize, &'a [u8]) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut column = 0;
        let mut start = 0;
        match self {
            Self::Byte(delimiter) => {
                for (at, byte) in line.iter().enumerate() {
                    if byte == delimiter {
                        field(column, &line[start..at])?;
                        column += 1;
                        start = at + 1;
                    }
                }
                field(column, &line[start..])?;
                column += 1;
            }
            Self::Text(delimiter) => {
                // The second byte tells most false starts, and all of them for `::`.
                let (first, second) = (delimiter[0], delimiter[1]);
                let is_pair = delimiter.len() == 2;
                let mut at = 0;
                while at + 1 < line.len() {
                    if line[at] == first
                        && line[at + 1] == second
                        && (is_pair || line[at..].starts_with(delimiter))
                    {
                        field(column, &line[start..at])?;
                        column += 1;
                        at += delimiter.len();
                        start = at;
                    } else {
                        at += 1;
                    }
                }
                field(column, &line[start..])?;
                column += 1;
            }
            Self::Whitespace => {
                for part in line.split(|byte| matches!(byte, b' ' | b'\t')) {
                    if !part.is_empty() {
                        field(column, part)?;
                        column += 1;
                    }
                }
            }
        }
        Ok(column)
    }

    /// The delimiter that cuts all of these lines into the same number of fields, the more the
    /// better; blanks only if nothing else does.
    pub(crate) fn sniff(lines: &[&[u8]]) -> Self {
        let candidates = [
            Self::Byte(b'\t'),
            Self::Text(b"::".to_vec()),
            Self::Byte(b','),
            Self::Byte(b';'),
            Self::Byte(b'|'),
        ];
        let even = |candidate: &Self| {
            let first = candidate.count(lines.first()?);
            let same = lines.iter().all(|line| candidate.count(line) == first);
            (same && first > 1).then_some(first)
        };
        let mut best: Option<(usize, &Self)> = None;
        for candidate in &candidates {
            if let Some(fields) = even(candidate)
                && best.is_none_or(|(most, _)| fields > most)
            {
                best = Some((fields, candidate));
            }
        }
        if let Some((_, candidate)) = best {
            return candidate.clone();
        }
        if even(&Self::Whitespace).is_some() {
            return Self::Whitespace;
        }
        // Some line is ragged: let the one that finds most in the first line complain about it.
        let first = lines.first().copied().unwrap_or_default();
        candidates
            .into_iter()
            .rev()
            .max_by_key(|candidate| candidate.count(first))
            .filter(|candidate| candidate.count(first) > 1)
            .unwrap_or(Self::Whitespace)
    }

    /// How many fields a line has, delimiters inside quotes aside.
    fn count(&self, line: &[u8]) -> usize {
        match self {
            Self::Byte(delimiter) if memchr(b'"', line).is_some() => {
                let mut quoted = false;
                let mut fields = 1;
                for byte in line {
                    if *byte == b'"' {
                        quoted = !quoted;
                    } else if byte == delimiter && !quoted {
                        fields += 1;
                    }
                }
                fields
            }
            Self::Byte(delimiter) => memchr::memchr_iter(*delimiter, line).count() + 1,
            Self::Text(delimiter) => memmem::find_iter(line, delimiter).count() + 1,
            Self::Whitespace => line
                .split(|byte| matches!(byte, b' ' | b'\t'))
                .filter(|part| !part.is_empty())
                .count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_in_words() {
        assert_eq!(Delimiter::parse("::"), Some(Delimiter::Text(b"::".to_vec())));
        assert_eq!(Delimiter::parse("tab"), Some(Delimiter::Byte(b'\t')));
        assert_eq!(Delimiter::parse(""), None);
    }

    #[test]
    fn delimiters_are_found_out() {
        for (lines, expected) in [
            (&["1::2::3::4"][..], "::"),
            (&["a\tb c\t1", "d, e\tf\t2"], "tab"),
            (&["user,film,stars", "ann,\"Heat, 1995\",4"], ","),
            (&["1;2;3,5", "1;3;4,5"], ";"),
            (&["1 2 3.5", "10  20 4"], "whitespace"),
            (&["1,2,3", "1,2"], ","),
            (&["hello world"], "whitespace"),
        ] {
            let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(Some(Delimiter::sniff(&lines)), Delimiter::parse(expected), "{lines:?}");
        }
    }
}
