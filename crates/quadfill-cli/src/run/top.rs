//! Finds the labels with the best predictions.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use quadfill::apply::{Order, Scored};
use quadfill::model::UNKNOWN;
use quadfill::{Mode, Model};
use quadfill_io::{QueryValues, ReadOptions, read_query};
use serde::Serialize;

use super::labels;
use crate::flags::{OrderName, TopFlags, sentence};
use crate::output::Output;
use crate::paths;
use crate::report::{Lines, number};

/// The default number of labels.
const DEFAULT_COUNT: usize = 10;

#[derive(Debug, Serialize)]
struct Item {
    label: String,
    score: f64,
}

#[derive(Debug, Serialize)]
struct Answer {
    mode: String,
    given: BTreeMap<String, String>,
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
struct Answers {
    queries: Vec<Answer>,
}

pub(super) fn run(flags: &TopFlags, output: Output) -> Result<()> {
    let mut options = flags.reading.resolve()?;
    for file in [&flags.batch, &flags.exclude, &flags.candidates].into_iter().flatten() {
        paths::check_input(file)?;
    }
    let model = Model::load(&flags.model)?;
    options.positions.clone_from(&model.source().positions);
    let mode = model.mode_position(&flags.mode)?;
    let queries = if let Some(file) = &flags.batch {
        read_batch(file, &options, &model, mode)?
    } else {
        let given = labels::parse(&model, &flags.given)?;
        if given[mode] != UNKNOWN {
            bail!("mode `{}` is both given and wanted: leave it out of --given", flags.mode);
        }
        model.require_labels(&given, Some(mode))?;
        vec![given]
    };
    let mut ranker = model.ranker(mode);
    if let Some(order) = flags.order {
        ranker = ranker.with_order(match order {
            OrderName::Highest => Order::Highest,
            OrderName::Lowest => Order::Lowest,
        });
    }
    if let Some(file) = &flags.candidates {
        ranker = ranker.among(&read_candidates(file, &model, mode)?);
    }
    let k = flags.k.unwrap_or(DEFAULT_COUNT.min(ranker.len()));
    if k > ranker.len() {
        let what = if flags.candidates.is_some() {
            "there are only".to_owned()
        } else {
            format!("mode `{}` has only", model.modes()[mode].name)
        };
        bail!("-k {k}: {what} {} labels to choose from: ask for at most as many", ranker.len());
    }
    let excluded = excluded(flags, &options, &model, mode, &queries)?;
    let found = match &queries[..] {
        [query] => vec![ranker.top(query, k, &excluded[0])],
        _ => ranker.top_batch(&queries, k, &excluded),
    };
    let mut answers: Vec<Answer> = queries
        .iter()
        .zip(found)
        .map(|(query, found)| answer(model.modes(), mode, query, found))
        .collect();
    if flags.batch.is_some() {
        let text = batch_text(&answers);
        return output.answer(text.trim_end(), &Answers { queries: answers });
    }
    let answer = answers.remove(0);
    let mut lines = Lines::default();
    for item in &answer.items {
        lines.add(item.label.clone(), number(item.score));
    }
    output.answer(lines, &answer)
}

/// Reads queries: the columns of all modes but the wanted one.
fn read_batch(
    file: &Path,
    options: &ReadOptions,
    model: &Model,
    mode: usize,
) -> Result<Vec<Vec<u32>>> {
    let mut others = model.modes().to_vec();
    others.remove(mode);
    let query = read_query(file, options, &others, QueryValues::Ignored)?;
    if let Some(row) = (0..query.len()).find(|&row| query.is_unknown(row)) {
        let at = query.indices.iter().position(|column| column[row] == UNKNOWN).unwrap_or(0);
        bail!(
            "{}: row {} has a label of mode `{}` that the model does not know: leave it out",
            file.display(),
            row + 1,
            others[at].name
        );
    }
    let rows = 0..query.len();
    Ok(rows
        .map(|row| {
            let mut cell: Vec<u32> = query.indices.iter().map(|column| column[row]).collect();
            cell.insert(mode, UNKNOWN);
            cell
        })
        .collect())
}

fn read_candidates(file: &Path, model: &Model, mode: usize) -> Result<Vec<u32>> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("{}: this is not a list of labels", file.display()))?;
    let candidates: Vec<u32> = text
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| !line.is_empty())
        .map(|line| model.find_label(mode, line))
        .collect::<Result<_, _>>()
        .map_err(|error: quadfill::Error| {
            anyhow::anyhow!("{}: {}", file.display(), sentence(&error.into()))
        })?;
    if candidates.is_empty() {
        bail!("{}: there are no candidates: give one label per line", file.display());
    }
    Ok(candidates)
}

/// For each query the labels that the file of `--exclude` has together with it, ascending.
fn excluded(
    flags: &TopFlags,
    options: &ReadOptions,
    model: &Model,
    mode: usize,
    queries: &[Vec<u32>],
) -> Result<Vec<Vec<u32>>> {
    let Some(file) = &flags.exclude else {
        return Ok(vec![Vec::new(); queries.len()]);
    };
    let shared: Vec<usize> = match &flags.exclude_by {
        Some(names) => names
            .split(',')
            .map(|name| model.mode_position(name.trim()))
            .collect::<Result<_, _>>()?,
        None => (0..model.modes().len()).filter(|&other| other != mode).collect(),
    };
    if shared.contains(&mode) {
        bail!(
            "--exclude-by {}: this mode is the wanted one: name others",
            model.modes()[mode].name
        );
    }
    let seen = read_query(file, options, model.modes(), QueryValues::Ignored)?;
    let mut by_key: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
    for row in 0..seen.len() {
        let label = seen.indices[mode][row];
        if label != UNKNOWN {
            let key = shared.iter().map(|&other| seen.indices[other][row]).collect();
            by_key.entry(key).or_default().push(label);
        }
    }
    for labels in by_key.values_mut() {
        labels.sort_unstable();
        labels.dedup();
    }
    let key = |query: &Vec<u32>| -> Vec<u32> { shared.iter().map(|&other| query[other]).collect() };
    Ok(queries.iter().map(|query| by_key.get(&key(query)).cloned().unwrap_or_default()).collect())
}

fn answer(modes: &[Mode], mode: usize, query: &[u32], found: Vec<Scored>) -> Answer {
    let name = |mode: &Mode, label: u32| mode.label(label as usize).into_owned();
    Answer {
        mode: modes[mode].name.clone(),
        given: modes
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != mode)
            .map(|(other, mode)| (mode.name.clone(), name(mode, query[other])))
            .collect(),
        items: found
            .into_iter()
            .map(|Scored { label, score }| Item { label: name(&modes[mode], label), score })
            .collect(),
    }
}

/// One line per label: the query, the label, the score.
fn batch_text(answers: &[Answer]) -> String {
    let mut text = String::new();
    for answer in answers {
        let given: Vec<&str> = answer.given.values().map(String::as_str).collect();
        for item in &answer.items {
            let _ = writeln!(text, "{}\t{}\t{}", given.join("\t"), item.label, number(item.score));
        }
    }
    text
}
