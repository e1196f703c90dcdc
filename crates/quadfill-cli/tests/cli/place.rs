//! Runs the program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder that goes away with the test.
pub(crate) struct Place {
    folder: TempDir,
}

/// How a run ended.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// A command that runs here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quadfill"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("QUADFILL_CHECKPOINT_SECONDS");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(&self.command(arguments).output().unwrap())
    }

    /// Runs what must succeed.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
        outcome
    }

    /// Runs what must succeed with `--json`, and reads the one object it prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let outcome = self.succeed(&[arguments, &["--json"]].concat());
        assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stdout);
        let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(value.is_object());
        value
    }

    /// Every path below the folder, with sizes.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, u64)> {
        let mut all = Vec::new();
        list(self.folder.path(), &mut all);
        all.sort();
        all
    }
}

fn list(folder: &Path, all: &mut Vec<(PathBuf, u64)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        if about.is_dir() {
            all.push((entry.path(), 0));
            list(&entry.path(), all);
        } else {
            all.push((entry.path(), about.len()));
        }
    }
}

pub(crate) fn outcome(output: &Output) -> Outcome {
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// The bytes of every file of a model.
pub(crate) fn model_bytes(model: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(model)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Makes small exact data.
pub(crate) const SYNTH: [&str; 10] = [
    "synth",
    "--dims",
    "20,15,10",
    "--rank",
    "2",
    "--observations",
    "500",
    "-o",
    "train.tns",
    "--seed=1",
];

/// A folder with `train.tns` and `test.tns`.
pub(crate) fn place_with_data() -> Place {
    let place = Place::new();
    place.succeed(&[&SYNTH[..], &["--test", "test.tns"]].concat());
    place
}
