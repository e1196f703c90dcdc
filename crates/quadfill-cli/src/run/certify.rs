//! Certifies a model on the data that it was fitted to.

use anyhow::{Result, bail};
use quadfill::certify::{Certificate, CertifyOptions, certify};
use quadfill::file::Model;
use quadfill::model::Interaction;
use quadfill::views::Views;
use quadfill_io::{BinSize, BinSpec, ReadError, ReadOptions, read};
use serde::Serialize;

use crate::flags::CertifyFlags;
use crate::output::Output;
use crate::places;
use crate::report::{Lines, grouped, number};

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    certificate: Certificate,
    observations: usize,
    unknown: usize,
}

pub(super) fn run(flags: &CertifyFlags, seed: u64, output: Output) -> Result<()> {
    let options = flags.reading.resolve()?;
    places::check_input(&flags.data)?;
    let model = Model::load(&flags.model)?;
    if model.posterior.is_some() {
        bail!(
            "a model of --solver gibbs is a mean of draws and minimises nothing, so there is nothing \
             to certify: fit with --solver path"
        );
    }
    if model.spec.interaction == Interaction::Cp {
        bail!(
            "{}: no certificate exists for CP: how far such a fit is from the global optimum cannot be \
             told; fit a quadratic model (--model pairwise) for one",
            flags.model.display()
        );
    }
    let observations = read_for(&model, flags, options)?;
    let (observations, unknown) = observations.relabelled(&model.modes)?;
    let count = observations.len();
    if unknown > 0 {
        output.note(format_args!(
            "warning: {} of {} rows have labels that the model does not know and are left out",
            grouped(unknown),
            grouped(unknown + count)
        ));
    }
    let notes = &model.notes;
    if count != notes.observations {
        output.note(format_args!(
            "warning: the model was fitted to {} observations, these are {}: the certificate is for these",
            grouped(notes.observations),
            grouped(count)
        ));
    }
    let views = Views::new(observations);
    let objective = notes.config.objective(&views, &model.spec, notes.penalty)?;
    let options = CertifyOptions { curvature: flags.curvature, seed };
    let certificate = certify(&objective, &model.parameters, &options)?;
    let report = Report { certificate, observations: count, unknown };
    output.answer(text(&report.certificate), &report)
}

/// Reads data by the names that the model knows its columns by, where the file has them.
fn read_for(
    model: &Model<f64>,
    flags: &CertifyFlags,
    mut options: ReadOptions,
) -> Result<quadfill::Observations<f64>> {
    if options.bins.is_empty() {
        options.bins = model
            .notes
            .bins
            .iter()
            .map(|bins| BinSpec {
                column: bins.mode.as_str().into(),
                size: BinSize::Settled {
                    origin: bins.origin,
                    width: bins.width,
                    count: bins.count,
                },
            })
            .collect();
    }
    let mut named = options.clone();
    if named.modes.is_none() {
        let names = model.modes.iter().map(|mode| mode.name.as_str().into());
        named.modes = Some(names.collect());
    }
    if named.value.is_none() {
        named.value = Some(model.notes.value.as_str().into());
    }
    // Standard input can be read only once.
    if flags.data.as_os_str() != "-" {
        match read::<f64>(&flags.data, &named) {
            Err(ReadError::NoSuchColumn { .. }) => {}
            other => return Ok(other?.observations),
        }
    }
    Ok(read::<f64>(&flags.data, &options)?.observations)
}

fn text(certificate: &Certificate) -> Lines {
    let mut lines = Lines::default();
    lines.add("verdict", certificate.verdict.clone());
    lines.add("objective", number(certificate.objective));
    lines.add(
        "gap",
        format!(
            "at most {} ({} of the objective)",
            number(certificate.gap),
            number(certificate.relative_gap)
        ),
    );
    let certainty = match certificate.confidence {
        sure if sure >= 1.0 => "certain".to_owned(),
        chance => format!("with probability 1 - {:.0e}", 1.0 - chance),
    };
    lines.add(
        "smallest eigenvalue",
        format!(
            "about {}, {}",
            number(certificate.lambda_min),
            match certificate.lambda_min_bound {
                Some(bound) => format!("not below {} ({certainty})", number(bound)),
                None => "without a lower bound".to_owned(),
            }
        ),
    );
    lines.add("gradient norm", number(certificate.gradient_norm));
    if let Some(curvature) = certificate.curvature_min {
        lines.add("smallest curvature", number(curvature));
    }
    lines
        .add("rank", format!("{} of {} columns are in use", certificate.rank, certificate.columns));
    lines.add(
        "rows",
        format!(
            "the longest has norm {}; incoherence {}",
            number(certificate.largest_row_norm),
            number(certificate.incoherence)
        ),
    );
    lines
}
