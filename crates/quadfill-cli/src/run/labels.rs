//! Labels as they are typed: `user=42,week=7`.

use anyhow::{Result, anyhow, bail};
use quadfill::Mode;
use quadfill::apply::UNKNOWN;

use super::tie::find_mode;

/// The index of a label, which must be known.
pub(super) fn find_label(mode: &Mode, label: &str) -> Result<u32> {
    mode.labels.find(label).ok_or_else(|| {
        anyhow!(
            "`{label}` is no label of mode `{}` in this model: check the spelling, or teach it with \
             `quadfill fold-in`",
            mode.name
        )
    })
}

/// Reads labels of modes. A comma separates two of them where a mode and `=` follow it; so labels may
/// have commas of their own.
pub(super) fn parse(modes: &[Mode], texts: &[String]) -> Result<Vec<u32>> {
    let mut labels = vec![UNKNOWN; modes.len()];
    for text in texts {
        let mut pieces: Vec<String> = Vec::new();
        for piece in text.split(',') {
            let begins = piece
                .split_once('=')
                .is_some_and(|(name, _)| find_mode(modes, name.trim()).is_ok());
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
                    "`{piece}` is no label of a mode: write MODE=LABEL, such as {}=..",
                    modes[0].name
                );
            };
            let mode = find_mode(modes, name.trim())?;
            if labels[mode] != UNKNOWN {
                bail!("mode `{}` is given more than once: give it once", modes[mode].name);
            }
            labels[mode] = find_label(&modes[mode], label)?;
        }
    }
    Ok(labels)
}

/// Refuses labels where some mode other than `wanted` has none.
pub(super) fn require_all(
    modes: &[Mode],
    labels: &[u32],
    wanted: Option<usize>,
    flag: &str,
) -> Result<()> {
    for (at, mode) in modes.iter().enumerate() {
        if labels[at] == UNKNOWN && Some(at) != wanted {
            bail!("mode `{0}` is missing: add {0}=LABEL to {flag}", mode.name);
        }
    }
    Ok(())
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
        let parse = |texts: &[&str]| {
            parse(&modes, &texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["user=42,film=M, the film"]).expect("sound"), [42, 0]);
        assert_eq!(parse(&["film=x=y", "1=3"]).expect("sound"), [3, 1]);
        assert_eq!(parse(&["film=x=y"]).expect("sound"), [UNKNOWN, 1]);
        assert!(parse(&["user=1,user=2"]).is_err());
        assert!(parse(&["42"]).is_err());
    }
}
