//! Reading a large delimited file.

use std::path::Path;
use std::time::Instant;

use quadfill_io::{BinSpec, ReadOptions, read};

use crate::data;
use crate::peers::Peers;

/// 10 million rows of `user::film::rating::time`, with the time in bins of 20 weeks.
pub(crate) fn run(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let (double, comma) = (folder.join("ratings.dat"), folder.join("ratings.csv"));
    let cells = data::ratings(71_567, 10_681, 37, data::TEN_MILLION, 2);
    cells.write_text(&double, "::")?;
    cells.write_text(&comma, ",")?;
    let rows = cells.values.len();
    anyhow::ensure!(rows >= 10_000_000, "only {rows} distinct cells: raise TEN_MILLION");
    println!("\nreading {rows} rows");
    drop(cells);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let data = read(&double, &options()?)?;
        best = best.min(start.elapsed().as_secs_f64());
        anyhow::ensure!(data.len() == rows, "not all rows were read");
    }
    println!("`::` with a time bin, to labelled observations  {best:.2} s");
    if let Some(seconds) = peers.figure("polars_read.py", &[&comma.to_string_lossy()])? {
        println!(
            "polars.read_csv of the same as CSV              {seconds:.2} s: ours takes {:.2} x",
            best / seconds
        );
    }
    Ok(())
}

pub(crate) fn options() -> anyhow::Result<ReadOptions> {
    Ok(ReadOptions {
        modes: Some(vec!["1".into(), "2".into(), "4".into()]),
        value: Some("3".into()),
        bins: vec![BinSpec::parse("4=20w")?],
        ..ReadOptions::default()
    })
}
