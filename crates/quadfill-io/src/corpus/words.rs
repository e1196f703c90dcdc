//! Where words begin and end.

/// What a byte may be part of.
const BETWEEN: u8 = 0;
const LETTER: u8 = 1;
const BEYOND_ASCII: u8 = 2;

const KINDS: [u8; 256] = {
    let mut kinds = [BETWEEN; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphabetic() {
            kinds[byte] = LETTER;
        } else if byte >= 0x80 {
            kinds[byte] = BEYOND_ASCII;
        }
        byte += 1;
    }
    kinds
};

/// Whether a byte is never part of a word.
pub(super) fn is_between_words(byte: u8) -> bool {
    KINDS[byte as usize] == BETWEEN
}

/// A word in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a [u8],
    /// The bytes of a word of at most [`SHORT`] bytes as one number, and 0 for longer ones.
    pub(super) packed: u128,
}

/// Words of at most this many bytes can be looked up as numbers: nearly all of them.
pub(super) const SHORT: usize = 16;

impl<'a> Word<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mut bytes = [0; SHORT];
        let packed = match bytes.get_mut(..text.len()) {
            Some(front) => {
                front.copy_from_slice(text);
                u128::from_le_bytes(bytes)
            }
            None => 0,
        };
        Self { text, packed }
    }
}

/// Hands out the words of a text in order. The text is UTF-8, and is lower-cased itself.
pub(super) fn for_each_word(text: &mut [u8], mut see: impl FnMut(Word<'_>)) {
    text.make_ascii_lowercase();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if is_between_words(byte) {
            at += 1;
            continue;
        }
        // Most words are short, ASCII, and not at the end: they are cut out of one number.
        if let Some(front) = text[at..].first_chunk::<SHORT>() {
            let bytes = u128::from_le_bytes(*front);
            let length = letters_in_front(bytes);
            if (1..SHORT).contains(&length) && is_between_words(front[length]) {
                let packed = bytes & ((1 << (8 * length)) - 1);
                see(Word { text: &text[at..at + length], packed });
                at += length + 1;
                continue;
            }
        }
        let start = at;
        let mut kinds = 0;
        while let Some(&byte) = text.get(at) {
            let kind = KINDS[byte as usize];
            if kind == BETWEEN {
                break;
            }
            kinds |= kind;
            at += 1;
        }
        let run = &text[start..at];
        if kinds == LETTER {
            see(Word::new(run));
        } else {
            // Dashes, quotes and letters of all the world.
            let run = String::from_utf8_lossy(run).to_lowercase();
            run.split(|c: char| !c.is_alphabetic())
                .filter(|word| !word.is_empty())
                .for_each(|word| see(Word::new(word.as_bytes())));
        }
    }
}

/// How many of the bytes of a number, from the lowest on, are letters from `a` to `z`.
fn letters_in_front(bytes: u128) -> usize {
    const fn repeat(byte: u8) -> u128 {
        u128::from_le_bytes([byte; SHORT])
    }
    // Sums of seven bits never reach the next byte; their top bits tell.
    let low = bytes & repeat(0x7f);
    let from_a = low + repeat(0x80 - b'a');
    let past_z = low + repeat(0x80 - b'z' - 1);
    let is_other = !(from_a & !past_z & !bytes) & repeat(0x80);
    (is_other.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_whatever_follows_them() {
        for byte in 0..=255u8 {
            for position in 0..SHORT {
                let mut bytes = [b'q'; SHORT];
                bytes[position] = byte;
                let expected = if byte.is_ascii_lowercase() { SHORT } else { position };
                assert_eq!(letters_in_front(u128::from_le_bytes(bytes)), expected, "{byte}");
            }
        }
    }

    #[test]
    fn long_words_and_the_last_one_are_whole() {
        let mut text = b"abcdefghijklmnop abcdefghijklmnopq ABCDEFGHIJKLMNO end".to_vec();
        let mut lengths = Vec::new();
        for_each_word(&mut text, |word| {
            assert_eq!(word, Word::new(word.text));
            lengths.push((word.text.len(), word.packed == 0));
        });
        assert_eq!(lengths, [(16, false), (17, true), (15, false), (3, false)]);
    }

    #[test]
    fn words_are_runs_of_letters_in_lower_case() {
        let mut text =
            "It\u{2019}s 3 o'clock\u{2014}Caf\u{c9}s \u{c9}tat; \u{41f}\u{440}\u{438} x2y"
                .to_owned()
                .into_bytes();
        let mut words = Vec::new();
        for_each_word(&mut text, |word| {
            assert_eq!(word, Word::new(word.text));
            words.push(String::from_utf8_lossy(word.text).into_owned());
        });
        assert_eq!(
            words,
            ["it", "s", "o", "clock", "caf\u{e9}s", "\u{e9}tat", "\u{43f}\u{440}\u{438}", "x", "y"]
        );
    }
}
