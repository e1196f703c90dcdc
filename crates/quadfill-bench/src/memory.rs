//! Bytes per observation at the peak of a fit.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use crate::data;

/// Fits a large file with the program and samples its memory. Pages of the mapped input are excluded.
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let input = folder.join("ratings.dat");
    if !input.exists() {
        data::ratings(71_567, 10_681, 37, data::TEN_MILLION, 2).write_text(&input, "::")?;
    }
    let program = std::env::current_exe()?.with_file_name("quadfill");
    let rows =
        std::io::BufRead::lines(std::io::BufReader::new(std::fs::File::open(&input)?)).count();
    let mut child = Command::new(&program)
        .args(["fit", "--modes", "1,2,4", "--value", "3", "--bin", "4=20w", "--precision", "f32"])
        .args(["--rank", "10", "--sweeps", "6", "--quiet", "-o"])
        .arg(folder.join("memory-model"))
        .arg(&input)
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| {
            format!("{} does not exist: build the program first", program.display())
        })?;
    let mut peak = 0u64;
    let status = format!("/proc/{}/status", child.id());
    while child.try_wait()?.is_none() {
        if let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    println!("\nfit of {rows} rows in f32, rank 10, reading included");
    println!("peak memory        {:.1} bytes per observation", peak as f64 / rows as f64);
    Ok(())
}
