//! The output files of an experiment.

use std::path::{Path, PathBuf};

use quadfill_io::write_atomically;
use quadfill_report::{Block, Page, Section};
use serde::Serialize;

use super::Experiment;
use super::row::{Row, csv};
use super::run::Measured;
use crate::error::Result;

#[derive(Serialize)]
struct Results<'a> {
    experiment: &'a str,
    seconds: f64,
    rows: &'a [Row],
}

/// Writes `results.json`, `results.csv`, `report.html`, and every chart as SVG and PNG. Returns their paths.
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
    let left = experiment.write_extras(rows, folder)?;
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
        kind: "Experiment".to_owned(),
        title: experiment.title().to_owned(),
        lead: experiment.question().to_owned(),
        sections: vec![
            Section::new(
                "What the paper reports",
                vec![Block::Text(experiment.paper().to_owned())],
            ),
            Section::new("What we measured", found),
            Section::new(
                "Reproduce",
                vec![
                    Block::Command(command.to_owned()),
                    Block::Text(format!(
                        "{} rows in results.json and results.csv, measured in {} s{}. The same seed \
                         gives the same rows on any number of threads, except for columns whose names \
                         end in \u{201c}seconds\u{201d}.",
                        rows.len(),
                        measured.seconds.round(),
                        match measured.kept {
                            0 => String::new(),
                            kept => format!(" ({kept} cells are from an earlier run)"),
                        }
                    )),
                ],
            ),
        ],
    }
}

/// Writes a `report.html` that links to the reports of the experiments in subfolders.
pub fn write_overview(experiments: &[&dyn Experiment], command: &str, folder: &Path) -> Result<()> {
    let sections = experiments
        .iter()
        .map(|experiment| {
            let words = Block::Text(experiment.question().to_owned());
            let to = format!("{}/report.html", experiment.name());
            Section::new(experiment.title(), vec![words, Block::Link(to, "Report".to_owned())])
        })
        .chain([Section::new("Reproduce", vec![Block::Command(command.to_owned())])])
        .collect();
    let page = Page {
        kind: "Experiments".to_owned(),
        title: "Quadratic tensors from few observations".to_owned(),
        lead: "The paper\u{2019}s experiments on planted tensors, reproduced, and further ones."
            .to_owned(),
        sections,
    };
    write_all(folder, vec![("report.html".to_owned(), page.html().into_bytes())])?;
    Ok(())
}
