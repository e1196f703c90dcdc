//! The `quadfill` program.
//!
//! [`flags`] says what can be typed and resolves it once, [`run`] does it. The library does the work;
//! here are files, messages and exit codes: 0 for success, 2 for anything the user can fix, 130 after
//! Ctrl-C.

mod broken_pipe;
mod clock;
mod flags;
mod interrupt;
mod output;
mod paths;
mod report;
mod run;

use std::process::ExitCode;

use clap::Parser;

use flags::{Cli, Refusal};

/// The exit code of errors that the user can fix.
const USER_ERROR: u8 = 2;

fn main() -> ExitCode {
    match go() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if broken_pipe::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&flags::sentence(&error));
            ExitCode::from(USER_ERROR)
        }
    }
}

fn go() -> anyhow::Result<()> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let arguments: Vec<String> = std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect();
            return match flags::refusal(&error, &arguments) {
                Refusal::Wanted(text) => output::plain(text.as_bytes()),
                Refusal::Wrong(sentence) => Err(anyhow::Error::msg(sentence)),
            };
        }
    };
    interrupt::watch();
    if let Some(threads) = cli.global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    run::run(&cli)
}
