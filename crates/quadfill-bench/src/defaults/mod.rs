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

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
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
    /// Plain `fit` and the peers.
    PlainAndPeers,
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
    /// The number of the first one, which decides what is drawn.
    pub(crate) first_split: u64,
    /// Only rows whose name contains this.
    pub(crate) row: Option<String>,
    /// The file of an earlier run whose settings and peers plain `fit` is compared with.
    pub(crate) against: Option<PathBuf>,
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
    let earlier = options.earlier()?;
    let heads = heads(if earlier.is_empty() { options.columns } else { Columns::All });
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
                "{:<width$} needs --peers: it comes inside a Python package",
                set.name,
                width = table::NAME
            );
            continue;
        };
        for (name, share) in wanted {
            let mut row = measure(set, &cells, (&name, share), &sources, &mut cache, options)?;
            if !earlier.is_empty() {
                row.take_columns(&earlier);
            }
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
    let name = options.file_name();
    let json = serde_json::to_string_pretty(&rows)?;
    std::fs::write(folder.join(format!("{name}.json")), json)?;
    std::fs::write(folder.join(format!("{name}.md")), table::markdown(&rows, &heads))?;
    Ok(())
}

impl Options {
    /// The rows of the earlier run, if there is one to compare with.
    fn earlier(&self) -> anyhow::Result<Vec<Row>> {
        let Some(path) = &self.against else { return Ok(Vec::new()) };
        let read = || anyhow::Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?);
        read().with_context(|| format!("cannot read {}", path.display()))
    }

    /// A part of the table does not overwrite the whole one, which later runs are compared with.
    fn file_name(&self) -> &'static str {
        let is_whole = self.columns == Columns::All && self.row.is_none();
        if is_whole { "defaults" } else { "defaults-part" }
    }

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
    for number in options.first_split..options.first_split + options.splits {
        let (train, test) = datasets::split(cells, share, number)?;
        row.cells = train.len();
        if options.columns != Columns::Peers {
            row.plain.push(plain(&train, &test, unit)?);
        }
        if options.columns == Columns::All {
            for (head, config) in settings::settings() {
                match quadfill::fit(train.clone(), &config) {
                    Ok(model) => {
                        let error = model.evaluate(&test)?.rmse / unit;
                        row.add(head, Some(error), settings::was_cut_short(&model));
                    }
                    // A setting that the data do not allow is left out.
                    Err(error) => println!("{name}, {head}: {error}"),
                }
            }
        }
        if options.columns != Columns::Plain {
            let split = Split { row: name, number, train: &train, test: &test };
            for peer in set.peers {
                // One that is not installed, or fails, does not stop the others.
                let rmse = cache.best(sources.peers, peer, &split, sources.folder).unwrap_or_else(
                    |error| {
                        println!("{name}: {}", last_line(&error));
                        None
                    },
                );
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

/// The line of a Python traceback that says what went wrong.
fn last_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let (first, last) = (text.lines().next(), text.lines().last());
    let words: Vec<&str> =
        first.into_iter().chain(last.filter(|_| text.lines().count() > 1)).collect();
    words.join(" ")
}
