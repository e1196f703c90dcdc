//! A split as CSV files, which every peer can read.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use quadfill::Observations;

use crate::peers::Peers;

/// Training and test data in files.
pub(crate) struct SplitFiles {
    train: PathBuf,
    test: PathBuf,
}

impl SplitFiles {
    /// Writes label indices and the value of each observation.
    pub(crate) fn write(
        train: &Observations,
        test: &Observations,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let files =
            Self { train: folder.join("split-train.csv"), test: folder.join("split-test.csv") };
        std::fs::write(&files.train, text(train))?;
        std::fs::write(&files.test, text(test))?;
        Ok(files)
    }

    /// The test RMSE of a peer, or `None` if no peers are installed.
    pub(crate) fn error(
        &self,
        peers: &Peers,
        peer: &str,
        rank: usize,
        standardise: bool,
    ) -> anyhow::Result<Option<f64>> {
        let [train, test] = [&self.train, &self.test].map(|path| path.to_string_lossy());
        let rank = rank.to_string();
        let mut arguments = vec![peer, &*train, &*test, &*rank];
        if standardise {
            arguments.push("standardise");
        }
        peers.figure("test_error.py", &arguments)
    }
}

fn text(data: &Observations) -> String {
    let mut text = String::new();
    for mode in data.modes() {
        let _ = write!(text, "{},", mode.name);
    }
    text.push_str("value\n");
    let columns = data.columns();
    for row in 0..data.len() {
        for column in &columns {
            let _ = write!(text, "{},", column[row]);
        }
        let _ = writeln!(text, "{}", data.values()[row]);
    }
    text
}
