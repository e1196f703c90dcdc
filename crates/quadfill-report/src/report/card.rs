//! A fitted model at a glance, as a fragment of HTML that other pages can take in.

use maud::{PreEscaped, html};
use quadfill::Model;

use super::fit::{certificate, model_name, path, status_message};
use super::{Block, choice};
use crate::chart::short_number;

/// What a notebook shows of a model: its facts, the path of its fit, and its certificate.
///
/// ```
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let (rows, values) = (vec![vec![0, 0, 1], vec![0, 1, 0]], vec![1.0, 2.0, 2.0]);
/// let data = Observations::new(modes, rows, values, None, OnDuplicate::Error)?;
/// let card = quadfill_report::model_card(&quadfill::fit(data, &FitConfig::default())?);
/// assert!(card.starts_with("<div") && card.contains("2 x 2"));
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn model_card(model: &Model) -> String {
    let fit = model.summary();
    let sizes: Vec<String> =
        model.modes().iter().map(|mode| mode.labels.len().to_string()).collect();
    let names: Vec<&str> = model.modes().iter().map(|mode| mode.name.as_str()).collect();
    let mut facts = vec![
        ("modes", names.join(", ")),
        ("data", format!("{} observations of {} cells", fit.observations, sizes.join(" x "))),
        ("parameters", format!("{} free", model.degrees_of_freedom())),
        ("training error", format!("rmse {}", short_number(fit.train_rmse))),
    ];
    if let Some(race) = &fit.race {
        facts.push(("held out", format!("rmse {}", choice::comparison(race))));
    } else if let Some(rmse) = fit.validation_rmse {
        facts.push(("held out", format!("rmse {}", short_number(rmse))));
    }
    facts.push(("status", status_message(fit.status).1.to_owned()));
    let sections = path(model).into_iter().chain(model.certificate().map(certificate));
    html! {
        div style="max-width: 46em" {
            strong { (model_name(model)) " model of rank " (model.rank()) }
            table {
                @for (name, value) in &facts {
                    tr {
                        th style="text-align: left" { (name) }
                        td style="text-align: left" { (value) }
                    }
                }
            }
            @for block in sections.flat_map(|section| section.blocks) {
                @match block {
                    Block::Figure { chart, .. } => (PreEscaped(chart.svg())),
                    Block::Note(_, text) => p { (text) },
                    _ => {},
                }
            }
        }
    }
    .into_string()
}
