//! Labels as they are typed: `user=42,week=7`.

use anyhow::{Result, bail};
use quadfill::{Mode, Model};

/// The label indices of a cell, [`UNKNOWN`](quadfill::model::UNKNOWN) where a mode is left out.
pub(super) fn parse(model: &Model, texts: &[String]) -> Result<Vec<u32>> {
    let pairs = split(model.modes(), texts)?;
    let given: Vec<(&str, &str)> =
        pairs.iter().map(|(mode, label)| (mode.as_str(), label.as_str())).collect();
    Ok(model.find_given(&given)?)
}

/// Modes and labels. A comma separates two of them where a mode and `=` follow it; so labels may contain
/// commas.
fn split(modes: &[Mode], texts: &[String]) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for text in texts {
        let mut pieces: Vec<String> = Vec::new();
        for piece in text.split(',') {
            let begins = piece
                .split_once('=')
                .is_some_and(|(name, _)| Mode::position(modes, name.trim()).is_ok());
            match pieces.last_mut() {
                Some(last) if !begins => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => pieces.push(piece.to_owned()),
            }
        }
        for piece in pieces {
            let Some((name, label)) = piece.split_once('=') else {
                bail!(
                    "`{piece}` is not a label of a mode: write MODE=LABEL, such as {}=..",
                    modes[0].name
                );
            };
            pairs.push((name.trim().to_owned(), label.to_owned()));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::Labels;

    #[test]
    fn labels_may_have_commas_and_equals_signs() {
        let modes = [
            Mode::new("user", Labels::range(50)),
            Mode::new("film", Labels::from_names(["M, the film", "x=y"])),
        ];
        let split = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            super::split(&modes, &texts)
        };
        let pair = |mode: &str, label: &str| (mode.to_owned(), label.to_owned());
        assert_eq!(
            split(&["user=42,film=M, the film"]).expect("two labels"),
            [pair("user", "42"), pair("film", "M, the film")]
        );
        assert_eq!(
            split(&["film=x=y", "1=3"]).expect("two labels"),
            [pair("film", "x=y"), pair("1", "3")]
        );
        assert!(split(&["42"]).is_err());
    }
}
