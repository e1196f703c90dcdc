//! What the commands do, one file each.

mod certify;
mod choice;
mod columns;
mod completions;
mod demo;
mod evaluate;
mod explain;
mod export;
mod fit;
mod inspect;
mod labels;
mod learn;
mod predict;
mod prepare;
mod read;
mod reproduce;
mod summary;
mod synth;
mod test_set;
mod top;
mod watch;
mod words;

use anyhow::Result;

use crate::flags::{Cli, Command};
use crate::output::Output;

/// Does what was asked for.
pub(crate) fn run(cli: &Cli) -> Result<()> {
    let output = Output::new(cli.global.json, cli.global.quiet);
    let seed = cli.global.seed;
    match &cli.command {
        Command::Synth(flags) => synth::run(&flags.resolve(seed)?, output),
        Command::Fit(flags) => fit::run(&flags.resolve(seed)?, output),
        Command::Predict(flags) => predict::run(flags, output),
        Command::Evaluate(flags) => evaluate::run(flags, output),
        Command::Certify(flags) => certify::run(flags, seed, output),
        Command::Top(flags) => top::run(flags, output),
        Command::Explain(flags) => explain::run(flags, output),
        Command::Export(flags) => export::run(flags, output),
        Command::FoldIn(flags) => learn::fold_in(flags, output),
        Command::Update(flags) => learn::update(flags, output),
        Command::Inspect(flags) => inspect::run(flags, output),
        Command::Words(flags) => words::run(flags, output),
        Command::Demo(flags) => demo::run(&flags.out, seed, output),
        Command::Reproduce(flags) => reproduce::run(&flags.resolve(seed)?, output),
        Command::Completions(flags) => completions::run(flags.shell),
    }
}
