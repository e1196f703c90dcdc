//! Parameters of Python as settings of the library.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadfill::OnDuplicate;
use quadfill::model::{Biases, Kernel, ModelKind};
use quadfill::objective::{PenaltyScale, RowNormPenalty};
use quadfill::solve::{
    Choice, Effort, FitConfig, NoisePrior, Precision, Rank, RowPriorKind, Sampling, SdpForm, Solver,
};
use quadfill::views::Storage;
use quadfill_io::{BinSpec, ColumnRef, Format, ReadOptions};

use crate::errors::{Kind, exception, library_error, read_error};

/// Named parameters; what is left out or None has its default.
pub(crate) struct Parameters<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Parameters<'_, 'py> {
    fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// A parameter of some type; `expected` says which, in words.
    pub(crate) fn get<V>(&self, name: &str, expected: &str) -> PyResult<Option<V>>
    where
        V: for<'b> FromPyObject<'b, 'py>,
    {
        let Some(value) = self.0.get_item(name)?.filter(|value| !value.is_none()) else {
            return Ok(None);
        };
        value.extract().map(Some).map_err(|_| self.wrong_type(name, &value, expected))
    }

    fn wrong_type(&self, name: &str, value: &Bound<'py, PyAny>, expected: &str) -> PyErr {
        let is_scalar = value.extract::<f64>().is_ok() || value.extract::<String>().is_ok();
        match value.repr() {
            // The type is right, the value is not.
            Ok(text) if is_scalar => {
                self.wrong(format!("`{name}` is {text}: it must be {expected}"))
            }
            _ => {
                let kind =
                    value.get_type().name().map_or_else(|_| "object".to_owned(), |n| n.to_string());
                PyTypeError::new_err(format!("`{name}` is of type {kind}: it must be {expected}"))
            }
        }
    }

    fn wrong(&self, message: String) -> PyErr {
        exception(self.py(), Kind::Setting, message)
    }

    /// One of some words.
    fn word<V: Copy>(&self, name: &str, words: &[(&str, V)]) -> PyResult<Option<V>> {
        let all: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let expected = format!("one of {}", all.join(", "));
        let Some(given) = self.get::<String>(name, &expected)? else {
            return Ok(None);
        };
        let found = words.iter().find(|(word, _)| *word == given);
        found
            .map(|&(_, value)| Some(value))
            .ok_or_else(|| self.wrong(format!("`{name}` is \"{given}\": it must be {expected}")))
    }

    fn is_word(&self, name: &str, word: &str) -> PyResult<bool> {
        let value = self.0.get_item(name)?;
        Ok(value.is_some_and(|value| value.extract::<String>().is_ok_and(|text| text == word)))
    }

    /// A number, or a word for the automatic choice.
    fn number_or_auto<V>(&self, name: &str, expected: &str) -> PyResult<Option<V>>
    where
        V: for<'b> FromPyObject<'b, 'py>,
    {
        if self.is_word(name, "auto")? {
            return Ok(None);
        }
        self.get(name, expected)
    }

    fn count(&self, name: &str) -> PyResult<Option<usize>> {
        match self.get::<usize>(name, "a whole number above 0")? {
            Some(0) => Err(self.wrong(format!("`{name}` is 0: it must be a whole number above 0"))),
            other => Ok(other),
        }
    }

    /// The settings of a fit.
    pub(crate) fn config(&self) -> PyResult<FitConfig> {
        let default = FitConfig::default();
        let library = |error| library_error(self.py(), &error);
        let row_norm_penalty = self
            .get::<(f64, f64)>("row_norm_penalty", "a pair of numbers (alpha, weight)")?
            .map(|(alpha, weight)| RowNormPenalty::new(alpha, weight))
            .transpose()
            .map_err(library)?;
        let config = FitConfig {
            model: self.model()?,
            rank: match self
                .number_or_auto::<usize>("rank", "a whole number above 0 or \"auto\"")?
            {
                Some(rank) => Rank::Fixed(rank),
                None => Rank::Auto { max: self.count("max_rank")? },
            },
            biases: self.biases()?.into(),
            centre: self.centre()?.into(),
            ties: self.ties()?,
            solver: self.solver()?,
            penalty: self.number_or_auto::<f64>("penalty", "a number or \"auto\"")?.into(),
            penalty_scale: self
                .word(
                    "penalty_scale",
                    &[
                        ("auto", None),
                        ("uniform", Some(PenaltyScale::Uniform)),
                        ("count", Some(PenaltyScale::Count)),
                    ],
                )?
                .flatten()
                .into(),
            row_norm_penalty,
            perturb: self.get("perturb", "True or False")?.unwrap_or(false),
            implicit: self.get("implicit", "a number or None")?,
            validation: self
                .get("hold_out", "a number between 0 and 1")?
                .unwrap_or(default.validation),
            path_steps: self.count("path_steps")?.into(),
            sweeps: self.count("sweeps")?,
            tolerance: self.get("tolerance", "a number not below 0")?.unwrap_or(default.tolerance),
            time_limit: self.get("time_limit", "a number of seconds or None")?,
            seed: self.get("seed", "a whole number not below 0")?.unwrap_or(0),
            precision: self
                .word(
                    "precision",
                    &[("auto", None), ("f32", Some(Precision::F32)), ("f64", Some(Precision::F64))],
                )?
                .flatten()
                .into(),
            views: self
                .word(
                    "views",
                    &[
                        ("auto", None),
                        ("plain", Some(Storage::Plain)),
                        ("packed", Some(Storage::Packed)),
                        ("mapped", Some(Storage::Mapped)),
                    ],
                )?
                .flatten()
                .into(),
            certify: true,
            effort: self
                .word(
                    "effort",
                    &[
                        ("quick", Effort::Quick),
                        ("normal", Effort::Normal),
                        ("thorough", Effort::Thorough),
                    ],
                )?
                .unwrap_or_default(),
            keep_draws: self.get("keep_draws", "True or False")?.unwrap_or(false),
        };
        config.check().map_err(library)?;
        Ok(config)
    }

    pub(crate) fn model(&self) -> PyResult<ModelKind> {
        let library = |error| library_error(self.py(), &error);
        if let Some(text) =
            self.0.get_item("kernel")?.and_then(|kernel| kernel.extract::<String>().ok())
        {
            return Ok(ModelKind::Kernel(Kernel::parse(&text).map_err(library)?));
        }
        if let Some(rows) = self.get::<Vec<Vec<f64>>>("kernel", "a square table of numbers")? {
            return Ok(ModelKind::Kernel(Kernel::new(&rows).map_err(library)?));
        }
        let name: Option<String> = self.get("model", "the name of a model")?;
        name.map_or(Ok(ModelKind::default()), |name| name.parse().map_err(library))
    }

    fn biases(&self) -> PyResult<Option<Biases>> {
        let words = [
            ("auto", None),
            ("none", Some(Biases::None)),
            ("mean", Some(Biases::Mean)),
            ("modes", Some(Biases::Modes)),
        ];
        Ok(self.word("bias", &words)?.flatten())
    }

    fn centre(&self) -> PyResult<Option<bool>> {
        if self.is_word("centre", "auto")? {
            return Ok(None);
        }
        self.get("centre", "True, False or \"auto\"")
    }

    fn ties(&self) -> PyResult<Vec<Vec<String>>> {
        let expected = "a list of modes that share their factors, or a list of such lists";
        let Some(tie) = self.0.get_item("tie")?.filter(|tie| !tie.is_none()) else {
            return Ok(Vec::new());
        };
        if tie.extract::<String>().is_ok() {
            return Err(self.wrong_type("tie", &tie, expected));
        }
        if let Ok(one) = tie.extract::<Vec<String>>() {
            return Ok(vec![one]);
        }
        tie.extract().map_err(|_| self.wrong_type("tie", &tie, expected))
    }

    fn solver(&self) -> PyResult<Solver> {
        let solver = self
            .word(
                "solver",
                &[
                    ("auto", Solver::Auto),
                    ("path", Solver::Path),
                    ("als", Solver::Als),
                    ("gd", Solver::Gd(Choice::Auto)),
                    ("lbfgs", Solver::Lbfgs),
                    ("gauss-newton", Solver::GaussNewton),
                    ("sdp", Solver::Sdp(Choice::Auto)),
                    ("gibbs", Solver::Gibbs(Sampling::default())),
                ],
            )?
            .unwrap_or_default();
        let (step, form, sampling) =
            (self.get("step", "a number")?, self.sdp_form()?, self.sampling()?);
        for (name, is_given, fits) in [
            ("step", step.is_some(), matches!(solver, Solver::Gd(_))),
            ("sdp_form", form.is_some(), matches!(solver, Solver::Sdp(_))),
            (
                "burn_in, samples, thin, chains, prior, noise_prior",
                sampling.is_some(),
                matches!(solver, Solver::Gibbs(_)),
            ),
        ] {
            if is_given && !fits {
                let of = if name == "step" {
                    "gd"
                } else if name == "sdp_form" {
                    "sdp"
                } else {
                    "gibbs"
                };
                return Err(
                    self.wrong(format!("`{name}` is for `solver`=\"{of}\" only: leave it out"))
                );
            }
        }
        Ok(match solver {
            Solver::Gd(_) => Solver::Gd(step.into()),
            Solver::Sdp(_) => Solver::Sdp(form.into()),
            Solver::Gibbs(default) => Solver::Gibbs(sampling.unwrap_or(default)),
            other => other,
        })
    }

    fn sdp_form(&self) -> PyResult<Option<SdpForm>> {
        self.word(
            "sdp_form",
            &[
                ("trace", SdpForm::Trace),
                ("penalised", SdpForm::Penalised),
                ("objective", SdpForm::Objective),
            ],
        )
    }

    /// How to sample, if anything about it is said.
    fn sampling(&self) -> PyResult<Option<Sampling>> {
        let default = Sampling::default();
        let burn_in: Option<usize> = self.get("burn_in", "a whole number not below 0")?;
        let (samples, thin, chains) =
            (self.count("samples")?, self.count("thin")?, self.count("chains")?);
        let prior = self.word(
            "prior",
            &[("diagonal", RowPriorKind::Diagonal), ("wishart", RowPriorKind::Wishart)],
        )?;
        let noise: Option<f64> = self.get("noise_prior", "a number above 0")?;
        let is_given = burn_in.is_some()
            || samples.is_some()
            || thin.is_some()
            || chains.is_some()
            || prior.is_some()
            || noise.is_some();
        Ok(is_given.then(|| Sampling {
            burn_in: burn_in.unwrap_or(default.burn_in),
            samples: samples.unwrap_or(default.samples),
            thin,
            chains: chains.unwrap_or(default.chains),
            prior,
            noise: noise.map(|rmse| NoisePrior { rmse, share: 1.0 }),
        }))
    }

    /// How a table or a file is read.
    pub(crate) fn reading(&self) -> PyResult<ReadOptions> {
        let names = |names: Vec<String>| names.into_iter().map(ColumnRef::from).collect();
        let format: Option<String> = self.get("format", "the name of a format")?;
        let bins: Option<Vec<String>> = self.get("bins", "texts such as time=20w")?;
        let read = |error| read_error(self.py(), &error);
        Ok(ReadOptions {
            format: format.map(|name| name.parse::<Format>()).transpose().map_err(read)?,
            delimiter: self.get("delimiter", "a text")?,
            header: self.get("header", "True or False")?,
            modes: self.get("modes", "a list of columns")?.map(names),
            value: self.get::<String>("value", "the name of a column")?.map(Into::into),
            positions: None,
            values_are_ones: self.get("values_are_ones", "True or False")?.unwrap_or(false),
            weight: self.get::<String>("weight", "the name of a column")?.map(Into::into),
            bins: bins
                .unwrap_or_default()
                .iter()
                .map(|bin| BinSpec::parse(bin))
                .collect::<Result<_, _>>()
                .map_err(read)?,
            on_duplicate: self
                .word(
                    "on_duplicate",
                    &[
                        ("error", OnDuplicate::Error),
                        ("mean", OnDuplicate::Mean),
                        ("last", OnDuplicate::Last),
                        ("sum", OnDuplicate::Sum),
                    ],
                )?
                .unwrap_or_default(),
            mask: self.get("mask", "the path of a file")?,
            missing: self.get("missing", "a number")?,
            variable: self.get("variable", "a text")?,
        })
    }
}
