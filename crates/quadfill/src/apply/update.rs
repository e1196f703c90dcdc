//! Continuing the fit of a model with more data.

use crate::error::Result;
use crate::fitted::{About, InModel, Model, Numbers};
use crate::model::{ModelKind, Parameters};
use crate::observations::{ExtendedModes, Observations};
use crate::solve::{Choice, FitConfig, NoObserver, Observer, Rank, Solver, fit_from};
use crate::views::Data;

impl Model {
    /// Fits the model to more data, old and new together, from where it is: the same penalty and
    /// biases, alternating least squares until the objective stops decreasing. New labels begin
    /// where [`fold_in`](Self::fold_in) puts them.
    pub fn update(&self, data: Observations) -> Result<Self> {
        self.update_with(data, &mut NoObserver)
    }

    /// The same with an observer.
    pub fn update_with(&self, data: Observations, observer: &mut dyn Observer) -> Result<Self> {
        self.refuse_draws(
            "a mean of draws cannot be updated: fit all data again, fold new labels in, or set `solver` to \
             path",
        )?;
        let (extended, data) = ExtendedModes::new(&self.modes, &self.spec.groups, data)?;
        let data = data.with_source(self.source.clone());
        let is_new = extended.new_labels();
        let mut model = self.extended(&extended);
        let has_new = is_new.iter().flatten().any(|&new| new);
        if has_new && self.summary.config.implicit.is_none() {
            model.solve_new_rows(&data, &is_new)?;
        }
        // The kernel is the one that was found, if it was learned.
        let given = FitConfig::for_spec(&model.spec);
        let config = FitConfig {
            model: ModelKind::of(&model.spec.interaction),
            rank: Rank::Fixed(model.spec.rank),
            ties: given.ties,
            biases: Choice::Fixed(model.spec.biases),
            // It may have been chosen on held-out data.
            centre: if model.spec.centred {
                Choice::Fixed(true)
            } else {
                self.summary.config.centre
            },
            solver: Solver::Als,
            penalty: Choice::Fixed(self.summary.penalty),
            sweeps: None,
            ..self.summary.config.clone()
        };
        match model.numbers {
            Numbers::F32(fitted) => go_on(data, &config, fitted.parameters, observer),
            Numbers::F64(fitted) => go_on(data, &config, fitted.parameters, observer),
        }
    }
}

fn go_on<T: InModel>(
    data: Observations,
    config: &FitConfig,
    parameters: Parameters<T>,
    observer: &mut dyn Observer,
) -> Result<Model> {
    let data = Data::from(data);
    let about = About::of(&data);
    let fit = fit_from(data, config, parameters, observer)?;
    Ok(about.model(config, fit))
}
