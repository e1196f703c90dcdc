//! Flags that say how a file is read; what is left out is detected from the file.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use quadfill::OnDuplicate;
use quadfill_io::{BinSpec, ColumnRef, Format, ReadOptions};

use super::values;

/// How any file of rows is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingFlags {
    /// The columns that are modes, by name or number: user,movie,week; all but the value by default
    #[arg(long, value_name = "COLUMNS")]
    modes: Option<String>,
    /// The column of the values, by name or number; by default the one that is called rating, score,
    /// count or the like, or else the last one
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// What separates fields: any text, tab, space or whitespace; detected by default
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide_short_help = true)]
    delimiter: Option<String>,
    /// The first row holds names; detected by default
    #[arg(long, overrides_with = "no_header", hide_short_help = true)]
    header: bool,
    /// The first row holds data
    #[arg(long, hide_short_help = true)]
    no_header: bool,
    /// delimited, tns, npy, npz, parquet or mat; from the file name by default
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    format: Option<String>,
    /// A mask for a dense array: an .npy array of the same shape, zero where cells are missing
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    mask: Option<PathBuf>,
    /// The value that stands for a missing cell of a dense array: 0; NaN always does
    #[arg(long, value_name = "NUMBER", value_parser = values::real, allow_negative_numbers = true, hide_short_help = true)]
    missing: Option<f64>,
    /// The variable of a .mat file; the only array by default
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    variable: Option<String>,
}

/// How observations for a model are read; the model has the bins.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ObservedFlags {
    #[command(flatten)]
    rows: ReadingFlags,
    /// The column of weights; without it every row counts 1
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    weight: Option<String>,
    /// What to do with a cell that is given more than once
    #[arg(long, value_name = "WHAT", value_enum, default_value = "error", hide_short_help = true)]
    on_duplicate: Duplicates,
}

/// How a file of observations is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct DataFlags {
    #[command(flatten)]
    observed: ObservedFlags,
    /// Cut a column of times into bins: timestamp=20w (s, m, h, d, w), or timestamp=24 for 24 equal bins.
    /// Columns that are called and look like times (seconds or milliseconds since 1970, or dates) are cut
    /// to suit their span; timestamp=none keeps the times as labels
    #[arg(long, value_name = "COLUMN=SIZE")]
    bin: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Duplicates {
    /// Refuse the data
    Error,
    /// Take the mean
    Mean,
    /// Take the last one
    Last,
    /// Take the sum
    Sum,
}

impl ReadingFlags {
    pub(crate) fn resolve(&self) -> Result<ReadOptions> {
        let format = self.format.as_deref().map(str::parse::<Format>).transpose()?;
        let modes = self
            .modes
            .as_ref()
            .map(|columns| columns.split(',').map(|name| ColumnRef::from(name.trim())).collect());
        Ok(ReadOptions {
            format,
            delimiter: self.delimiter.clone(),
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            modes,
            value: self.value.as_deref().map(ColumnRef::from),
            mask: self.mask.clone(),
            missing: self.missing,
            variable: self.variable.clone(),
            ..ReadOptions::default()
        })
    }
}

impl ObservedFlags {
    pub(crate) fn resolve(&self) -> Result<ReadOptions> {
        Ok(ReadOptions {
            weight: self.weight.as_deref().map(ColumnRef::from),
            on_duplicate: match self.on_duplicate {
                Duplicates::Error => OnDuplicate::Error,
                Duplicates::Mean => OnDuplicate::Mean,
                Duplicates::Last => OnDuplicate::Last,
                Duplicates::Sum => OnDuplicate::Sum,
            },
            ..self.rows.resolve()?
        })
    }
}

impl DataFlags {
    pub(crate) fn resolve(&self) -> Result<ReadOptions> {
        let bins = self.bin.iter().map(|bin| BinSpec::parse(bin)).collect::<Result<_, _>>()?;
        Ok(ReadOptions { bins, ..self.observed.resolve()? })
    }
}
