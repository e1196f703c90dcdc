//! The sampler as a fit: chains side by side, draws that are kept, means that run along.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::chain::{Chain, Moment, sweep};
use super::prior::Belief;
use super::settings::Sampling;
use crate::apply::Predictor;
use crate::error::{Error, Result};
use crate::model::{Offsets, Parameters, Posterior, Strangers};
use crate::objective::Objective;
use crate::solve::events::{Fit, Stage, Status};
use crate::solve::progress::Progress;
use crate::solve::runner::Runner;
use crate::solve::start;
use crate::solve::step::StepReport;
use crate::views::Views;
use quadfill_kernels::Real;

/// The small numbers of a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplerNotes {
    /// The chains.
    pub chains: Vec<Chain>,
    /// What went with the draws that were kept.
    pub kept: Vec<Chain>,
    /// Draws that the running means are over.
    pub drawn: usize,
    /// Tells whether the running means are those of other cells.
    pub cells: u64,
    /// How many cells there are.
    pub cell_count: usize,
}

/// The large ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerDraws<T: Real> {
    /// The points of all chains but the first, which has that of the progress.
    pub others: Vec<Parameters<T>>,
    /// The draws that were kept, of all chains.
    pub kept: Vec<Parameters<f32>>,
    /// Sums over all draws of the predictions for cells that were asked for.
    pub cell_sums: Vec<f64>,
}

struct Sampler<'a> {
    burn_in: usize,
    /// Every so many draws one is kept.
    every: usize,
    belief: Belief,
    seed: u64,
    cells: &'a [Vec<u32>],
}

impl Sampler<'_> {
    /// One sweep of every chain.
    fn advance<T: Real>(
        &self,
        objective: &Objective<'_, T>,
        progress: &mut Progress<T>,
    ) -> StepReport {
        let step = progress.notes.step;
        let notes = progress.notes.sampler.as_mut().expect("a sampler's progress");
        let draws = progress.draws.as_mut().expect("a sampler's progress");
        let points = std::iter::once(&mut progress.parameters).chain(&mut draws.others);
        let mut chains: Vec<(&mut Parameters<T>, &mut Chain)> =
            points.zip(&mut notes.chains).collect();
        let data: Vec<f64> = chains
            .par_iter_mut()
            .enumerate()
            .map(|(number, (parameters, chain))| {
                let moment = Moment { chain: number, sweep: step };
                sweep(objective, &self.belief, parameters, chain, self.seed, moment)
            })
            .collect();
        let draw = (step + 1).saturating_sub(self.burn_in);
        if draw > 0 {
            let keeps = draw.is_multiple_of(self.every);
            for (parameters, chain) in &chains {
                self.add_cells(objective, parameters, chain, &mut draws.cell_sums);
                if keeps {
                    draws.kept.push(narrowed(objective, parameters));
                    notes.kept.push((*chain).clone());
                }
            }
            notes.drawn += chains.len();
        }
        let data = data.iter().sum::<f64>() / data.len() as f64;
        StepReport { objective: data, data, stuck: false }
    }

    /// Adds the predictions of one draw for the cells that were asked for.
    fn add_cells<T: Real>(
        &self,
        objective: &Objective<'_, T>,
        parameters: &Parameters<T>,
        chain: &Chain,
        sums: &mut [f64],
    ) {
        if sums.is_empty() {
            return;
        }
        let strangers = Strangers::of(&chain.priors, objective.spec().rank);
        let columns: Vec<&[u32]> = self.cells.iter().map(Vec::as_slice).collect();
        let predictor =
            Predictor::new(objective.spec(), parameters).with_strangers(Some(&strangers));
        for (sum, prediction) in sums.iter_mut().zip(predictor.cells(&columns)) {
            *sum += prediction;
        }
    }
}

/// A point in single precision, in which draws are kept.
fn narrowed<T: Real>(objective: &Objective<'_, T>, parameters: &Parameters<T>) -> Parameters<f32> {
    let mut narrow = Parameters::<f32>::zeros(objective.spec(), &objective.views().sizes());
    narrow.mean = parameters.mean;
    for (group, &rows) in parameters.layout().rows().iter().enumerate() {
        for label in 0..rows {
            let row = parameters.row(group, label);
            for (t, u) in narrow.row_mut(group, label).iter_mut().zip(row) {
                *t = u.to_f64() as f32;
            }
            if narrow.layout().has_biases() {
                narrow.set_bias(group, label, parameters.bias(group, label).to_f64() as f32);
            }
        }
    }
    narrow
}

/// A number that other cells hardly have.
fn name_of(cells: &[Vec<u32>]) -> u64 {
    cells.iter().flatten().fold(0x243f_6a88_85a3_08d3, |hash: u64, &label| {
        (hash ^ u64::from(label)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

impl<T: Real> Runner<'_, T> {
    /// Draws from the posterior.
    pub(in crate::solve) fn sample(
        mut self,
        views: &Views<T>,
        sampling: Sampling,
        progress: Option<Progress<T>>,
    ) -> Result<Fit<T>> {
        let offsets = self.config.offsets.unwrap_or(Offsets::Modes);
        let spec = self.config.model.clone().with_offsets(offsets);
        let mut objective = self.objective(views, &spec, 0.0)?;
        let belief = Belief::new(&objective);
        let cells = self.cells();
        let mut progress = match progress {
            Some(progress) => progress,
            None => self.first_draws(&objective, &belief, sampling, &cells),
        };
        if progress.notes.sampler.as_ref().is_none_or(|notes| notes.cells != name_of(&cells)) {
            return Err(Error::Setting(
                "the checkpoint has the running means of other test data: resume with the same \
                 --test, or run the fit without --resume"
                    .to_owned(),
            ));
        }
        let sampler = Sampler {
            burn_in: sampling.burn_in,
            every: sampling.every(&spec, &views.sizes()),
            belief,
            seed: self.config.seed,
            cells: &cells,
        };
        let count = sampling.burn_in + sampling.samples;
        let mut advance = |objective: &mut Objective<'_, T>, progress: &mut Progress<T>| {
            sampler.advance(objective, progress)
        };
        let observations = objective.observations();
        let judge = |progress: &mut Progress<T>, _: &StepReport| {
            let chain = progress.notes.sampler.as_ref().and_then(|notes| notes.chains.first());
            let penalty = chain.map_or(0.0, |c| c.penalty(&progress.parameters, observations));
            if let Some(point) = progress.notes.path.last_mut() {
                point.penalty = penalty;
            }
            false
        };
        let end = self.run_with(&mut objective, &mut progress, count, &mut advance, judge);
        self.mean_of_draws(views, &objective, progress, end.status(Status::Sampled))
    }

    /// Where all chains begin.
    fn first_draws(
        &self,
        objective: &Objective<'_, T>,
        belief: &Belief,
        sampling: Sampling,
        cells: &[Vec<u32>],
    ) -> Progress<T> {
        let (spec, views) = (objective.spec(), objective.views());
        let mut starts: Vec<Parameters<T>> = (0..sampling.chains as u64)
            .map(|chain| start::random(spec, views, self.config.seed.wrapping_add(chain << 32)))
            .collect();
        let chain = Chain::new(belief, spec.group_count(), starts[0].layout().row_unknowns());
        let mut progress = self.begin(Stage::Sample, spec, 0.0, starts.remove(0), None);
        let cell_count = cells.first().map_or(0, Vec::len);
        progress.notes.sampler = Some(SamplerNotes {
            chains: vec![chain; sampling.chains],
            kept: Vec::new(),
            drawn: 0,
            cells: name_of(cells),
            cell_count,
        });
        let cell_sums = vec![0.0; cell_count];
        progress.draws = Some(SamplerDraws { others: starts, kept: Vec::new(), cell_sums });
        progress
    }

    /// The model whose predictions are the means over all draws that were kept. Where the time limit
    /// came before there was one, the present point of every chain is taken.
    fn mean_of_draws(
        &self,
        views: &Views<T>,
        objective: &Objective<'_, T>,
        mut progress: Progress<T>,
        status: Status,
    ) -> Result<Fit<T>> {
        let mut notes = progress.notes.sampler.take().expect("a sampler's progress");
        let mut draws = progress.draws.take().expect("a sampler's progress");
        if draws.kept.is_empty() {
            let points = std::iter::once(&progress.parameters).chain(&draws.others);
            draws.kept = points.map(|point| narrowed(objective, point)).collect();
            notes.kept = notes.chains;
        }
        drop(draws.others);
        let penalties = notes
            .kept
            .iter()
            .map(|chain| chain.penalty(&progress.parameters, objective.observations()));
        let penalty = penalties.sum::<f64>() / notes.kept.len() as f64;
        let kept = draws.kept.into_iter().zip(notes.kept);
        let kept = kept.map(|(point, chain)| (point, chain.noise, chain.priors)).collect();
        let (spec, parameters, mut posterior) =
            Posterior::join(objective.spec(), &views.sizes(), kept);
        if notes.drawn > 0 && notes.cell_count > 0 {
            let drawn = notes.drawn as f64;
            posterior.cell_means = Some(draws.cell_sums.iter().map(|sum| sum / drawn).collect());
        }
        let wide = self.objective(views, &spec, penalty)?;
        Ok(Fit {
            train_rmse: wide.data_value(&parameters).sqrt(),
            spec,
            parameters,
            penalty,
            status,
            sweeps: progress.notes.sweeps,
            validation_rmse: None,
            path: progress.notes.path,
            certificate: None,
            sdp: None,
            posterior: Some(posterior),
        })
    }
}
