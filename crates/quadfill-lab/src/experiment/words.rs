//! Words that several experiments use.

use std::fmt::Write;

use super::row::Row;

/// A method as the charts call it.
pub(super) fn method(name: &str) -> &'static str {
    match name {
        "als" => "plain ALS",
        "als-spectral" => "ALS from eigenvectors",
        "path" => "path",
        "sdp" => "SDP",
        "lbfgs" => "L-BFGS",
        "gd" => "gradient descent",
        "learned" => "path, kernel learned",
        _ => "other",
    }
}

/// The colour of a method, the same in every chart.
pub(super) fn colour(name: &str) -> usize {
    match name {
        "path" => 0,
        "als" => 1,
        "sdp" | "lbfgs" => 2,
        "gd" => 3,
        "learned" => 4,
        _ => 5,
    }
}

/// How the units are to be read.
pub(super) const UNITS: &str = "c is m / (d r), with d the size of one mode. In results.json the \
    same number stands as c_per_mode, as c_per_stacked (with the stacked dimension n = 3 d in the \
    place of d, a third of it), and as per_free_parameter (observations for each free parameter; \
    with three modes there are 3 d r \u{2212} r (r \u{2212} 1) / 2 of those, so that c = 3 is about one each).";

/// How often the cells were drawn so that every label had enough.
pub(super) fn draws(rows: &[Row]) -> String {
    // A fit that was watched has a row for every sweep.
    let tensors: Vec<&Row> =
        rows.iter().filter(|row| matches!(row.count("sweep"), 0 | 1)).collect();
    let most = tensors.iter().map(|row| row.count("draws")).max().unwrap_or(0);
    let all: usize = tensors.iter().map(|row| row.count("draws")).sum();
    let mended = tensors.iter().filter(|row| row.count("mended_cells") > 0).count();
    let mut words = format!(
        "Every label has at least r observations: cells were drawn again until that was so, {all} \
         draws for {} fits, {most} at most for one.",
        tensors.len()
    );
    if mended > 0 {
        let _ = write!(
            words,
            " For {mended} fits, all with hardly more observations than the labels need, no moderate \
             number of draws would do, and cells of labels with plenty were exchanged for cells of \
             those with too few."
        );
    }
    words
}
