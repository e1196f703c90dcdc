//! Reading a large file.

use std::path::Path;
use std::time::Instant;

use quadfill_io::{BinSpec, ReadOptions, read};

use crate::data;
use crate::peers::Peers;

/// 10 million rows of user, film, rating and time, with the time in bins of 20 weeks, as text and as Parquet.
pub(crate) fn run(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let (double, comma) = (folder.join("ratings.dat"), folder.join("ratings.csv"));
    let cells = data::ratings(71_567, 10_681, 37, data::TEN_MILLION, 2);
    cells.write_text(&double, "::")?;
    cells.write_text(&comma, ",")?;
    let rows = cells.values.len();
    anyhow::ensure!(rows >= 10_000_000, "only {rows} distinct cells: raise TEN_MILLION");
    println!("\nreading {rows} rows to labelled observations with a time bin");
    drop(cells);
    let csv = peers.figure("polars_read.py", &[&comma.to_string_lossy()])?;
    for file in [&double, &comma] {
        print("polars.read_csv", file, seconds(file, rows)?, csv);
    }
    for compression in ["zstd", "snappy"] {
        let file = folder.join(format!("ratings.{compression}.parquet"));
        let arguments = [&*comma.to_string_lossy(), &*file.to_string_lossy(), compression];
        // Without polars there is nobody to write the file.
        if let Some(theirs) = peers.figure("polars_read.py", &arguments)? {
            print("polars.read_parquet", &file, seconds(&file, rows)?, Some(theirs));
        }
    }
    Ok(())
}

/// The shortest of three times.
fn seconds(file: &Path, rows: usize) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let data = read(file, &options()?)?;
        best = best.min(start.elapsed().as_secs_f64());
        anyhow::ensure!(data.len() == rows, "not all rows were read");
    }
    Ok(best)
}

fn print(peer: &str, file: &Path, ours: f64, theirs: Option<f64>) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match theirs {
        Some(theirs) => {
            let ratio = ours / theirs;
            println!("{name:<24} {ours:.2} s, {peer} {theirs:.2} s: ours takes {ratio:.2} x");
        }
        None => println!("{name:<24} {ours:.2} s"),
    }
}

pub(crate) fn options() -> anyhow::Result<ReadOptions> {
    Ok(ReadOptions {
        modes: Some(vec!["1".into(), "2".into(), "4".into()]),
        value: Some("3".into()),
        bins: vec![BinSpec::parse("4=20w")?],
        ..ReadOptions::default()
    })
}
