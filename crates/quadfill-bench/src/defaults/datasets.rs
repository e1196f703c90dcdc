//! The data sets of the scoreboard, and how each is read and split.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use quadfill::{Observations, OnDuplicate};
use quadfill_io::{BinSize, BinSpec, ReadOptions, read, read_bytes};

use crate::peers::Peers;

/// The unit of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Root mean squared error, in the units of the data.
    Rmse,
    /// The same over the root mean square of all values of the data set: the relative error of the
    /// experiments on images.
    Relative,
}

/// A peer, and the ranks of which the best on the test data counts.
pub(super) struct Peer {
    /// Its name in `peers/test_error.py`.
    pub(super) name: &'static str,
    pub(super) ranks: &'static [usize],
    /// Whether values are standardised for it.
    pub(super) standardise: bool,
}

const ON_RATINGS: &[Peer] = &[
    Peer { name: "myfm", ranks: &[5, 10, 20], standardise: false },
    Peer { name: "lenskit", ranks: &[10], standardise: false },
    Peer { name: "cmfrec", ranks: &[10], standardise: false },
];
const ON_CELLS: &[Peer] = &[Peer { name: "myfm", ranks: &[10], standardise: true }];
/// `TensorLy` works on the whole array, so only small ones.
const ON_SMALL_ARRAYS: &[Peer] = &[
    Peer { name: "myfm", ranks: &[10], standardise: true },
    Peer { name: "tensorly", ranks: &[10], standardise: true },
];

/// A data set with the shares of it that are observed.
pub(super) struct DataSet {
    pub(super) name: &'static str,
    /// How each share is called, and the part of the data that is for training.
    pub(super) shares: &'static [(&'static str, f64)],
    pub(super) unit: Unit,
    /// Whether defaults were tuned on it: then it is shown but not counted.
    pub(super) is_tuned_on: bool,
    pub(super) peers: &'static [Peer],
    load: fn(&Sources<'_>) -> anyhow::Result<Option<Observations>>,
}

/// Where data come from.
pub(super) struct Sources<'a> {
    /// The folder with the data sets.
    pub(super) data: &'a Path,
    /// The folder for files of the benchmark.
    pub(super) folder: &'a Path,
    pub(super) peers: &'a Peers,
}

const MISSING: &[(&str, f64)] =
    &[("20 % missing", 0.8), ("40 % missing", 0.6), ("60 % missing", 0.4)];
const RATINGS: &[(&str, f64)] = &[("80 %", 0.8), ("20 %", 0.2)];
const CUBE: &[(&str, f64)] = &[("0.1 %", 0.001), ("0.3 %", 0.003), ("1 %", 0.01), ("10 %", 0.1)];
const HALF: &[(&str, f64)] = &[("50 %", 0.5), ("10 %", 0.1)];

/// All data sets, in the order of the table.
pub(super) const DATA_SETS: &[DataSet] = &[
    DataSet {
        name: "MovieLens week",
        shares: RATINGS,
        unit: Unit::Rmse,
        is_tuned_on: false,
        peers: ON_RATINGS,
        load: |sources| ratings(sources, 7.0 * DAY).map(Some),
    },
    DataSet {
        name: "MovieLens day",
        shares: RATINGS,
        unit: Unit::Rmse,
        is_tuned_on: false,
        peers: ON_RATINGS,
        load: |sources| ratings(sources, DAY).map(Some),
    },
    DataSet {
        name: "Jasper",
        shares: CUBE,
        unit: Unit::Relative,
        is_tuned_on: false,
        peers: ON_CELLS,
        load: |sources| {
            array(&sources.data.join("hyperspectral/jasper_ridge_100x100x198.npy")).map(Some)
        },
    },
    DataSet {
        name: "CAVE",
        shares: CUBE,
        unit: Unit::Relative,
        is_tuned_on: false,
        peers: ON_CELLS,
        load: |sources| array(&sources.data.join("hyperspectral/cave_256x256x31.mat")).map(Some),
    },
    DataSet {
        name: "Hangzhou",
        shares: MISSING,
        unit: Unit::Rmse,
        is_tuned_on: false,
        peers: ON_SMALL_ARRAYS,
        load: |sources| traffic(sources, "hangzhou_80x25x108.mat").map(Some),
    },
    DataSet {
        name: "Birmingham",
        shares: MISSING,
        unit: Unit::Rmse,
        is_tuned_on: true,
        peers: ON_SMALL_ARRAYS,
        load: |sources| traffic(sources, "birmingham_30x77x18.mat").map(Some),
    },
    DataSet {
        name: "frappe",
        shares: &[("80 %", 0.8)],
        unit: Unit::Rmse,
        is_tuned_on: true,
        peers: ON_CELLS,
        load: |sources| app_use(sources).map(Some),
    },
    DataSet {
        name: "pines",
        shares: CUBE,
        unit: Unit::Relative,
        is_tuned_on: true,
        peers: ON_CELLS,
        load: |sources| packaged(sources, "pines.npy"),
    },
    DataSet {
        name: "responses",
        shares: HALF,
        unit: Unit::Relative,
        is_tuned_on: true,
        peers: ON_SMALL_ARRAYS,
        load: |sources| packaged(sources, "responses.npy"),
    },
    DataSet {
        name: "serology",
        shares: HALF,
        unit: Unit::Relative,
        is_tuned_on: false,
        peers: ON_SMALL_ARRAYS,
        load: |sources| packaged(sources, "serology.npy"),
    },
    DataSet {
        name: "kinetic",
        shares: HALF,
        unit: Unit::Relative,
        is_tuned_on: false,
        peers: ON_SMALL_ARRAYS,
        load: |sources| packaged(sources, "kinetic.npy"),
    },
];

/// Above this many test cells a random part of them is used: the error of an error is then below 1 %, and the
/// same cells are used for all columns of a row.
const MAX_TEST: usize = 200_000;
const DAY: f64 = 86_400.0;

impl DataSet {
    /// All its values, or `None` if it comes with peers that are not installed.
    pub(super) fn load(&self, sources: &Sources<'_>) -> anyhow::Result<Option<Observations>> {
        (self.load)(sources).with_context(|| format!("cannot read {}", self.name))
    }
}

/// Training data with a share of the observations, and test data.
pub(super) fn split(
    data: &Observations,
    share: f64,
    seed: u64,
) -> anyhow::Result<(Observations, Observations)> {
    let (train, test) = data.clone().split_random(1.0 - share, seed)?;
    if test.len() <= MAX_TEST {
        return Ok((train, test));
    }
    // Another seed, as the same one would move the same cells again.
    let part = MAX_TEST as f64 / test.len() as f64;
    let (_, test) = test.split_random(part, seed + 1000)?;
    Ok((train, test))
}

/// What to divide a root mean squared error by.
pub(super) fn unit(data: &Observations, unit: Unit) -> f64 {
    if unit == Unit::Rmse {
        return 1.0;
    }
    let squares = data.values().iter().map(|value| value * value).sum::<f64>();
    (squares / data.len() as f64).sqrt()
}

/// User x movie x time step of `MovieLens`-100K.
pub(crate) fn ratings(sources: &Sources<'_>, step: f64) -> anyhow::Result<Observations> {
    let options = ReadOptions {
        modes: Some(["1", "2", "4"].map(Into::into).to_vec()),
        value: Some("3".into()),
        bins: vec![BinSpec { column: "4".into(), size: Some(BinSize::Seconds(step)) }],
        ..ReadOptions::default()
    };
    Ok(read(sources.data.join("movielens-100k/u.data"), &options)?)
}

fn array(path: &Path) -> anyhow::Result<Observations> {
    Ok(read(path, &ReadOptions::default())?)
}

/// A dense array in which zeros are missing.
fn traffic(sources: &Sources<'_>, file: &str) -> anyhow::Result<Observations> {
    let (modes, indices, values, _) = array(&sources.data.join("traffic").join(file))?.into_parts();
    let is_known: Vec<bool> = values.iter().map(|&value| value != 0.0).collect();
    let indices = indices.into_iter().map(|column| known(column, &is_known)).collect();
    let values = known(values, &is_known);
    Ok(Observations::new(modes, indices, values, None, OnDuplicate::Error)?)
}

fn known<V>(column: Vec<V>, is_known: &[bool]) -> Vec<V> {
    column.into_iter().zip(is_known).filter(|(_, known)| **known).map(|(value, _)| value).collect()
}

/// How often a user opened an app in a context, as log(1 + count): counts are spread over four orders of
/// magnitude. Counts of the same context are added.
fn app_use(sources: &Sources<'_>) -> anyhow::Result<Observations> {
    let archive = File::open(sources.data.join("context-frappe/Mobile_Frappe.zip"))?;
    let mut text = Vec::new();
    zip::ZipArchive::new(archive)?
        .by_name("Mobile_Frappe/frappe/frappe.csv")?
        .read_to_end(&mut text)?;
    let fields = ["user", "item", "daytime", "weekday", "homework", "weather"];
    let options = ReadOptions {
        modes: Some(fields.map(Into::into).to_vec()),
        value: Some("cnt".into()),
        on_duplicate: OnDuplicate::Sum,
        ..ReadOptions::default()
    };
    let counts = read_bytes("frappe.csv", &text, &options)?;
    let (modes, indices, values, _) = counts.into_parts();
    let values = values.into_iter().map(f64::ln_1p).collect();
    Ok(Observations::new(modes, indices, values, None, OnDuplicate::Error)?)
}

/// An array that comes inside a Python package: written by a script on first use.
fn packaged(sources: &Sources<'_>, file: &str) -> anyhow::Result<Option<Observations>> {
    let path = sources.folder.join(file);
    if !path.exists() {
        let folder = sources.folder.to_string_lossy();
        if sources.peers.figure("packaged_data.py", &[&*folder])?.is_none() {
            return Ok(None);
        }
    }
    array(&path).map(Some)
}
