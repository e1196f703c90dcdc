//! Everything an experiment leaves behind.

use std::path::{Path, PathBuf};

use quadfill_io::write_atomically;
use serde::Serialize;

use super::Experiment;
use super::row::{Row, csv};
use super::run::Measured;
use crate::error::Result;
use crate::report::{Block, Page, Section};

#[derive(Serialize)]
struct Results<'a> {
    experiment: &'a str,
    seconds: f64,
    rows: &'a [Row],
}

/// Writes `results.json`, `results.csv`, `report.html`, and every chart as SVG and PNG. Returns the
/// names of the files.
pub fn write(
    experiment: &dyn Experiment,
    measured: &Measured,
    command: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let rows = &measured.rows;
    let results = Results { experiment: experiment.name(), seconds: measured.seconds, rows };
    let mut json = serde_json::to_string_pretty(&results).unwrap_or_default();
    json.push('\n');
    let left = experiment.leave(rows, folder)?;
    let page = page(experiment, measured, command, left);
    let mut files = vec![
        ("results.json".to_owned(), json.into_bytes()),
        ("results.csv".to_owned(), csv(rows).into_bytes()),
    ];
    for (name, chart) in page.charts() {
        files.push((format!("{name}.svg"), chart.svg().into_bytes()));
        files.push((format!("{name}.png"), chart.png()));
    }
    for picture in page.pictures() {
        files.push((format!("{}.png", picture.name), picture.png.clone()));
    }
    files.push(("report.html".to_owned(), page.html().into_bytes()));
    write_all(folder, files)
}

fn write_all(folder: &Path, files: Vec<(String, Vec<u8>)>) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (name, bytes) in files {
        let path = folder.join(name);
        write_atomically(&path, |out| out.write_all(&bytes))?;
        written.push(path);
    }
    Ok(written)
}

fn page(experiment: &dyn Experiment, measured: &Measured, command: &str, left: Vec<Block>) -> Page {
    let rows = &measured.rows;
    let mut found = experiment.findings(rows);
    found.extend(left);
    found.extend(experiment.remarks(rows));
    Page {
        mark: "Experiment".to_owned(),
        title: experiment.title().to_owned(),
        lead: experiment.question().to_owned(),
        sections: vec![
            Section::new("What the paper found", vec![Block::Text(experiment.paper().to_owned())]),
            Section::new("What we measured", found),
            Section::new(
                "Run it again",
                vec![
                    Block::Command(command.to_owned()),
                    Block::Text(format!(
                        "{} rows in results.json and results.csv, measured in {} s{}. The same seed \
                         gives the same rows on any number of threads; only names that end in \
                         \u{201c}seconds\u{201d} differ from run to run.",
                        rows.len(),
                        measured.seconds.round(),
                        match measured.kept {
                            0 => String::new(),
                            kept => format!(" ({kept} cells were kept from an earlier run)"),
                        }
                    )),
                ],
            ),
        ],
    }
}

/// Writes `report.html` that leads to the reports of experiments in folders beside it.
pub fn write_overview(experiments: &[&dyn Experiment], command: &str, folder: &Path) -> Result<()> {
    let sections = experiments
        .iter()
        .map(|experiment| {
            let words = Block::Text(experiment.question().to_owned());
            let to = format!("{}/report.html", experiment.name());
            Section::new(experiment.title(), vec![words, Block::Link(to, "The report".to_owned())])
        })
        .chain([Section::new("Run it again", vec![Block::Command(command.to_owned())])])
        .collect();
    let page = Page {
        mark: "Experiments".to_owned(),
        title: "Quadratic tensors from few observations".to_owned(),
        lead:
            "The paper\u{2019}s experiments on planted tensors, measured again, with ours beside \
               them."
                .to_owned(),
        sections,
    };
    write_all(folder, vec![("report.html".to_owned(), page.html().into_bytes())])?;
    Ok(())
}
