//! Reads a file and prints what it holds and how long that took.
//!
//! ```text
//! cargo run --release -p quadfill-io --example read -- FILE [--modes a,b] [--value c] [--bin t=20w]
//! ```

#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use std::time::Instant;

use quadfill_io::{BinSpec, ReadOptions, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file")?;
    let mut options = ReadOptions::default();
    while let (Some(flag), Some(text)) = (arguments.next(), arguments.next()) {
        match flag.as_str() {
            "--modes" => options.modes = Some(text.split(',').map(Into::into).collect()),
            "--value" => options.value = Some(text.as_str().into()),
            "--variable" => options.variable = Some(text),
            "--bin" => options.bins.push(BinSpec::parse(&text)?),
            _ => return Err(format!("{flag} is not known").into()),
        }
    }
    let start = Instant::now();
    let data = read(&file, &options)?;
    println!("seconds    {:.3}", start.elapsed().as_secs_f64());
    println!("rows       {}", data.len());
    for (mode, size) in data.modes().iter().zip(data.sizes()) {
        println!("mode       {} with {size} labels", mode.name);
        if let Some(bins) = mode.bins {
            println!("           bins of {} s from {}", bins.width, bins.origin);
        }
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        // Pages of the mapped file count as RssFile, everything the reader allocated as RssAnon.
        for line in
            status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("Rss"))
        {
            println!("{line}");
        }
    }
    Ok(())
}
