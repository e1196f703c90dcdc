//! A certificate for given data.

use crate::certify::{Certificate, CertifyOptions, certify};
use crate::error::{Error, Result};
use crate::fitted::{Model, with_numbers};
use crate::objective::Problem;
use crate::observations::Observations;

impl Model {
    /// How far the model is from the global optimum of its objective on some data, usually those that
    /// it was fitted to. Observations with labels that it does not know are left out.
    pub fn certify(&self, data: Observations, options: &CertifyOptions) -> Result<Certificate> {
        self.refuse_draws(
            "a mean of draws minimises nothing, so there is nothing to certify: set `solver` to path",
        )?;
        with_numbers!(&self.numbers, fitted => {
            let problem = self.problem(data)?;
            let objective = problem.objective(&self.spec, self.summary.penalty);
            certify(&objective, &fitted.parameters, options)
        })
    }

    /// The problem of the fit on given data.
    pub(super) fn problem<T: crate::Real>(&self, data: Observations) -> Result<Problem<T>> {
        let (data, _) = data.relabelled(&self.modes)?;
        Problem::new(data, &self.spec, &self.summary.config.terms(), None)
    }

    /// Refuses sampled models, which have no objective.
    pub(super) fn refuse_draws(&self, reason: &str) -> Result<()> {
        if self.is_sampled() {
            return Err(Error::Unsupported(reason.to_owned()));
        }
        Ok(())
    }

    /// Refuses implicit models, for which the effect of single observations is not known.
    pub(super) fn refuse_implicit(&self, reason: &str) -> Result<()> {
        if self.summary.config.implicit.is_some() {
            return Err(Error::Unsupported(reason.to_owned()));
        }
        Ok(())
    }
}
