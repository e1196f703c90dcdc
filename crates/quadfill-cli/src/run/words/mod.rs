//! From texts to triples, and from vectors to scores.

mod count;
mod evaluate;

use anyhow::Result;

use crate::flags::{WordsCommand, WordsFlags};
use crate::output::Output;

pub(super) fn run(flags: &WordsFlags, output: Output) -> Result<()> {
    match &flags.command {
        WordsCommand::Count(flags) => count::run(flags, output),
        WordsCommand::Evaluate(flags) => evaluate::run(flags, output),
    }
}
