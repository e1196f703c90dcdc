//! The page about a fit.

use quadfill::certify::{Certificate, Outcome};
use quadfill::model::{Evaluation, Interaction, ModelKind};
use quadfill::observations::Summary;
use quadfill::solve::{PathPoint, Stage, Status};
use quadfill::{Model, Observations};

use super::calibration::KnownCells;
use super::coverage::{section as coverage, sorted_curve};
use super::spectrum::{column_sizes, effective_rank};
use super::steps::Recorded;
use super::{Block, Page, Section, Tone, calibration, choice, residuals};
use crate::chart::{
    Axis, Bar, BarChart, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};

/// What the page about a fit is made from.
#[derive(Debug)]
pub struct FitStory<'a> {
    /// The name of the data, used as the title.
    pub name: String,
    /// The data, with the modes of the model.
    pub data: &'a Observations,
    /// Their summary with respect to the model.
    pub summary: &'a Summary,
    /// The fitted model.
    pub model: &'a Model,
    /// The steps of the fit, as a [`Recorder`](super::Recorder) has them.
    pub steps: &'a [Recorded],
    /// The error on separate test data.
    pub test: Option<Evaluation>,
    /// The test data, to judge intervals by.
    pub test_cells: Option<KnownCells<'a>>,
    /// The duration of the fit in seconds.
    pub seconds: f64,
}

/// Makes the page about a fit.
///
/// # Panics
/// If the data have another number of modes than the model.
pub fn fit_page(story: &FitStory<'_>) -> Page {
    let (model, rank) = (story.model, story.model.rank());
    let mut sections = vec![summary(story)];
    sections.extend(choice::section(model));
    sections.push(coverage(story.data, story.summary, rank));
    sections.extend(path(model));
    sections.extend(convergence(story.steps));
    sections.extend(model.certificate().map(certificate));
    sections.extend(calibration::section(story));
    sections.push(residuals::section(story));
    // Of several draws, the columns are side by side.
    let is_one = model.summary().draws.is_none_or(|draws| draws == 1);
    sections.extend(is_one.then(|| columns(model)));
    sections.push(norms(model));
    Page {
        kind: "Fit".to_owned(),
        title: story.name.clone(),
        lead: format!(
            "A {} model of rank {rank}, fitted to {} observations.",
            model_name(model),
            story.summary.observations
        ),
        sections,
    }
}

/// The model as it was asked for: a kernel that was learned has a preset's name by accident only.
pub(super) fn model_name(model: &Model) -> String {
    match model.summary().config.model {
        ModelKind::Learned => ModelKind::Learned.to_string(),
        _ => model.kind().to_string(),
    }
}

pub(super) fn status_message(status: Status) -> (Tone, &'static str) {
    match status {
        Status::Exact => (
            Tone::Good,
            "The data are exact: the model reproduces every observation to working precision.",
        ),
        Status::Validated => (
            Tone::Good,
            "The penalty was chosen on held-out data, and all data were fitted with it.",
        ),
        Status::Certified => (
            Tone::Good,
            "No additional column lowers the objective: it is at its global minimum over all ranks.",
        ),
        Status::RankLimit => (Tone::Warn, "The rank limit was reached before the fit converged."),
        Status::Converged => (Tone::Good, "The fit converged: the objective no longer decreases."),
        Status::Sampled => (Tone::Good, "All posterior samples were drawn."),
        Status::NoProgress => (Tone::Plain, "No step decreased the objective further."),
        Status::SweepLimit => (Tone::Warn, "The sweep limit was reached before the fit converged."),
        Status::TimeLimit => (Tone::Warn, "The time limit was reached before the fit converged."),
        Status::Interrupted => (
            Tone::Warn,
            "The fit was interrupted before it converged: this is the best model so far.",
        ),
    }
}

fn summary(story: &FitStory<'_>) -> Section {
    let (model, fit) = (story.model, story.model.summary());
    let penalty = if model.is_sampled() { "equivalent penalty" } else { "penalty" };
    let mut facts = vec![
        ("model".to_owned(), format!("{}, rank {}", model_name(model), model.rank())),
        (penalty.to_owned(), short_number(fit.penalty)),
        ("training error".to_owned(), format!("rmse {}", short_number(fit.train_rmse))),
    ];
    if let Some(race) = &fit.race {
        facts.push(("held-out rmse".to_owned(), choice::comparison(race)));
    } else if let Some(rmse) = fit.validation_rmse {
        facts.push(("validation error".to_owned(), format!("rmse {}", short_number(rmse))));
    }
    if let Some(test) = story.test {
        let text = format!(
            "rmse {}, relative {}",
            short_number(test.rmse),
            short_number(test.relative_error)
        );
        facts.push(("test error".to_owned(), text));
    }
    if let Some(given) = story.summary.degrees_of_freedom {
        // Of the rank that was found: the data are summarised before it is known. A kernel that was
        // learned has parameters of its own.
        let freedom = if fit.config.model == ModelKind::Learned {
            given
        } else {
            let spec = model.spec().clone().with_rank(model.rank());
            spec.degrees_of_freedom(&story.data.sizes())
        };
        let each = story.summary.observations as f64 / freedom.max(1) as f64;
        facts.push((
            "free parameters".to_owned(),
            format!("{freedom}, {} observations per parameter", short_number(each)),
        ));
    }
    facts.push((
        "work".to_owned(),
        format!("{} sweeps in {} s", fit.sweeps, short_number(story.seconds)),
    ));
    let (tone, words) = match (fit.status, &fit.race) {
        (Status::Sampled, Some(_)) => {
            (Tone::Good, "The model was chosen on held-out data, and sampled given all data.")
        }
        (status, _) => status_message(status),
    };
    Section::new("Summary", vec![Block::Facts(facts), Block::Note(tone, words.to_owned())])
}

pub(super) fn certificate(found: &Certificate) -> Section {
    let tone = match found.outcome {
        Outcome::GloballyOptimal => Tone::Good,
        Outcome::HigherRank => Tone::Plain,
        Outcome::NotConverged => Tone::Warn,
    };
    let facts = vec![
        ("objective".to_owned(), short_number(found.objective)),
        ("optimality gap".to_owned(), format!("at most {}", short_number(found.gap))),
        ("gradient norm".to_owned(), short_number(found.gradient_norm)),
        ("columns in use".to_owned(), format!("{} of {}", found.rank, found.columns)),
        ("coherence".to_owned(), short_number(found.coherence)),
    ];
    let verdict = Block::Note(tone, format!("The verdict: {}.", found.verdict));
    Section::new("Certificate", vec![verdict, Block::Facts(facts)])
}

pub(super) fn path(model: &Model) -> Option<Section> {
    let points = &model.summary().path;
    let falls = points.first()?.penalty > points.last()?.penalty;
    let positive = points.iter().all(|point| point.penalty > 0.0);
    if points.len() < 2 || !falls || !positive || model.is_sampled() {
        return None;
    }
    let curve = |name: &str, colour, error: &dyn Fn(&PathPoint) -> Option<f64>| Series {
        name: name.to_owned(),
        points: points
            .iter()
            .filter_map(|p| {
                let y = error(p)?;
                let tooltip = format!(
                    "penalty {}\n{name}: rmse {}",
                    short_number(p.penalty),
                    short_number(y)
                );
                Some(Point { x: p.penalty, y, error_bar: None, tooltip })
            })
            .collect(),
        style: SeriesStyle::Line,
        colour,
    };
    let mut series = vec![curve("training data", 0, &|p| Some(p.train_rmse))];
    let held_out = curve("held-out data", 1, &|p| p.validation_rmse);
    let judged = !held_out.points.is_empty();
    let mut reference_lines = Vec::new();
    if judged {
        let best = held_out.points.iter().min_by(|x, y| x.y.total_cmp(&y.y))?;
        reference_lines
            .push(ReferenceLine::Vertical(best.x, format!("chosen: {}", short_number(best.x))));
        series.push(held_out);
    }
    let chart = LineChart {
        title: "Regularisation path: error against the penalty".to_owned(),
        x: Axis::log("penalty"),
        y: Axis::log("root mean squared error"),
        series,
        reference_lines,
    };
    let words = if judged {
        "The path runs from right to left. The chosen penalty has the smallest error on held-out data; \
         to its left the model fits noise."
    } else {
        "The path runs from right to left, starting at the penalty at which zero is optimal."
    };
    Some(Section::new("Path", vec![Block::figure("path", Chart::Lines(chart), words)]))
}

/// `None` where models are compared: a heat has no training error to show, and the choice has a section
/// of its own.
fn stage_name(stage: Stage) -> Option<String> {
    Some(match stage {
        Stage::Exact => "exactness test".to_owned(),
        Stage::Trim => "trimming to principal columns".to_owned(),
        Stage::Polish => "polish".to_owned(),
        Stage::Kernel(number) => format!("kernel {}", number + 1),
        Stage::HoldOut(number) => format!("hold-out {}", number + 1),
        Stage::EarlyStopping => "hold-out, at the chosen penalty".to_owned(),
        Stage::Refit => "all data".to_owned(),
        Stage::Solve => "at a fixed penalty".to_owned(),
        Stage::Staircase => "adding columns".to_owned(),
        Stage::Race(_) => return None,
        Stage::Sample => "sampling".to_owned(),
    })
}

fn convergence(steps: &[Recorded]) -> Option<Section> {
    let named: Vec<(String, &Recorded)> =
        steps.iter().filter_map(|step| Some((stage_name(step.stage)?, step))).collect();
    if named.len() < 2 {
        return None;
    }
    let mut series: Vec<Series> = Vec::new();
    for (index, (name, step)) in named.iter().enumerate() {
        if series.last().is_none_or(|last| last.name != *name) {
            let colour = series.len();
            series.push(Series {
                name: name.clone(),
                points: Vec::new(),
                style: SeriesStyle::Line,
                colour,
            });
        }
        let y = step.point.train_rmse;
        let tooltip = format!("sweep {}\n{name}: rmse {}", index + 1, short_number(y));
        if let Some(last) = series.last_mut() {
            last.points.push(Point { x: (index + 1) as f64, y, error_bar: None, tooltip });
        }
    }
    let chart = Chart::Lines(LineChart {
        title: "Training error by sweep".to_owned(),
        x: Axis::linear("sweep"),
        y: Axis::log("root mean squared error"),
        series,
        reference_lines: Vec::new(),
    });
    let words =
        if named.len() < steps.len() { "The sweeps of the choice are left out." } else { "" };
    Some(Section::new("Convergence", vec![Block::figure("convergence", chart, words)]))
}

fn columns(model: &Model) -> Section {
    let sizes = column_sizes(model);
    let largest = sizes.first().copied().unwrap_or(0.0);
    let alive = sizes.iter().filter(|&&size| size > 0.01 * largest).count();
    let is_cp = model.spec().interaction == Interaction::Cp;
    let what = if is_cp { "norm of the component" } else { "singular value" };
    let bars = sizes
        .iter()
        .enumerate()
        .map(|(index, &height)| Bar {
            name: (index + 1).to_string(),
            height,
            colour: 0,
            tooltip: format!("column {}: {what} {}", index + 1, short_number(height)),
        })
        .collect();
    let chart = Chart::Bars(BarChart {
        title: if is_cp {
            "Norms of the components"
        } else {
            "Singular values of the stacked factors"
        }
        .to_owned(),
        x: "column, largest first".to_owned(),
        y: Axis::linear(what),
        bars,
    });
    let words = format!(
        "{alive} of {} columns are larger than 1 % of the largest. The effective rank, the \
         participation ratio of their sizes, is {}.",
        sizes.len(),
        short_number(effective_rank(&sizes))
    );
    Section::new("Effective rank", vec![Block::Text(words), Block::figure("columns", chart, "")])
}

fn norms(model: &Model) -> Section {
    let spec = model.spec();
    let series = model
        .modes()
        .iter()
        .enumerate()
        .filter(|&(mode, _)| !spec.groups[..mode].contains(&spec.groups[mode]))
        .map(|(mode, about)| {
            let factors = model.factors(mode);
            let rows = factors.chunks_exact(spec.rank);
            let norms = rows.map(|row| row.iter().map(|u| u.powi(2)).sum::<f64>().sqrt()).collect();
            sorted_curve(&about.name, norms, mode, "as row norm")
        })
        .collect();
    let chart = Chart::Lines(LineChart {
        title: "Row norms by mode".to_owned(),
        x: Axis::linear("labels, smallest norm first (%)"),
        y: Axis::linear("norm"),
        series,
        reference_lines: Vec::new(),
    });
    let words = "Rows with much larger norms than the others belong to labels with a dominant effect on predictions.";
    Section::new("Rows", vec![Block::figure("norms", chart, words)])
}
