//! The only place that writes to the terminal: results to standard output, all else to standard
//! error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;

/// How much is printed, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Whether results are JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Whether a progress bar is wanted and can be seen.
    pub(crate) fn shows_progress(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// A note on standard error, unless quiet.
    pub(crate) fn note(self, text: impl Display) {
        if !self.quiet {
            // A closed standard error must not stop the work.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// The result of a command: JSON if asked for, else text unless quiet.
    pub(crate) fn outcome(self, text: impl Display, json: &impl Serialize) -> Result<()> {
        if self.json || !self.quiet {
            self.answer(text, json)?;
        }
        Ok(())
    }

    /// What was asked for: JSON if asked for, else text.
    pub(crate) fn answer(self, text: impl Display, json: &impl Serialize) -> Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut stdout, json).map_err(io::Error::from)?;
            writeln!(stdout)?;
        } else {
            writeln!(stdout, "{text}")?;
        }
        Ok(stdout.flush()?)
    }
}

/// Text that is printed as it is.
pub(crate) fn plain(text: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    Ok(stdout.flush()?)
}

/// The one sentence that says what went wrong.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "quadfill: {sentence}");
}
