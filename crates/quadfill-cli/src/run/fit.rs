//! Learns a model from data.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use quadfill::Real;
use quadfill::apply::Evaluation;
use quadfill::certify::Certificate;
use quadfill::file::{Fingerprint, Model, checkpoint_path, load_checkpoint};
use quadfill::model::Offsets;
use quadfill::observations::Summary;
use quadfill::solve::{PathPoint, Progress, Sampling, SdpForm, SdpReport, Solver, Status, Theory};
use quadfill_io::write_atomically;
use quadfill_lab::report::{FitStory, Recorder, fit_page};
use serde::Serialize;

use super::judge::in_words;
use super::prepare::Prepared;
use super::summary;
use super::watch::{Checkpoints, Watcher, checkpoint_interval};
use crate::clock::Clock;
use crate::flags::{FitPlan, ModelChoice, Precision, describe};
use crate::interrupt;
use crate::output::Output;
use crate::report::{
    Lines, counted, grouped, number, offsets_in_words, sparkline, status_in_words,
};

#[derive(Debug, Serialize)]
pub(super) struct FitReport {
    output: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Vec<Vec<f64>>>,
    rank: usize,
    offsets: Offsets,
    penalty: f64,
    status: Status,
    pub(super) sweeps: usize,
    pub(super) seconds: f64,
    cpu_seconds: Option<f64>,
    read_seconds: f64,
    train: Rmse,
    validation: Rmse,
    pub(super) test: Option<Evaluation>,
    pub(super) path: Vec<PathPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sdp: Option<SdpReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<Draws>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theory: Option<Theory>,
    precision: &'static str,
    seed: u64,
    threads: usize,
    resumed: bool,
    certificate: Option<Certificate>,
    data: Summary,
}

/// What a sampler did.
#[derive(Debug, Serialize)]
struct Draws {
    #[serde(flatten)]
    sampling: Sampling,
    kept: usize,
    /// Standard deviation of the noise: root mean variance over the kept draws.
    noise: f64,
}

#[derive(Debug, Serialize)]
struct Rmse {
    rmse: Option<f64>,
}

pub(super) fn run(plan: &FitPlan, output: Output) -> Result<()> {
    let report = fit(plan, output)?;
    output.outcome(report.text(), &report)
}

/// Fits in the precision that was asked for.
pub(super) fn fit(plan: &FitPlan, output: Output) -> Result<FitReport> {
    match plan.precision {
        Precision::F32 => fit_in::<f32>(plan, output),
        Precision::F64 => fit_in::<f64>(plan, output),
    }
}

fn fit_in<T: Real>(plan: &FitPlan, output: Output) -> Result<FitReport> {
    let interval = checkpoint_interval()?;
    let clock = Clock::start();
    let prepared = Prepared::<T>::read(plan)?;
    let (beginning, checkpoints) = beginning(plan, &prepared, interval)?;
    let read_seconds = clock.seconds();
    let about = prepared.summary();
    output.note(summary::lines(&about));
    summary::warnings(&about).for_each(|warning| output.note(warning));
    if let Some(theory) = &prepared.theory {
        output.note(theory_in_words(theory));
    }

    let sampling = match prepared.config.solver {
        Solver::Gibbs(sampling) => Some(sampling),
        _ => None,
    };
    let clock = Clock::start();
    let Prepared { data, bins, places, value, config, test, theory } = prepared;
    let (modes, observations) = (data.modes().to_vec(), data.len());
    // A fit takes the data apart; a page about it looks at them again.
    let told = plan.report.as_ref().map(|_| data.clone());
    let cells = test.as_ref().map_or_else(Vec::new, |test| test.columns().to_vec());
    let mut watcher = Watcher::new(checkpoints, output, cells);
    let mut recorder = Recorder::new(&mut watcher);
    let fit = match beginning {
        Some(progress) => quadfill::solve::resume(data, &config, progress, &mut recorder),
        None => quadfill::solve::fit(data, &config, &mut recorder),
    };
    let steps = recorder.into_steps();
    watcher.finish();
    let fit = fit?;
    let (seconds, cpu_seconds) = (clock.seconds(), clock.cpu_seconds());

    let draws = fit.posterior.as_ref().zip(sampling).map(|(posterior, sampling)| {
        let variances = posterior.draws().iter().map(|draw| 1.0 / draw.noise);
        let kept = posterior.draws().len();
        Draws { sampling, kept, noise: (variances.sum::<f64>() / kept as f64).sqrt() }
    });
    let report = FitReport {
        output: plan.output.clone(),
        report: plan.report.clone(),
        model: match plan.model {
            ModelChoice::Learned => "learned".to_owned(),
            _ => describe(&fit.spec.interaction),
        },
        kernel: fit.spec.kernel().cloned().map(Into::into),
        rank: fit.rank(),
        offsets: fit.spec.offsets,
        penalty: fit.penalty,
        status: fit.status,
        sweeps: fit.sweeps,
        seconds,
        cpu_seconds,
        read_seconds,
        train: Rmse { rmse: Some(fit.train_rmse) },
        validation: Rmse { rmse: fit.validation_rmse },
        test: test.map(|test| match fit.posterior.as_ref().and_then(|p| p.cell_means.as_ref()) {
            // Over all draws, not only over those that are kept.
            Some(predictions) => test.judge_predictions(predictions),
            None => test.judge(fit.predictor()),
        }),
        path: fit.path.clone(),
        sdp: fit.sdp,
        draws,
        theory,
        precision: T::NAME,
        seed: config.seed,
        threads: rayon::current_num_threads(),
        resumed: plan.resume,
        certificate: fit.certificate.clone(),
        data: about,
    };
    let page = plan.report.as_ref().zip(told.as_ref()).map(|(path, data)| {
        let story = FitStory {
            name: plan.data.display().to_string(),
            model: report.model.clone(),
            data,
            summary: &report.data,
            fit: &fit,
            steps: &steps,
            test: report.test,
            seconds,
        };
        (path, fit_page(&story).html())
    });
    let mut model = Model::new(fit, modes, bins, value, observations, &config);
    model.notes.places = places;
    let _whole = interrupt::writing();
    model.save(&plan.output)?;
    if let Some((path, page)) = page {
        write_atomically(path, |out| out.write_all(page.as_bytes()))?;
    }
    Checkpoints::remove(&checkpoint_path(&plan.output));
    Ok(report)
}

/// Where the fit begins, if it is not at the beginning, and where it keeps its state.
fn beginning<T: Real>(
    plan: &FitPlan,
    prepared: &Prepared<T>,
    interval: Duration,
) -> Result<(Option<Progress<T>>, Checkpoints)> {
    let path = checkpoint_path(&plan.output);
    let fingerprint = Fingerprint::new(&prepared.data, &prepared.config);
    let progress = if plan.resume {
        Some(load_checkpoint(&path, &fingerprint, &prepared.data.sizes())?)
    } else {
        Checkpoints::remove(&path);
        None
    };
    Ok((progress, Checkpoints::new(path, fingerprint, interval)))
}

impl FitReport {
    fn text(&self) -> Lines {
        let mut lines = Lines::default();
        lines.add(
            "fitted",
            format!(
                "{} of rank {} with {} -> {}",
                self.model,
                self.rank,
                offsets_in_words(self.offsets),
                self.output.display()
            ),
        );
        if let (true, Some(kernel)) = (self.model == "learned", &self.kernel) {
            lines.add("kernel", kernel_in_words(kernel));
        }
        match &self.draws {
            Some(draws) => lines.add("draws", draws.in_words(self.penalty)),
            None => lines.add("penalty", number(self.penalty)),
        }
        lines.add("status", status_in_words(self.status));
        let cpu =
            self.cpu_seconds.map_or(String::new(), |cpu| format!(", {} CPU-seconds", number(cpu)));
        lines.add("sweeps", format!("{} in {} s{cpu}", grouped(self.sweeps), number(self.seconds)));
        if let Some(sdp) = &self.sdp {
            lines.add("program", sdp_in_words(sdp));
        }
        if let Some(rmse) = self.train.rmse {
            lines.add("train", format!("rmse {}", number(rmse)));
        }
        if let Some(rmse) = self.validation.rmse {
            lines.add("held out", format!("rmse {}", number(rmse)));
        }
        if let Some(test) = &self.test {
            lines.add("test", in_words(test));
        }
        if let Some(certificate) = &self.certificate {
            lines.add("certificate", certificate.verdict.clone());
        }
        if let Some(report) = &self.report {
            lines.add("report", report.display().to_string());
        }
        if self.path.len() > 1 {
            lines.add("path", path_in_blocks(&self.path));
        }
        lines
    }
}

impl Draws {
    fn in_words(&self, penalty: f64) -> String {
        let Sampling { burn_in, samples, chains, .. } = self.sampling;
        format!(
            "{} of {} after {} to burn in, {} kept, noise {}, as if the penalty were {}",
            grouped(samples),
            counted(chains, "chain"),
            counted(burn_in, "sweep"),
            grouped(self.kept),
            number(self.noise),
            number(penalty)
        )
    }
}

/// A kernel as `--kernel` reads it, without the digits that say little.
fn kernel_in_words(kernel: &[Vec<f64>]) -> String {
    let row = |row: &Vec<f64>| row.iter().map(|&k| number(k)).collect::<Vec<_>>().join(" ");
    kernel.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// The theorem's settings and what it says of them.
fn theory_in_words(theory: &Theory) -> Lines {
    let mut lines = Lines::default();
    let origin = if theory.estimated { "estimated from a first fit" } else { "as given" };
    lines.add(
        "theorem",
        format!(
            "alpha {} ({origin}), d = {} (mean labels of a mode), m = {}, n = {} rows",
            number(theory.alpha),
            number(theory.size),
            grouped(theory.observations),
            grouped(theory.rows)
        ),
    );
    lines.add(
        "  sets",
        format!(
            "lambda1 {}, lambda2 {}, R {}, C of norm at most lambda1",
            number(theory.lambda1),
            number(theory.lambda2),
            grouped(theory.rank)
        ),
    );
    lines.add(
        "  promises",
        format!(
            "for cells drawn uniformly, with high probability every local minimum is global and its \
             mean squared error is at most a constant, which is not known, times {}",
            number(theory.error_scale)
        ),
    );
    lines
}

/// How a convex program was solved, in one line.
fn sdp_in_words(sdp: &SdpReport) -> String {
    let what = match sdp.form {
        SdpForm::Trace => "smallest trace",
        SdpForm::Penalised => "penalised",
        SdpForm::Objective => "objective over all ranks",
    };
    let kept = if sdp.truncated {
        format!(", its rank {} cut to --rank", sdp.rank)
    } else {
        String::new()
    };
    format!(
        "{what} {}, at most {} above the optimum ({} relative), residuals {} and {}{kept}",
        number(sdp.objective),
        number(sdp.gap),
        number(sdp.relative_gap),
        number(sdp.primal_residual),
        number(sdp.dual_residual)
    )
}

/// The error along the path: on held-out data where there are any.
pub(super) fn path_in_blocks(path: &[PathPoint]) -> String {
    let errors: Vec<f64> =
        path.iter().map(|point| point.validation_rmse.unwrap_or(point.train_rmse)).collect();
    let ends = |at: Option<&f64>| at.map_or(String::new(), |&error| number(error));
    format!("rmse {} {} {}", ends(errors.first()), sparkline(&errors, 40), ends(errors.last()))
}
