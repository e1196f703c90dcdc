//! `--model`, `--kernel`: how the rows of a cell make its prediction.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use quadfill::model::{Interaction, Kernel, ModelSpec};

/// Which model.
#[derive(Debug, Args)]
pub(crate) struct ModelFlags {
    /// pairwise, transe, norms, matrix, cp, learned to fit the kernel too, or pairs:1-2,1-3 for some
    /// pairs of modes only
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Any symmetric kernel, one row per mode: "0 .5 .5; .5 0 .5; .5 .5 0"; overrides --model
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) kernel: Option<String>,
}

impl ModelFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.model.is_some() || self.kernel.is_some()
    }

    /// The model asked for, pairwise by default.
    pub(crate) fn resolve(&self) -> Result<ModelChoice> {
        match &self.kernel {
            Some(text) => Ok(ModelChoice::Kernel(Kernel::parse(text)?)),
            None => ModelChoice::parse(self.model.as_deref().unwrap_or("pairwise")),
        }
    }
}

/// A model for any number of modes, as far as it can be told before the data are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelChoice {
    Pairwise,
    Transe,
    Norms,
    Matrix,
    Cp,
    /// The kernel is fitted too.
    Learned,
    /// Pairs of modes counted from 0.
    Pairs(Vec<(usize, usize)>),
    Kernel(Kernel),
}

impl ModelChoice {
    fn parse(name: &str) -> Result<Self> {
        Ok(match name {
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
                None => bail!(
                    "`{name}` is no model: choose pairwise, transe, norms, matrix, cp, learned or \
                     pairs:1-2,1-3, or write a --kernel"
                ),
            },
        })
    }

    /// The model for data with so many modes.
    pub(crate) fn spec(&self, modes: usize, rank: usize) -> Result<ModelSpec> {
        let kernel = match self {
            Self::Cp => return Ok(ModelSpec::cp(modes, rank)),
            // A kernel that is learned is not known before the fit: this one only counts the modes.
            Self::Pairwise | Self::Learned => Kernel::pairwise(modes),
            Self::Transe => Kernel::transe(modes),
            Self::Norms => Kernel::norms(modes),
            Self::Matrix => Kernel::matrix(modes),
            Self::Pairs(pairs) => Kernel::pairs(modes, pairs)?,
            Self::Kernel(kernel) if kernel.modes() != modes => bail!(
                "the kernel is for {} modes but the data have {modes}: give one row and one column per mode",
                kernel.modes()
            ),
            Self::Kernel(kernel) => kernel.clone(),
        };
        Ok(ModelSpec::quadratic(kernel, rank))
    }
}

fn parse_pair(text: &str) -> Result<(usize, usize)> {
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    text.split_once('-')
        .and_then(|(a, b)| Some((number(a)?, number(b)?)))
        .ok_or_else(|| anyhow!("`{text}` is no pair of modes: pairs are written as pairs:1-2,1-3"))
}

/// The name of a model: its preset where it is one.
pub(crate) fn describe(interaction: &Interaction) -> String {
    let Interaction::Quadratic(kernel) = interaction else {
        return "cp".to_owned();
    };
    let modes = kernel.modes();
    let presets = [
        ("pairwise", Kernel::pairwise(modes)),
        ("transe", Kernel::transe(modes)),
        ("norms", Kernel::norms(modes)),
        ("matrix", Kernel::matrix(modes)),
    ];
    if let Some((name, _)) = presets.iter().find(|(_, preset)| preset == kernel) {
        return (*name).to_owned();
    }
    let pairs: Vec<(usize, usize)> = (0..modes)
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .filter(|&(a, b)| kernel.get(a, b) != 0.0)
        .collect();
    if Kernel::pairs(modes, &pairs).is_ok_and(|masked| masked == *kernel) {
        let names: Vec<String> =
            pairs.iter().map(|(a, b)| format!("{}-{}", a + 1, b + 1)).collect();
        return format!("pairs:{}", names.join(","));
    }
    "kernel".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_way_through_a_spec() {
        for name in ["pairwise", "transe", "norms", "matrix", "cp", "pairs:1-2,1-3"] {
            let spec = ModelChoice::parse(name).expect("sound").spec(3, 2).expect("sound");
            assert_eq!(describe(&spec.interaction), name);
        }
        let kernel = ModelChoice::Kernel(Kernel::parse("1 2; 2 3").expect("sound"));
        assert_eq!(describe(&kernel.spec(2, 1).expect("sound").interaction), "kernel");
        assert!(kernel.spec(3, 1).is_err());
    }

    #[test]
    fn pairs_count_from_one() {
        assert_eq!(
            ModelChoice::parse("pairs:1-2,2-3").expect("sound"),
            ModelChoice::Pairs(vec![(0, 1), (1, 2)])
        );
        assert!(ModelChoice::parse("pairs:0-1").is_err());
        assert!(ModelChoice::parse("pairs:1").is_err());
    }
}
