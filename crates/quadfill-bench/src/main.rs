//! Speed, memory and reading, compared with the limits of this machine and any installed peers.
//!
//! `quadfill-bench [--peers VENV] [--data FOLDER] [--only PART]` prints one line per figure. Parts are
//! sweep, small, gibbs, certificate, reading, memory, top, fold-in and, on data sets in FOLDER,
//! ratings, links and tags.
//! Peers run as Python scripts on the same data, in the same run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod certificate;
mod clock;
mod data;
mod fold;
mod gibbs;
mod links;
mod memory;
mod peers;
mod ratings;
mod reading;
mod sweeps;
mod tags;
mod top;

use anyhow::{Context, bail};
use std::path::PathBuf;

/// What `--only` may name, in the order in which they run; the last ones need `--data`.
const PARTS: [&str; 11] = [
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
];

fn main() -> anyhow::Result<()> {
    let mut peers = None;
    let mut only = None;
    let mut data = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--peers" => peers = Some(PathBuf::from(value()?)),
            "--only" => only = Some(value()?),
            "--data" => data = Some(PathBuf::from(value()?)),
            "--help" => {
                println!("quadfill-bench [--only PART] [--peers VENV] [--data FOLDER]");
                println!("PART is one of {}", PARTS.join(", "));
                return Ok(());
            }
            _ => bail!("unknown argument {arg}: use --peers VENV, --data FOLDER or --only PART"),
        }
    }
    if let Some(only) = &only {
        anyhow::ensure!(
            PARTS.contains(&only.as_str()),
            "unknown part {only}: choose one of {}",
            PARTS.join(", ")
        );
    }
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
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
