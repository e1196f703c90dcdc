//! The `quadfill` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(quadfill_cli::run_command(std::env::args_os()))
}
