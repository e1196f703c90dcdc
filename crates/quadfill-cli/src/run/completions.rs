//! Completions for a shell.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::flags::Cli;
use crate::output;

pub(super) fn run(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "quadfill", &mut script);
    output::plain(&script)
}
