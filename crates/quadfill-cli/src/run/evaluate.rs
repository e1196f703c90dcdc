//! Compares predictions with known values, or ranks the right labels.

use std::collections::BTreeMap;

use anyhow::Result;
use quadfill::Model;
use quadfill::apply::{KnownCells, Ranking};
use quadfill::model::Evaluation;
use quadfill_io::{QueryValues, ReadOptions, read_query};
use serde::Serialize;

use super::test_set::TestSet;
use crate::flags::EvaluateFlags;
use crate::output::Output;
use crate::paths;
use crate::report::{Lines, grouped, number};

pub(super) fn run(flags: &EvaluateFlags, output: Output) -> Result<()> {
    let mut options = flags.reading.resolve()?;
    paths::check_input(&flags.test)?;
    for file in &flags.filter {
        paths::check_input(file)?;
    }
    let model = Model::load(&flags.model)?;
    options.positions.clone_from(&model.source().positions);
    if let Some(modes) = &flags.rank_mode {
        let report = rank(flags, &options, &model, modes)?;
        return output.answer(report.text(), &report);
    }
    let test = TestSet::read(&flags.test, &options, model.modes(), model.source())?;
    let evaluation = test.evaluate(&model);
    output.answer(text(&evaluation), &evaluation)
}

fn text(evaluation: &Evaluation) -> Lines {
    let mut lines = Lines::default();
    lines.add("rmse", number(evaluation.rmse));
    lines.add("mse", number(evaluation.mse));
    lines.add("mae", number(evaluation.mae));
    lines.add("relative error", number(evaluation.relative_error));
    lines.add("cells", grouped(evaluation.count));
    lines.add("unknown", grouped(evaluation.unknown));
    lines
}

#[derive(Debug, Serialize)]
struct RankReport {
    #[serde(flatten)]
    all: Ranking,
    modes: BTreeMap<String, Ranking>,
}

fn rank(
    flags: &EvaluateFlags,
    options: &ReadOptions,
    model: &Model,
    modes: &str,
) -> Result<RankReport> {
    let read = |file| {
        read_query(file, options, model.modes(), QueryValues::Ignored).map(|query| query.indices)
    };
    let test = read(&flags.test)?;
    let filters = flags.filter.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<&[u32]> = test.iter().map(Vec::as_slice).collect();
    let mut by_mode = BTreeMap::new();
    for name in modes.split(',') {
        let mode = model.mode_position(name.trim())?;
        let mut known = KnownCells::new(mode);
        for filter in &filters {
            known.add(&filter.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        let ranking = model.ranker(mode).ranking(&columns, &known);
        by_mode.insert(model.modes()[mode].name.clone(), ranking);
    }
    let all: Vec<Ranking> = by_mode.values().copied().collect();
    Ok(RankReport { all: Ranking::together(&all), modes: by_mode })
}

impl RankReport {
    fn text(&self) -> Lines {
        let all = &self.all;
        let mut lines = Lines::default();
        lines.add("MRR", number(all.mrr));
        lines.add("hits at 1, 3, 10", {
            let hits = [all.hits_at_1, all.hits_at_3, all.hits_at_10].map(number);
            hits.join(", ")
        });
        lines.add("mean rank", number(all.mean_rank));
        lines.add("recall at 10", number(all.recall_at_10));
        lines.add("NDCG at 10", number(all.ndcg_at_10));
        lines.add(
            "ranked",
            format!("{} cells, {} queries", grouped(all.count), grouped(all.queries)),
        );
        lines.add("unknown", grouped(all.unknown));
        lines
    }
}
