//! The command line: parsed as it is, then resolved once into what the commands work with.

mod certify;
mod complaint;
mod demo;
mod evaluate;
mod explain;
mod export;
mod fit;
mod inspect;
mod learn;
mod model;
mod predict;
mod reading;
mod reproduce;
mod sampling;
mod synth;
mod top;
mod translate;
mod values;
mod words;

pub(crate) use certify::CertifyFlags;
pub(crate) use complaint::{Refusal, refusal};
pub(crate) use demo::DemoFlags;
pub(crate) use evaluate::EvaluateFlags;
pub(crate) use explain::ExplainFlags;
pub(crate) use export::ExportFlags;
pub(crate) use fit::{FitFlags, FitPlan, Negatives, TestSource};
pub(crate) use inspect::InspectFlags;
pub(crate) use learn::{FoldInFlags, UpdateFlags};
pub(crate) use predict::PredictFlags;
pub(crate) use reproduce::{ReproduceFlags, ReproducePart, ReproducePlan};
pub(crate) use synth::{SynthFlags, SynthPlan};
pub(crate) use top::{OrderName, TopFlags};
pub(crate) use translate::{column_warning, sentence};
pub(crate) use words::{WordsCommand, WordsCountFlags, WordsEvaluateFlags, WordsFlags};

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  quadfill demo                                    see it work on synthetic data
  quadfill fit ratings.csv -o model --rank 10      learn from rows of labels and a value
  quadfill predict model wanted.csv -o filled.csv  fill in the cells that are asked for
  quadfill evaluate model test.csv                 compare with known values
  quadfill top model --given user=42 --mode movie  find the best labels
  quadfill certify model ratings.csv               bound the distance to the best possible fit";

/// Fill in the missing entries of sparse multi-way data.
///
/// The data are rows of labels and a value: user, movie, week, rating. Quadfill learns a short
/// vector for every label and predicts any cell from those of its labels.
#[derive(Debug, Parser)]
#[command(
    name = "quadfill",
    version,
    after_help = EXAMPLES,
    subcommand_required = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalFlags {
    /// Print exactly one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors and what was asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Number of threads, all cores by default; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// The random seed
    #[arg(long, global = true, value_name = "N", default_value = "0", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Synth(SynthFlags),
    Fit(Box<FitFlags>),
    Predict(PredictFlags),
    Evaluate(EvaluateFlags),
    Certify(CertifyFlags),
    Top(TopFlags),
    Explain(ExplainFlags),
    Export(ExportFlags),
    FoldIn(FoldInFlags),
    Update(UpdateFlags),
    Inspect(InspectFlags),
    Words(WordsFlags),
    Demo(DemoFlags),
    Reproduce(ReproduceFlags),
    Completions(CompletionsFlags),
}

/// Print completions for a shell
///
/// Save the output where your shell looks for completions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill completions bash > ~/.local/share/bash-completion/completions/quadfill
  quadfill completions fish > ~/.config/fish/completions/quadfill.fish")]
pub(crate) struct CompletionsFlags {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        super::Cli::command().debug_assert();
    }
}
