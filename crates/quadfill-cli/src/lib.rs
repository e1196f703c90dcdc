//! The `quadfill` program, as a function that any front end can call.
//!
//! `flags` says what can be typed and resolves it once, `run` does it. The library does the work;
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

use std::ffi::OsString;

use clap::Parser;

use flags::{Cli, Refusal};

/// The exit code of errors that the user can fix.
const USER_ERROR: u8 = 2;

/// Runs the program with these arguments, of which the first is its own name, and returns its exit code.
///
/// Ctrl-C ends the process itself, with code 130.
///
/// ```
/// assert_eq!(quadfill_cli::run_command(["quadfill", "fit"]), 2);
/// ```
pub fn run_command<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    match go(&arguments) {
        Ok(()) => 0,
        Err(error) if broken_pipe::is_broken_pipe(&error) => 0,
        Err(error) => {
            output::complain(&flags::sentence(&error));
            USER_ERROR
        }
    }
}

fn go(arguments: &[OsString]) -> anyhow::Result<()> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
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
