//! `--burn-in`, `--samples`, `--thin`, `--chains`: how the posterior is sampled.

use clap::Args;
use quadfill::solve::Sampling;

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
}

impl SamplingFlags {
    pub(super) fn resolve(&self) -> Sampling {
        let by_default = Sampling::default();
        Sampling {
            burn_in: self.burn_in.unwrap_or(by_default.burn_in),
            samples: self.samples.unwrap_or(by_default.samples),
            thin: self.thin,
            chains: self.chains.unwrap_or(by_default.chains),
            ..by_default
        }
    }

    /// The first of these flags that was given; they are for the sampler only.
    pub(super) fn given(&self) -> Option<&'static str> {
        [
            (self.burn_in, "--burn-in"),
            (self.samples, "--samples"),
            (self.thin, "--thin"),
            (self.chains, "--chains"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.map(|_| flag))
    }
}
