//! Models by name, for any number of modes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Interaction, Kernel};
use crate::error::{Error, Result};

/// Which model, for any number of modes.
///
/// ```
/// use quadfill::model::{Interaction, Kernel, ModelKind};
/// let kind: ModelKind = "transe".parse()?;
/// assert_eq!(kind.interaction(3)?, Interaction::Quadratic(Kernel::transe(3)));
/// assert_eq!("pairs:1-2,1-3".parse::<ModelKind>()?.to_string(), "pairs:1-2,1-3");
/// assert!("linear".parse::<ModelKind>().is_err());
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Chosen on held-out data; where that is not done, pairwise.
    #[default]
    Auto,
    /// The inner products of all pairs of rows.
    Pairwise,
    /// The squared distance of the last row to the sum of the others.
    Transe,
    /// The squared norms of the rows.
    Norms,
    /// The inner product of the first two rows.
    Matrix,
    /// The inner products of these pairs of rows; modes are counted from 0.
    Pairs(Vec<(usize, usize)>),
    /// A symmetric kernel.
    Kernel(Kernel),
    /// A symmetric kernel that is fitted too.
    Learned,
    /// The sum over columns of the product over modes.
    Cp,
}

impl ModelKind {
    /// The preset of an interaction, where it is one.
    ///
    /// ```
    /// use quadfill::model::{Interaction, Kernel, ModelKind};
    /// assert_eq!(ModelKind::of(&Interaction::Cp), ModelKind::Cp);
    /// let kernel = Kernel::parse("1 2; 2 3")?;
    /// assert_eq!(ModelKind::of(&Interaction::Quadratic(kernel.clone())), ModelKind::Kernel(kernel));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn of(interaction: &Interaction) -> Self {
        let Interaction::Quadratic(kernel) = interaction else {
            return Self::Cp;
        };
        let modes = kernel.modes();
        let presets = [
            (Self::Pairwise, Kernel::pairwise(modes)),
            (Self::Transe, Kernel::transe(modes)),
            (Self::Norms, Kernel::norms(modes)),
            (Self::Matrix, Kernel::matrix(modes)),
        ];
        if let Some((kind, _)) = presets.into_iter().find(|(_, preset)| preset == kernel) {
            return kind;
        }
        let pairs: Vec<(usize, usize)> = (0..modes)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .filter(|&(a, b)| kernel.get(a, b) != 0.0)
            .collect();
        match Kernel::pairs(modes, &pairs) {
            Ok(masked) if masked == *kernel => Self::Pairs(pairs),
            _ => Self::Kernel(kernel.clone()),
        }
    }

    /// Whether the kernel has a diagonal, which makes predictions quadratic in a row.
    pub fn has_diagonal(&self) -> bool {
        match self {
            Self::Transe | Self::Norms => true,
            Self::Kernel(kernel) => kernel.has_diagonal(),
            Self::Auto
            | Self::Pairwise
            | Self::Matrix
            | Self::Pairs(_)
            | Self::Learned
            | Self::Cp => false,
        }
    }

    /// The interaction for data with this many modes. A learned kernel is not known yet: the pairwise one
    /// takes its place.
    pub fn interaction(&self, modes: usize) -> Result<Interaction> {
        Ok(Interaction::Quadratic(match self {
            Self::Cp => return Ok(Interaction::Cp),
            Self::Auto | Self::Pairwise | Self::Learned => Kernel::pairwise(modes),
            Self::Transe => Kernel::transe(modes),
            Self::Norms => Kernel::norms(modes),
            Self::Matrix => Kernel::matrix(modes),
            Self::Pairs(pairs) => Kernel::pairs(modes, pairs)?,
            Self::Kernel(kernel) if kernel.modes() != modes => {
                return Err(Error::setting(format!(
                    "the kernel is for {} modes but the data have {modes}: give one row and one column \
                     per mode",
                    kernel.modes()
                )));
            }
            Self::Kernel(kernel) => kernel.clone(),
        }))
    }
}

impl FromStr for ModelKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "auto" => Self::Auto,
            "pairwise" => Self::Pairwise,
            "transe" => Self::Transe,
            "norms" => Self::Norms,
            "matrix" => Self::Matrix,
            "cp" => Self::Cp,
            "learned" => Self::Learned,
            _ => match name.strip_prefix("pairs:") {
                Some(pairs) => {
                    Self::Pairs(pairs.split(',').map(parse_pair).collect::<Result<_>>()?)
                }
                None => {
                    return Err(Error::setting(format!(
                        "`model` cannot be {name}: choose pairwise, transe, norms, matrix, cp, learned \
                         or pairs:1-2,1-3, or give a kernel"
                    )));
                }
            },
        })
    }
}

fn parse_pair(text: &str) -> Result<(usize, usize)> {
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    text.split_once('-').and_then(|(a, b)| Some((number(a)?, number(b)?))).ok_or_else(|| {
        Error::setting(format!("{text} is not a pair of modes: write pairs as pairs:1-2,1-3"))
    })
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Pairwise => "pairwise",
            Self::Transe => "transe",
            Self::Norms => "norms",
            Self::Matrix => "matrix",
            Self::Kernel(_) => "kernel",
            Self::Learned => "learned",
            Self::Cp => "cp",
            Self::Pairs(pairs) => {
                let pairs = pairs.iter().map(|(a, b)| format!("{}-{}", a + 1, b + 1));
                return write!(f, "pairs:{}", pairs.collect::<Vec<_>>().join(","));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_way_through_an_interaction() {
        for name in ["pairwise", "transe", "norms", "matrix", "cp", "pairs:1-2,1-3"] {
            let kind: ModelKind = name.parse().expect("a model");
            let interaction = kind.interaction(3).expect("three modes");
            assert_eq!(ModelKind::of(&interaction).to_string(), name);
        }
        let kernel = ModelKind::Kernel(Kernel::parse("1 2; 2 3").expect("a kernel"));
        assert!(kernel.interaction(3).is_err());
    }

    #[test]
    fn pairs_count_from_one() {
        let pairs: ModelKind = "pairs:1-2,2-3".parse().expect("a model");
        assert_eq!(pairs, ModelKind::Pairs(vec![(0, 1), (1, 2)]));
        assert!("pairs:0-1".parse::<ModelKind>().is_err());
        assert!("pairs:1".parse::<ModelKind>().is_err());
    }
}
