//! The story of a fit.

use quadfill::apply::Evaluation;
use quadfill::certify::{Certificate, Outcome};
use quadfill::model::Interaction;
use quadfill::observations::Summary;
use quadfill::solve::{Fit, PathPoint, Stage, Status};
use quadfill::{Observations, Real};

use super::coverage::{section as coverage, sorted_curve};
use super::spectrum::{column_sizes, effective_rank};
use super::steps::Recorded;
use super::{Block, Page, Section, Tone};
use crate::chart::{
    Axis, Bar, BarChart, Chart, Histogram, LineChart, Look, Point, Rule, Series, plain,
};

/// What there is to tell about a fit.
#[derive(Debug)]
pub struct FitStory<'a, T: Real> {
    /// What was fitted, as the reader knows it.
    pub name: String,
    /// The name of the model.
    pub model: String,
    /// The data.
    pub data: &'a Observations<T>,
    /// Their summary in view of the model.
    pub summary: &'a Summary,
    /// The fit.
    pub fit: &'a Fit<T>,
    /// All its steps.
    pub steps: &'a [Recorded],
    /// The error on data kept apart.
    pub test: Option<Evaluation>,
    /// How long it took.
    pub seconds: f64,
}

/// The page of a fit.
pub fn fit_page<T: Real>(story: &FitStory<'_, T>) -> Page {
    let mut sections = vec![summary(story), coverage(story.data, story.summary, story.fit.rank())];
    sections.extend(path(story.fit));
    sections.extend(convergence(story.steps));
    sections.extend(story.fit.certificate.as_ref().map(certificate));
    sections.push(residuals(story));
    // The columns of a mean of draws are those of all draws side by side.
    sections.extend(story.fit.posterior.is_none().then(|| columns(story)));
    sections.push(norms(story));
    let rank = story.fit.rank();
    Page {
        mark: "Fit".to_owned(),
        title: story.name.clone(),
        lead: format!(
            "A {} model of rank {rank}, fitted to {} observations.",
            story.model, story.summary.observations
        ),
        sections,
    }
}

fn in_words(status: Status) -> (Tone, &'static str) {
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
            "No columns of any kind lower the objective: it is at its minimum over all ranks.",
        ),
        Status::RankLimit => (Tone::Warn, "The largest rank came before the end of the fit."),
        Status::Converged => (Tone::Good, "The objective stopped falling."),
        Status::Sampled => (Tone::Good, "All draws from the posterior were taken."),
        Status::NoProgress => (Tone::Plain, "No step led down any more."),
        Status::SweepLimit => (Tone::Warn, "The limit of sweeps came before the end of the fit."),
        Status::TimeLimit => (Tone::Warn, "The time limit came before the end of the fit."),
    }
}

fn summary<T: Real>(story: &FitStory<'_, T>) -> Section {
    let fit = story.fit;
    let mut facts = vec![
        ("model".to_owned(), format!("{}, rank {}", story.model, fit.rank())),
        ("penalty".to_owned(), plain(fit.penalty)),
        ("error on the data".to_owned(), format!("rmse {}", plain(fit.train_rmse))),
    ];
    if let Some(rmse) = fit.validation_rmse {
        facts.push(("error on held-out data".to_owned(), format!("rmse {}", plain(rmse))));
    }
    if let Some(test) = story.test {
        let text = format!("rmse {}, relative {}", plain(test.rmse), plain(test.relative_error));
        facts.push(("error on test data".to_owned(), text));
    }
    if let Some(freedom) = story.summary.degrees_of_freedom {
        let each = story.summary.observations as f64 / freedom.max(1) as f64;
        facts.push((
            "free parameters".to_owned(),
            format!("{freedom}, {} observations for each", plain(each)),
        ));
    }
    facts.push(("work".to_owned(), format!("{} sweeps in {} s", fit.sweeps, plain(story.seconds))));
    let (tone, words) = in_words(fit.status);
    Section::new("Summary", vec![Block::Facts(facts), Block::Note(tone, words.to_owned())])
}

fn certificate(found: &Certificate) -> Section {
    let tone = match found.outcome {
        Outcome::GloballyOptimal => Tone::Good,
        Outcome::HigherRank => Tone::Plain,
        Outcome::NotConverged => Tone::Warn,
    };
    let facts = vec![
        ("objective".to_owned(), plain(found.objective)),
        ("gap".to_owned(), format!("at most {}", plain(found.gap))),
        ("gradient norm".to_owned(), plain(found.gradient_norm)),
        ("columns in use".to_owned(), format!("{} of {}", found.rank, found.columns)),
        ("incoherence".to_owned(), plain(found.incoherence)),
    ];
    let verdict = Block::Note(tone, format!("The verdict: {}.", found.verdict));
    Section::new("Certificate", vec![verdict, Block::Facts(facts)])
}

fn path<T: Real>(fit: &Fit<T>) -> Option<Section> {
    let points = &fit.path;
    let falls = points.first()?.penalty > points.last()?.penalty;
    let positive = points.iter().all(|point| point.penalty > 0.0);
    if points.len() < 2 || !falls || !positive || fit.posterior.is_some() {
        return None;
    }
    let curve = |name: &str, colour, error: &dyn Fn(&PathPoint) -> Option<f64>| Series {
        name: name.to_owned(),
        points: points
            .iter()
            .filter_map(|p| {
                let y = error(p)?;
                let tip = format!("penalty {}\n{name}: rmse {}", plain(p.penalty), plain(y));
                Some(Point { x: p.penalty, y, bar: None, tip })
            })
            .collect(),
        look: Look::Line,
        colour,
    };
    let mut series = vec![curve("fitted data", 0, &|p| Some(p.train_rmse))];
    let held_out = curve("held-out data", 1, &|p| p.validation_rmse);
    let judged = !held_out.points.is_empty();
    let mut rules = Vec::new();
    if judged {
        let best = held_out.points.iter().min_by(|x, y| x.y.total_cmp(&y.y))?;
        rules.push(Rule::Upright(best.x, format!("chosen: {}", plain(best.x))));
        series.push(held_out);
    }
    let chart = LineChart {
        title: "The path: error as the penalty falls".to_owned(),
        x: Axis::log("penalty"),
        y: Axis::log("root mean squared error"),
        series,
        rules,
    };
    let words = if judged {
        "The path runs from right to left. Where the error on held-out data is smallest, the penalty is \
         chosen; further left the model learns noise."
    } else {
        "The path runs from right to left, from the penalty at which zero is optimal."
    };
    Some(Section::new("Path", vec![Block::figure("path", Chart::Lines(chart), words)]))
}

fn stage_name(stage: Stage) -> String {
    match stage {
        Stage::Exact => "are the data exact?".to_owned(),
        Stage::Trim => "principal columns".to_owned(),
        Stage::Polish => "polish".to_owned(),
        Stage::Kernel(number) => format!("kernel {}", number + 1),
        Stage::HoldOut(number) => format!("hold-out {}", number + 1),
        Stage::Settle => "hold-out, staying".to_owned(),
        Stage::Refit => "all data".to_owned(),
        Stage::Solve => "at one penalty".to_owned(),
        Stage::Climb => "adding columns".to_owned(),
        Stage::Sample => "draws".to_owned(),
    }
}

fn convergence(steps: &[Recorded]) -> Option<Section> {
    if steps.len() < 2 {
        return None;
    }
    let mut series: Vec<Series> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let name = stage_name(step.stage);
        if series.last().is_none_or(|last| last.name != name) {
            let colour = series.len();
            series.push(Series {
                name: name.clone(),
                points: Vec::new(),
                look: Look::Line,
                colour,
            });
        }
        let y = step.point.train_rmse;
        let tip = format!("sweep {}\n{name}: rmse {}", place + 1, plain(y));
        if let Some(last) = series.last_mut() {
            last.points.push(Point { x: (place + 1) as f64, y, bar: None, tip });
        }
    }
    let chart = Chart::Lines(LineChart {
        title: "Error on the fitted data, sweep by sweep".to_owned(),
        x: Axis::linear("sweep"),
        y: Axis::log("root mean squared error"),
        series,
        rules: Vec::new(),
    });
    Some(Section::new("Convergence", vec![Block::figure("convergence", chart, "")]))
}

/// The most residuals that are looked at.
const MOST_RESIDUALS: usize = 200_000;

fn residuals<T: Real>(story: &FitStory<'_, T>) -> Section {
    let data = story.data;
    let every = data.len().div_ceil(MOST_RESIDUALS).max(1);
    let rows: Vec<usize> = (0..data.len()).step_by(every).collect();
    let columns: Vec<Vec<u32>> = (0..data.modes().len())
        .map(|mode| rows.iter().map(|&row| data.indices(mode)[row]).collect())
        .collect();
    let borrowed: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let predictions = story.fit.predictor().cells(&borrowed);
    let values: Vec<f64> = rows
        .iter()
        .zip(predictions)
        .map(|(&row, prediction)| data.values()[row].to_f64() - prediction)
        .collect();
    let histogram = Chart::Histogram(Histogram {
        title: "Residuals: value less prediction".to_owned(),
        x: "residual".to_owned(),
        values,
        bins: 60,
    });
    let caption =
        if every > 1 { format!("Of every {every}th observation.") } else { String::new() };
    Section::new("Residuals", vec![Block::figure("residuals", histogram, caption)])
}

fn columns<T: Real>(story: &FitStory<'_, T>) -> Section {
    let sizes = column_sizes(&story.fit.spec, &story.fit.parameters);
    let largest = sizes.first().copied().unwrap_or(0.0);
    let alive = sizes.iter().filter(|&&size| size > 0.01 * largest).count();
    let is_cp = story.fit.spec.interaction == Interaction::Cp;
    let what = if is_cp { "size of the product" } else { "singular value" };
    let bars = sizes
        .iter()
        .enumerate()
        .map(|(place, &height)| Bar {
            name: (place + 1).to_string(),
            height,
            colour: 0,
            tip: format!("column {}: {what} {}", place + 1, plain(height)),
        })
        .collect();
    let chart = Chart::Bars(BarChart {
        title: if is_cp {
            "Sizes of the products"
        } else {
            "Singular values of the stacked factors"
        }
        .to_owned(),
        x: "column, largest first".to_owned(),
        y: Axis::linear(what),
        bars,
    });
    let words = format!(
        "{alive} of {} columns are larger than 1 % of the largest. Their spread is that of {} equal \
         columns: the effective rank.",
        sizes.len(),
        plain(effective_rank(&sizes))
    );
    Section::new("Effective rank", vec![Block::Text(words), Block::figure("columns", chart, "")])
}

fn norms<T: Real>(story: &FitStory<'_, T>) -> Section {
    let parameters = &story.fit.parameters;
    let spec = &story.fit.spec;
    let series = story
        .data
        .modes()
        .iter()
        .enumerate()
        .filter(|&(mode, _)| !spec.groups[..mode].contains(&spec.groups[mode]))
        .map(|(mode, about)| {
            let group = spec.groups[mode];
            let norms = (0..parameters.layout().rows()[group])
                .map(|label| {
                    let row = parameters.row(group, label);
                    row.iter().map(|u| u.to_f64().powi(2)).sum::<f64>().sqrt()
                })
                .collect();
            sorted_curve(&about.name, norms, mode, "as the norm of their row")
        })
        .collect();
    let chart = Chart::Lines(LineChart {
        title: "Norms of the rows, mode by mode".to_owned(),
        x: Axis::linear("labels, shortest row first (%)"),
        y: Axis::linear("norm"),
        series,
        rules: Vec::new(),
    });
    let words = "A few rows much longer than the rest are labels that the model leans on.";
    Section::new("Rows", vec![Block::figure("norms", chart, words)])
}
