//! Parsers of single flag values, with messages that say what to write instead.

use quadfill::solve::Choice;

/// A whole number above zero.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a whole number above 0".to_owned()),
    }
}

/// Columns of the factors: a whole number above zero, or `auto`.
pub(crate) fn rank(text: &str) -> Result<Choice<usize>, String> {
    match text {
        "auto" => Ok(Choice::Auto),
        _ => count(text)
            .map(Choice::Fixed)
            .map_err(|_| "give a whole number above 0, or auto".to_owned()),
    }
}

/// A whole number.
pub(crate) fn natural(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a whole number not below 0".to_owned())
}

/// A random seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number not below 0".to_owned())
}

/// Any number; the valid range depends on the flag.
pub(crate) fn real(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "give a number such as 0.1 or 1e-3".to_owned())
}

/// A number, or `auto`.
pub(crate) fn real_or_auto(text: &str) -> Result<Choice<f64>, String> {
    match text {
        "auto" => Ok(Choice::Auto),
        _ => real(text)
            .map(Choice::Fixed)
            .map_err(|_| "give a number such as 0.1, or auto".to_owned()),
    }
}

/// A finite number not below zero.
pub(crate) fn amount(text: &str) -> Result<f64, String> {
    match real(text) {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err("give a number not below 0, such as 0.1".to_owned()),
    }
}

/// A probability.
pub(crate) fn level(text: &str) -> Result<f64, String> {
    match real(text) {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("give a probability between 0 and 1, such as 0.9".to_owned()),
    }
}

/// Sizes separated by commas.
pub(crate) fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let sizes: Result<Vec<usize>, _> = text.split(',').map(|size| count(size.trim())).collect();
    match sizes {
        Ok(sizes) if !(2..=8).contains(&sizes.len()) => {
            Err(format!("{} sizes: give 2 to 8, one per mode", sizes.len()))
        }
        Ok(sizes) if sizes.iter().any(|&size| u32::try_from(size).is_err()) => {
            Err("a mode can have at most 4294967295 labels".to_owned())
        }
        Ok(sizes) => Ok(sizes),
        Err(_) => {
            Err("give whole numbers above 0 separated by commas, such as 200,200,200".to_owned())
        }
    }
}

/// Two numbers separated by a comma.
pub(crate) fn pair(text: &str) -> Result<(f64, f64), String> {
    text.split_once(',')
        .and_then(|(first, second)| Some((first.trim().parse().ok()?, second.trim().parse().ok()?)))
        .ok_or_else(|| "give two numbers separated by a comma, such as 20,0.01".to_owned())
}

/// `NAME=NUMBER`.
pub(crate) fn share(text: &str) -> Result<(String, f64), String> {
    text.rsplit_once('=')
        .and_then(|(name, share)| Some((name.to_owned(), share.parse().ok()?)))
        .filter(|(name, share)| !name.is_empty() && *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "write MODE=SHARE with a share between 0 and 1, such as week=0.1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_and_checked() {
        assert_eq!(sizes("3, 4,5"), Ok(vec![3, 4, 5]));
        assert!(sizes("3").is_err());
        assert!(sizes("3,0").is_err());
        assert!(sizes("3,99999999999").is_err());
    }

    #[test]
    fn shares_lie_between_zero_and_one() {
        assert_eq!(share("a=b=0.5"), Ok(("a=b".to_owned(), 0.5)));
        assert!(share("week=1").is_err());
        assert!(share("=0.5").is_err());
        assert!(share("week").is_err());
    }
}
