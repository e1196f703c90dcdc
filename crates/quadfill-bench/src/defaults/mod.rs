//! The scoreboard of plain `fit`: its test error beside each single setting and beside peers, on data sets of
//! different kinds.
//!
//! A row is a data set and the share of it that is observed; splits are random with fixed seeds, the same for all
//! columns. The table is printed, and written as JSON and Markdown.

mod cache;
mod datasets;
mod results;
mod settings;
mod table;
mod timing;

use std::path::Path;
use std::time::Instant;

use quadfill::Observations;

use crate::peers::Peers;
use cache::{Cache, Split};
use datasets::{DATA_SETS, DataSet, Sources};
use results::{Plain, Row};

pub(crate) use timing::run as time;

/// Which columns are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Plain `fit`, the settings and the peers.
    All,
    /// Plain `fit` alone.
    Plain,
    /// The peers alone, to fill the file of their figures.
    Peers,
}

/// What of the scoreboard is run.
pub(crate) struct Options {
    pub(crate) columns: Columns,
    /// The number of splits; the table has medians.
    pub(crate) splits: u64,
    /// Only rows whose name contains this.
    pub(crate) row: Option<String>,
}

/// Runs the rows that are wanted and prints the table.
pub(crate) fn run(
    peers: &Peers,
    data: &Path,
    folder: &Path,
    options: &Options,
) -> anyhow::Result<()> {
    let sources = Sources { data, folder, peers };
    let mut cache = Cache::open(folder)?;
    let heads = heads(options.columns);
    println!(
        "\nplain fit beside single settings and peers: test errors, {} split(s)",
        options.splits
    );
    println!("{}", settings::LEGEND);
    println!("{}", table::head(&heads));
    let mut rows = Vec::new();
    for set in DATA_SETS {
        let wanted: Vec<(String, f64)> = set
            .shares
            .iter()
            .map(|(share, part)| (format!("{} {share}", set.name), *part))
            .filter(|(name, _)| options.wants(name))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let Some(cells) = set.load(&sources)? else {
            println!(
                "{:<table$} needs --peers: it comes inside a Python package",
                set.name,
                table = table::NAME
            );
            continue;
        };
        for (name, share) in wanted {
            let row = measure(set, &cells, (&name, share), &sources, &mut cache, options)?;
            println!("{}", table::line(&row, &heads));
            rows.push(row);
        }
    }
    print!("{}", table::summary(&rows));
    if cache.reused > 0 {
        println!(
            "{} figures of peers are from earlier runs: bench-out/peers-cache.json",
            cache.reused
        );
    }
    std::fs::write(folder.join("defaults.json"), table::json(&rows)?)?;
    std::fs::write(folder.join("defaults.md"), table::markdown(&rows, &heads))?;
    Ok(())
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.row.as_ref().is_none_or(|part| name.contains(&part.to_lowercase()))
    }
}

/// The names of the columns besides plain `fit`.
fn heads(columns: Columns) -> Vec<String> {
    let mut heads = Vec::new();
    if columns == Columns::All {
        heads.extend(settings::settings().into_iter().map(|(name, _)| name.to_owned()));
    }
    if columns != Columns::Plain {
        for peer in DATA_SETS.iter().flat_map(|set| set.peers) {
            if !heads.iter().any(|head| head == peer.name) {
                heads.push(peer.name.to_owned());
            }
        }
    }
    heads
}

/// All columns of a row.
fn measure(
    set: &DataSet,
    cells: &Observations,
    (name, share): (&str, f64),
    sources: &Sources<'_>,
    cache: &mut Cache,
    options: &Options,
) -> anyhow::Result<Row> {
    let unit = datasets::unit(cells, set.unit);
    let mut row = Row::new(name, set.is_tuned_on);
    for number in 1..=options.splits {
        let (train, test) = datasets::split(cells, share, number)?;
        row.cells = train.len();
        if options.columns != Columns::Peers {
            row.plain.push(plain(&train, &test, unit)?);
        }
        if options.columns == Columns::All {
            for (head, config) in settings::settings() {
                let model = quadfill::fit(train.clone(), &config)?;
                let error = model.evaluate(&test)?.rmse / unit;
                row.add(head, Some(error), settings::was_cut_short(&model));
            }
        }
        if options.columns != Columns::Plain {
            let split = Split { row: name, number, train: &train, test: &test };
            for peer in set.peers {
                let rmse = cache.best(sources.peers, peer, &split, sources.folder)?;
                row.add(peer.name, rmse.map(|rmse| rmse / unit), false);
            }
        }
    }
    Ok(row)
}

fn plain(train: &Observations, test: &Observations, unit: f64) -> anyhow::Result<Plain> {
    let start = Instant::now();
    let model = quadfill::fit(train.clone(), &settings::plain())?;
    let seconds = start.elapsed().as_secs_f64();
    let error = model.evaluate(test)?.rmse / unit;
    Ok(Plain { error, seconds, chosen: settings::chosen(&model) })
}
