//! `--burn-in`, `--samples`, `--thin`, `--chains`, `--prior`, `--noise-prior`: how the posterior is
//! sampled.

use clap::{Args, ValueEnum};
use quadfill::solve::{NoisePrior, RowPriorKind, Sampling};

use super::values;

/// How many draws are taken and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling (--solver gibbs)")]
pub(super) struct SamplingFlags {
    /// Sweeps of every chain before its draws count; 100 by default
    #[arg(long, value_name = "N", value_parser = values::natural, allow_negative_numbers = true, hide_short_help = true)]
    burn_in: Option<usize>,
    /// Draws of every chain after that; 300 by default
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true, hide_short_help = true)]
    samples: Option<usize>,
    /// Keep every Nth draw; by default about 50 in all, or more if they fit into 16 MB
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true, hide_short_help = true)]
    thin: Option<usize>,
    /// Number of chains, each with its own start and random numbers; 1 by default
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true, hide_short_help = true)]
    chains: Option<usize>,
    /// The prior of rows: columns that are independent, or correlated; chosen on held-out data without --rank
    #[arg(long, value_name = "WHICH", value_enum, hide_short_help = true)]
    prior: Option<PriorName>,
    /// The error on held-out data, if it is known: keeps the noise from vanishing where data are few
    #[arg(long, value_name = "RMSE", value_parser = values::real, allow_negative_numbers = true, hide_short_help = true)]
    noise_prior: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PriorName {
    /// A mean and a precision for each column
    Diagonal,
    /// A mean and a whole precision matrix
    Wishart,
}

impl SamplingFlags {
    pub(super) fn resolve(&self) -> Sampling {
        let by_default = Sampling::default();
        Sampling {
            burn_in: self.burn_in.unwrap_or(by_default.burn_in),
            samples: self.samples.unwrap_or(by_default.samples),
            thin: self.thin,
            chains: self.chains.unwrap_or(by_default.chains),
            prior: self.prior.map(|prior| match prior {
                PriorName::Wishart => RowPriorKind::Wishart,
                PriorName::Diagonal => RowPriorKind::Diagonal,
            }),
            noise: self.noise_prior.map(|rmse| NoisePrior { rmse, share: 1.0 }),
        }
    }

    /// The first of these flags that was given; they are for the sampler only.
    pub(super) fn given(&self) -> Option<&'static str> {
        [
            (self.burn_in.is_some(), "--burn-in"),
            (self.samples.is_some(), "--samples"),
            (self.thin.is_some(), "--thin"),
            (self.chains.is_some(), "--chains"),
            (self.prior.is_some(), "--prior"),
            (self.noise_prior.is_some(), "--noise-prior"),
        ]
        .into_iter()
        .find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}
