//! Numbers read from text, fast where they are short.

/// What a field says where a number is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Finite(f64),
    /// Infinite or NaN, by name or by size.
    NotFinite,
    Text,
}

const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Reads a number to the nearest `f64`.
#[inline]
pub(crate) fn parse_number(text: &[u8]) -> Number {
    match simple_decimal(text) {
        Some(value) => Number::Finite(value),
        None => any_number(text),
    }
}

/// Digits with at most one point. Whole numbers up to 2^53 and powers of ten up to 22 are exact,
/// so their quotient is the nearest number.
#[inline]
fn simple_decimal(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 17 {
        return None;
    }
    let mut mantissa = 0u64;
    let mut decimals = None;
    for (position, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa * 10 + u64::from(digit);
        } else if byte == b'.' && decimals.is_none() && digits.len() > 1 {
            decimals = Some(digits.len() - 1 - position);
        } else {
            return None;
        }
    }
    if mantissa > 1 << 53 {
        return None;
    }
    let value = mantissa as f64 / POWERS_OF_TEN[decimals.unwrap_or(0)];
    Some(if negative { -value } else { value })
}

#[cold]
fn any_number(text: &[u8]) -> Number {
    match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Number::Finite(value),
        Some(_) => Number::NotFinite,
        None => Number::Text,
    }
}

/// The number that `text` spells, if it fits and printing it gives `text` back.
#[inline]
pub(crate) fn canonical_u32(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 || (text[0] == b'0' && text.len() > 1) {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    u32::try_from(value).ok()
}

/// The text without blanks and tabs at its ends.
#[inline]
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_their_many_spellings() {
        for (text, expected) in [
            ("0", Number::Finite(0.0)),
            ("4.5", Number::Finite(4.5)),
            ("-.5", Number::Finite(-0.5)),
            ("5.", Number::Finite(5.0)),
            ("+3", Number::Finite(3.0)),
            ("1e-3", Number::Finite(0.001)),
            ("9007199254740993", Number::Finite(9_007_199_254_740_992.0)),
            ("nan", Number::NotFinite),
            ("-inf", Number::NotFinite),
            ("1e999", Number::NotFinite),
            ("", Number::Text),
            (".", Number::Text),
            ("-", Number::Text),
            ("1.2.3", Number::Text),
            ("4,5", Number::Text),
            ("0x10", Number::Text),
        ] {
            assert_eq!(parse_number(text.as_bytes()), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn short_decimals_are_the_nearest_number(text in "-?[0-9]{1,9}(\\.[0-9]{0,9})?") {
            let nearest: f64 = text.parse().expect("a number");
            prop_assert_eq!(parse_number(text.as_bytes()), Number::Finite(nearest));
        }

        #[test]
        fn canonical_integers_print_as_they_were(text in "[0-9]{1,11}") {
            let expected = text.parse::<u32>().ok().filter(|value| value.to_string() == text);
            prop_assert_eq!(canonical_u32(text.as_bytes()), expected);
        }
    }
}
