//! Runs peers as Python scripts in a virtual environment and parses the figures that they print.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The installed peers, if any.
pub(crate) struct Peers {
    python: Option<PathBuf>,
}

impl Peers {
    /// Peers in a virtual environment made by `peers/setup.sh`.
    pub(crate) fn new(environment: Option<&Path>) -> anyhow::Result<Self> {
        let python = environment.map(|folder| folder.join("bin/python"));
        if let Some(python) = &python
            && !python.exists()
        {
            bail!("{} does not exist: install the peers with `make bench-peers`", python.display());
        }
        Ok(Self { python })
    }

    /// The last number that a peer's script prints, or `None` if no peers are installed.
    pub(crate) fn figure(&self, script: &str, arguments: &[&str]) -> anyhow::Result<Option<f64>> {
        let Some(python) = &self.python else {
            return Ok(None);
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(script);
        let output = Command::new(python)
            .arg(&path)
            .args(arguments)
            .env("OMP_NUM_THREADS", "1")
            .output()
            .with_context(|| format!("cannot run {}", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.split_whitespace().last().and_then(|word| word.parse().ok());
        if last.is_none() {
            bail!("{script} failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(last)
    }
}
