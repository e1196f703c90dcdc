//! Speed, memory and reading, compared with the limits of this machine and any installed peers.
//!
//! `quadfill-bench [--peers VENV] [--data FOLDER] [--only PART]` prints one line per figure. Parts are
//! sweep, small, gibbs, certificate, reading, memory, top, fold-in and, on data sets in FOLDER,
//! ratings, links and tags. The scoreboard of plain `fit` and its times are run only when they are named:
//! `--only defaults --data FOLDER [--peers VENV] [--row TEXT] [--splits N] [--first-split N]` with `--plain`,
//! `--no-settings` or `--against FILE` for fewer columns, `--only defaults-peers` for the peers of the
//! scoreboard alone, and `--only defaults-time`.
//! Peers run as Python scripts on the same data, in the same run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod certificate;
mod clock;
mod data;
mod defaults;
mod fold;
mod gibbs;
mod links;
mod memory;
mod peers;
mod ratings;
mod reading;
mod split_files;
mod sweeps;
mod tags;
mod top;

use anyhow::{Context, bail};
use std::path::PathBuf;

/// What `--only` may name, in the order in which they run; the last ones need `--data`.
const PARTS: [&str; 14] = [
    "sweep",
    "small",
    "gibbs",
    "certificate",
    "reading",
    "memory",
    "top",
    "fold-in",
    "ratings",
    "links",
    "tags",
    "defaults",
    "defaults-peers",
    "defaults-time",
];

/// Parts that take long and are run only when `--only` names them.
const ONLY_WHEN_NAMED: &str = "defaults";

const USAGE: &str = "quadfill-bench [--only PART] [--peers VENV] [--data FOLDER]
    with --only defaults: [--row TEXT] [--splits N] [--first-split N] [--plain | --no-settings | --against FILE]";

fn main() -> anyhow::Result<()> {
    let mut peers = None;
    let mut only = None;
    let mut data = None;
    let mut row = None;
    let mut splits = 1;
    let mut first_split = 1;
    let mut plain = false;
    let mut no_settings = false;
    let mut against = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--peers" => peers = Some(PathBuf::from(value()?)),
            "--only" => only = Some(value()?),
            "--data" => data = Some(PathBuf::from(value()?)),
            "--row" => row = Some(value()?),
            "--splits" => splits = value()?.parse().context("--splits needs a number")?,
            "--first-split" => {
                first_split = value()?.parse().context("--first-split needs a number")?;
            }
            "--plain" => plain = true,
            "--no-settings" => no_settings = true,
            "--against" => against = Some(PathBuf::from(value()?)),
            "--help" => {
                println!("{USAGE}");
                println!("PART is one of {}", PARTS.join(", "));
                return Ok(());
            }
            _ => bail!("unknown argument {arg}\n{USAGE}"),
        }
    }
    if let Some(only) = &only {
        anyhow::ensure!(
            PARTS.contains(&only.as_str()),
            "unknown part {only}: choose one of {}",
            PARTS.join(", ")
        );
    }
    let wants = |part: &str| match &only {
        Some(only) => only == part,
        None => !part.starts_with(ONLY_WHEN_NAMED),
    };
    let scoreboard = match only.as_deref() {
        Some("defaults") if plain || against.is_some() => Some(defaults::Columns::Plain),
        Some("defaults") if no_settings => Some(defaults::Columns::PlainAndPeers),
        Some("defaults") => Some(defaults::Columns::All),
        Some("defaults-peers") => Some(defaults::Columns::Peers),
        _ => None,
    };
    let peers = peers::Peers::new(peers.as_deref())?;
    let folder = PathBuf::from("bench-out");
    std::fs::create_dir_all(&folder)?;
    let backend = quadfill_kernels::Backend::detect();
    println!("instruction set    {}", backend.isa());
    if wants("sweep") {
        sweeps::ratings(&peers, &folder)?;
    }
    if wants("small") {
        sweeps::small(&peers, &folder)?;
    }
    if wants("gibbs") {
        gibbs::run(&peers, &folder)?;
    }
    if wants("certificate") {
        certificate::run()?;
    }
    if wants("reading") {
        reading::run(&peers, &folder)?;
    }
    if wants("memory") {
        memory::run(&folder)?;
    }
    if wants("top") {
        top::run()?;
    }
    if wants("fold-in") {
        fold::speed()?;
    }
    if wants("defaults-time") {
        defaults::time(&peers, data.as_deref(), &folder, row.as_deref())?;
    }
    if let Some(columns) = scoreboard {
        let data = data.as_deref().context("the scoreboard needs --data FOLDER")?;
        let options = defaults::Options { columns, splits, first_split, row, against };
        defaults::run(&peers, data, &folder, &options)?;
        return Ok(());
    }
    if let Some(data) = &data {
        if wants("fold-in") {
            fold::quality(data)?;
        }
        if wants("ratings") {
            ratings::run(&peers, data, &folder)?;
        }
        if wants("links") {
            links::run(data, &folder)?;
        }
        if wants("tags") {
            tags::run(data)?;
        }
    }
    Ok(())
}
