//! Certifies a model on the data that it was fitted to.

use anyhow::Result;
use quadfill::Model;
use quadfill::certify::{Certificate, CertifyOptions};
use quadfill_io::read_for_modes;
use serde::Serialize;

use crate::flags::CertifyFlags;
use crate::output::Output;
use crate::paths;
use crate::report::{Lines, grouped, number};

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    certificate: Certificate,
    observations: usize,
    unknown: usize,
}

pub(super) fn run(flags: &CertifyFlags, seed: u64, output: Output) -> Result<()> {
    let mut options = flags.reading.resolve()?;
    paths::check_input(&flags.data)?;
    let model = Model::load(&flags.model)?;
    options.positions.clone_from(&model.source().positions);
    let data = std::slice::from_ref(&flags.data);
    let data = read_for_modes(data, &options, model.modes(), model.source())?;
    let rows = data.len();
    let (data, unknown) = data.relabelled(model.modes())?;
    let count = data.len();
    if unknown > 0 {
        output.note(format_args!(
            "warning: {} of {} rows have labels that the model does not know and are left out",
            grouped(unknown),
            grouped(rows)
        ));
    }
    let fitted = model.summary().observations;
    if count != fitted {
        output.note(format_args!(
            "warning: the model was fitted to {} observations, these are {}: the certificate is for these",
            grouped(fitted),
            grouped(count)
        ));
    }
    let options = CertifyOptions { curvature: flags.curvature, seed };
    let certificate = model.certify(data, &options)?;
    let report = Report { certificate, observations: count, unknown };
    output.answer(text(&report.certificate), &report)
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
            "the longest has norm {}; coherence {}",
            number(certificate.largest_row_norm),
            number(certificate.coherence)
        ),
    );
    lines
}
