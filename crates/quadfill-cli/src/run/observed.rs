//! Observations for the modes of a model.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use quadfill::Observations;
use quadfill::file::Model;
use quadfill::observations::Grown;
use quadfill_io::{Query, QueryValues, ReadError, ReadOptions, UNKNOWN, read_query};

/// Reads values for the modes of a model. The column of values is looked for under the name that it
/// had when the model was fitted, where no other one is asked for. A model of what was seen takes
/// rows without values, as its fit did.
pub(super) fn read_values(path: &Path, options: &ReadOptions, model: &Model<f64>) -> Result<Query> {
    let read = |options: &ReadOptions| {
        read_query(path, options, &model.modes, &model.notes.bins, QueryValues::Required)
    };
    if model.notes.config.implicit.is_some() && options.value.is_none() {
        let seen =
            read_query(path, options, &model.modes, &model.notes.bins, QueryValues::Ignored)?;
        let ones = vec![1.0; seen.len()];
        return Ok(Query { values: Some(ones), ..seen });
    }
    // Standard input can be read only once.
    if options.value.is_none() && path.as_os_str() != "-" {
        let named =
            ReadOptions { value: Some(model.notes.value.as_str().into()), ..options.clone() };
        match read(&named) {
            Err(ReadError::NoSuchColumn { .. }) => {}
            other => return Ok(other?),
        }
    }
    Ok(read(options)?)
}

/// The rows of a file whose labels are all known.
pub(super) fn read_known(
    path: &Path,
    options: &ReadOptions,
    model: &Model<f64>,
) -> Result<Observations<f64>> {
    let query = read_values(path, options, model)?;
    let known: Vec<usize> = (0..query.len()).filter(|&row| !query.is_unknown(row)).collect();
    if known.is_empty() {
        bail!(
            "{}: the model knows the labels of none of its rows: give the data it was fitted to",
            path.display()
        );
    }
    let pick = |column: &[f64]| known.iter().map(|&row| column[row]).collect::<Vec<f64>>();
    let indices =
        query.indices.iter().map(|column| known.iter().map(|&row| column[row]).collect()).collect();
    let values = pick(query.values.as_deref().expect("values were required"));
    let weights = query.weights.as_deref().map(pick);
    Ok(Observations::new(model.modes.clone(), indices, values, weights, options.on_duplicate)?)
}

/// The rows of some files, labels that the model does not know being added to its modes.
pub(super) fn read_growing(
    paths: &[PathBuf],
    options: &ReadOptions,
    model: &Model<f64>,
) -> Result<(Grown, Observations<f64>)> {
    let modes = model.modes.len();
    let mut values = Vec::new();
    let mut weights: Option<Vec<f64>> = options.weight.is_some().then(Vec::new);
    let mut known: Vec<Vec<u32>> = vec![Vec::new(); modes];
    let mut more: Vec<Vec<String>> = vec![Vec::new(); modes];
    for path in paths {
        let mut query = read_values(path, options, model)?;
        add_names(path, &query, model, &mut more)?;
        for (all, column) in known.iter_mut().zip(&mut query.indices) {
            all.append(column);
        }
        values.extend(query.values.take().unwrap_or_default());
        if let (Some(all), Some(column)) = (&mut weights, query.weights.take()) {
            all.extend(column);
        }
    }
    let grown = Grown::new(&model.modes, &model.spec.groups, &more);
    let mut indices = Vec::with_capacity(modes);
    for mode in 0..modes {
        let labels = &grown.modes[mode].labels;
        let mut names = more[mode].iter();
        let column = known[mode].iter().map(|&label| {
            if label != UNKNOWN {
                return grown.places[mode][label as usize];
            }
            let name = names.next().expect("every unknown label has a name");
            labels.find(name).expect("the modes have grown by it")
        });
        indices.push(column.collect());
    }
    let data =
        Observations::new(grown.modes.clone(), indices, values, weights, options.on_duplicate)?;
    Ok((grown, data))
}

/// Adds the names of the labels that are not known, one for each time that they occur.
fn add_names(
    path: &Path,
    query: &Query,
    model: &Model<f64>,
    more: &mut [Vec<String>],
) -> Result<()> {
    if query.unknown() == 0 {
        return Ok(());
    }
    let mut row = 0;
    query.rows.for_each(|fields| {
        for (mode, more) in more.iter_mut().enumerate() {
            if query.indices[mode][row] != UNKNOWN {
                continue;
            }
            let name = &model.modes[mode].name;
            let text = fields[query.columns[mode]].trim();
            let place = || format!("{}, row {}", path.display(), row + 1);
            if text.is_empty() {
                bail!("{}: mode `{name}` has no label: every row needs one", place());
            }
            let bins = model.notes.bins.iter().find(|bins| bins.mode == *name);
            more.push(match bins {
                None => text.to_owned(),
                Some(bins) => match text.parse().ok().and_then(|time| bins.bin(time)) {
                    Some(bin) => bin.to_string(),
                    None => bail!(
                        "{}: the time {text} is none of the bins of mode `{name}`: leave the row out",
                        place()
                    ),
                },
            });
        }
        row += 1;
        Ok(())
    })
}
