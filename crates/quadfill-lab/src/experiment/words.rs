//! Names and remarks that several experiments share.

use std::fmt::Write;

use super::row::Row;

/// The name of a method in charts.
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

/// An explanation of the units.
pub(super) const UNITS: &str = "c is m / (d r), with d the size of one mode. In results.json it \
    is given as c_per_mode, as c_per_stacked (with the stacked dimension n = 3 d instead of d, a third \
    of it), and as per_free_parameter (observations per free parameter; with three modes there are \
    3 d r \u{2212} r (r \u{2212} 1) / 2 of these, so c = 3 is about one per parameter).";

/// How many draws it took until every label had enough observations.
pub(super) fn draws(rows: &[Row]) -> String {
    // Fits that record every sweep have a row for each.
    let tensors: Vec<&Row> =
        rows.iter().filter(|row| matches!(row.count("sweep"), 0 | 1)).collect();
    let most = tensors.iter().map(|row| row.count("draws")).max().unwrap_or(0);
    let all: usize = tensors.iter().map(|row| row.count("draws")).sum();
    let mended = tensors.iter().filter(|row| row.count("mended_cells") > 0).count();
    let mut words = format!(
        "Every label has at least r observations: cells were redrawn until that held, {all} draws for {} \
         fits, at most {most} for one fit.",
        tensors.len()
    );
    if mended > 0 {
        let _ = write!(
            words,
            " For {mended} fits, all with barely more observations than the labels need, redrawing would \
             have taken too long, and cells of labels with more than r observations were replaced by cells \
             of labels with fewer."
        );
    }
    words
}
