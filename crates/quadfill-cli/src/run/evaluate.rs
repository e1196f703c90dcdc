//! Compares predictions with known values.

use anyhow::Result;
use quadfill::apply::Evaluation;
use quadfill::file::Model;

use super::judge::TestSet;
use crate::flags::EvaluateFlags;
use crate::output::Output;
use crate::places;
use crate::report::{Lines, grouped, number};

pub(super) fn run(flags: &EvaluateFlags, output: Output) -> Result<()> {
    let mut options = flags.reading.resolve()?;
    places::check_input(&flags.test)?;
    let model = Model::load(&flags.model)?;
    options.places.clone_from(&model.notes.places);
    let test = TestSet::read(
        &flags.test,
        &options,
        &model.modes,
        &model.notes.bins,
        Some(&model.notes.value),
    )?;
    let judged = test.judge(model.predictor());
    output.answer(text(&judged), &judged)
}

fn text(judged: &Evaluation) -> Lines {
    let mut lines = Lines::default();
    lines.add("rmse", number(judged.rmse));
    lines.add("mse", number(judged.mse));
    lines.add("mae", number(judged.mae));
    lines.add("relative error", number(judged.relative_error));
    lines.add("cells", grouped(judged.count));
    lines.add("unknown", grouped(judged.unknown));
    lines
}
