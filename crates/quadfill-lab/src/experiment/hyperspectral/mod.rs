//! Completion of a hyperspectral image from few of its cells, by the pairwise model and by CP.

mod cube;
mod findings;
mod pictures;
mod sampled;

use std::path::Path;
use std::time::Instant;

use quadfill::model::{Biases, Evaluation, ModelKind};
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Precision, Rank, Solver};
use quadfill::{FitConfig, Model};
use quadfill_io::write_npy;
use quadfill_report::{Block, Picture};

use super::row::Row;
use super::tune::{Tuned, from_random_start, sampler, tuned};
use super::{Experiment, Extent};
use crate::error::{LabError, Result};
use cube::{Cube, Sample};
use pictures::Tones;

/// The experiment on one image.
pub(super) struct Hyperspectral {
    /// The file name, without extension.
    name: String,
    cube: Cube,
}

const MODELS: [&str; 2] = ["quadratic", "cp"];
/// The paper's sampling rates, with its errors of CP and the quadratic model.
const PAPER: [(f64, f64, f64); 4] =
    [(0.001, 1.064, 0.488), (0.003, 0.495, 0.424), (0.01, 0.358, 0.353), (0.1, 0.116, 0.216)];
/// The smallest sample that can be split into training and validation cells.
const MIN_SAMPLE: usize = 50;
/// The paper's rank.
const RANK: usize = 100;
/// The ranks that hold-out chooses from for CP, besides the paper's.
const SMALLER_RANKS: [usize; 3] = [3, 10, 30];
/// With more cells than this the path has fewer steps.
const MANY: usize = 50_000;
const STEPS_WITH_MANY: usize = 25;

impl Hyperspectral {
    pub(super) fn open(path: &Path, downsample: usize) -> Result<Self> {
        let name = path.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let cube = Cube::read(path)?;
        if downsample > cube.sizes[0].min(cube.sizes[1]) {
            return Err(LabError::DownsampleTooLarge {
                downsample,
                rows: cube.sizes[0],
                columns: cube.sizes[1],
            });
        }
        let cube = if downsample > 1 { cube.downsampled(downsample) } else { cube };
        let sampled_cells = (PAPER[0].0 * cube.values.len() as f64) as usize;
        if sampled_cells < MIN_SAMPLE {
            return Err(LabError::ImageTooSmall {
                rate: PAPER[0].0,
                cells: cube.values.len(),
                sampled: sampled_cells,
                required: (MIN_SAMPLE as f64 / PAPER[0].0).round() as usize,
            });
        }
        Ok(Self { name, cube })
    }

    fn config(&self, cell: &Row, observations: usize) -> FitConfig {
        let (model, biases) = match cell.text("model") {
            // CP can represent mean and biases by its columns.
            "cp" => (ModelKind::Cp, Choice::Fixed(Biases::None)),
            _ => (ModelKind::Pairwise, Choice::Auto),
        };
        FitConfig {
            model,
            rank: Rank::Fixed(self.largest_rank()),
            biases,
            path_steps: (observations > MANY).then_some(STEPS_WITH_MANY).into(),
            seed: cell.count("seed") as u64,
            precision: Choice::Fixed(Precision::F32),
            solver: Solver::Path,
            // As in the paper: rows are drawn to zero.
            centre: Choice::Fixed(false),
            ..FitConfig::default()
        }
    }

    /// The paper's rank, or as many columns as there are rows.
    fn largest_rank(&self) -> usize {
        RANK.min(self.cube.sizes.iter().sum())
    }

    /// The fit of a cell.
    fn fit(&self, cell: &Row, sample: &Sample) -> Result<Tuned> {
        let data = &sample.observations;
        let config = self.config(cell, data.len());
        match (cell.text("choice"), cell.text("model")) {
            ("given", _) => tuned(data, &config),
            ("automatic", "quadratic") => {
                let rank = Rank::Auto { max: Some(self.largest_rank()) };
                tuned(data, &FitConfig { rank, ..config })
            }
            ("automatic", _) => best_of(SMALLER_RANKS, |rank| {
                tuned(data, &FitConfig { rank: Rank::Fixed(rank), ..config.clone() })
            }),
            _ => sampled::sampled(data, &config),
        }
    }

    /// The error on the missing cells.
    fn evaluate(&self, model: &Model, sample: &Sample) -> Evaluation {
        let (indices, values) = self.cube.cells(|cell| !sample.seen[cell]);
        let columns: Vec<&[u32]> = indices.iter().map(Vec::as_slice).collect();
        model.evaluate_cells(&columns, &values)
    }

    fn row(&self, cell: &Row, tuned: &Tuned, sample: &Sample) -> Row {
        let model = &tuned.model;
        let gap = model.certificate().map(|certificate| certificate.relative_gap);
        cell.clone()
            .with("rank", model.rank())
            .with("error", self.evaluate(model, sample).relative_error)
            .with("validation_rmse", Some(tuned.validation_rmse).filter(|rmse| rmse.is_finite()))
            .with("solver", solver_name(tuned.config.solver))
            .with("penalty", model.summary().penalty)
            .with("penalty_scale", model.spec().penalty_scale.to_string())
            .with("biases", biases_name(model.spec().biases))
            .with("relative_gap", gap)
            .with("observations", sample.observations.len())
    }

    /// The image with the observed cells, and predictions for the others.
    fn completed(&self, row: &Row) -> Result<Cube> {
        let sample = self.cube.sample(row.number("rate"), row.count("seed") as u64)?;
        let config = self.config(row, sample.observations.len());
        let config = FitConfig {
            rank: Rank::Fixed(row.count("rank")),
            biases: biases_named(row.text("biases")).into(),
            penalty_scale: Choice::Fixed(scale_named(row.text("penalty_scale"))),
            certify: false,
            ..config
        };
        let penalty = Choice::Fixed(row.number("penalty"));
        let config = match row.text("solver") {
            "gibbs" => FitConfig { solver: sampler(sample.observations.len() <= MANY), ..config },
            "als" => FitConfig { penalty, ..from_random_start(config) },
            _ => FitConfig { penalty, ..config },
        };
        let model = quadfill::fit(sample.observations, &config)?;
        let (indices, _) = self.cube.cells(|cell| !sample.seen[cell]);
        let columns: Vec<&[u32]> = indices.iter().map(Vec::as_slice).collect();
        let mut predictions = model.predict_cells(&columns).into_iter();
        let mut cube = self.cube.clone();
        for (value, seen) in cube.values.iter_mut().zip(&sample.seen) {
            if !seen && !value.is_nan() {
                *value = predictions.next().unwrap_or(f64::NAN) as f32;
            }
        }
        Ok(cube)
    }
}

/// The rank with the smallest error on held-out cells.
fn best_of(
    ranks: impl IntoIterator<Item = usize>,
    fit: impl FnMut(usize) -> Result<Tuned>,
) -> Result<Tuned> {
    Ok(Tuned::best(ranks.into_iter().map(fit))?.expect("there are ranks to choose from"))
}

fn solver_name(solver: Solver) -> &'static str {
    match solver {
        Solver::Gibbs(_) => "gibbs",
        Solver::Als => "als",
        _ => "path",
    }
}

fn scale_named(name: &str) -> PenaltyScale {
    if name == "count" { PenaltyScale::Count } else { PenaltyScale::Uniform }
}

fn biases_name(biases: Biases) -> &'static str {
    match biases {
        Biases::None => "none",
        Biases::Mean => "mean",
        Biases::Modes => "modes",
    }
}

fn biases_named(name: &str) -> Option<Biases> {
    [Biases::None, Biases::Mean, Biases::Modes].into_iter().find(|&b| biases_name(b) == name)
}

impl Experiment for Hyperspectral {
    fn name(&self) -> &'static str {
        "hyperspectral"
    }

    fn title(&self) -> &'static str {
        "Image completion from few cells"
    }

    fn question(&self) -> &'static str {
        "A hyperspectral image has a brightness for every pixel and band. How well can it be completed from a \
         small share of its cells (row, column, band)?"
    }

    fn paper(&self) -> &'static str {
        "On the image Ribeira, downsampled to 203 x 268 x 33, with rank 100 and tuned penalties, medians of \
         three runs: CP is better with many samples; the quadratic model is better below 1 % (CP and \
         quadratic: 1.064 and 0.488 at 0.1 %, 0.495 and 0.424 at 0.3 %, 0.358 and 0.353 at 1 %, 0.116 and 0.216 at \
         10 %)."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let mut cells = Vec::new();
        for (rate, ..) in PAPER {
            for model in MODELS {
                for choice in ["given", "automatic", "sampled"] {
                    // For CP, `given` also measures `automatic`.
                    if choice == "automatic" && model == "cp" {
                        continue;
                    }
                    for &seed in &extent.seeds(1, 3, 5) {
                        let cell = Row::new().with("image", self.name.as_str());
                        let cell = cell.with("sizes", format!("{:?}", self.cube.sizes));
                        let cell = cell.with("model", model).with("rate", rate);
                        cells.push(cell.with("choice", choice).with("seed", seed));
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let clock = Instant::now();
        let sample = self.cube.sample(cell.number("rate"), cell.count("seed") as u64)?;
        let found = self.fit(cell, &sample)?;
        let row = self.row(cell, &found, &sample).with("seconds", clock.elapsed().as_secs_f64());
        let mut rows = vec![row];
        if cell.text("choice") == "given" && cell.text("model") == "cp" {
            let cell = cell.clone().with("choice", "automatic");
            let smaller = self.fit(&cell, &sample)?;
            let best =
                if smaller.validation_rmse < found.validation_rmse { &smaller } else { &found };
            let row = self.row(&cell, best, &sample);
            rows.push(row.with("seconds", clock.elapsed().as_secs_f64()));
        }
        let few = sample.observations.len() <= MANY;
        if few && cell.text("choice") == "given" && cell.text("model") == "quadratic" {
            // The same objective over all ranks, with a certificate of optimality. With many cells the
            // optimum has hundreds of columns and takes hours.
            let clock = Instant::now();
            let config = FitConfig {
                rank: Rank::Auto { max: Some(2 * RANK) },
                penalty: Choice::Fixed(found.model.summary().penalty),
                biases: Choice::Fixed(found.model.spec().biases),
                ..found.config.clone()
            };
            let model = quadfill::fit(sample.observations.clone(), &config)?;
            let certified = Tuned { model, config, validation_rmse: f64::INFINITY };
            let cell = cell.clone().with("choice", "certified");
            let row = self.row(&cell, &certified, &sample);
            rows.push(row.with("seconds", clock.elapsed().as_secs_f64()));
        }
        Ok(rows)
    }

    fn work(&self, cell: &Row) -> f64 {
        let cells = cell.number("rate") * self.cube.values.len() as f64;
        cells * if cell.text("choice") == "sampled" { 1.0 } else { 4.0 } + 1e4
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        findings::blocks(rows)
    }

    fn write_extras(&self, rows: &[Row], folder: &Path) -> Result<Vec<Block>> {
        let band = self.cube.sizes[2] / 2;
        let tones = Tones::of(&self.cube, band);
        let picture = |name: String, title: String, cube: &Cube| Picture {
            name,
            title,
            png: pictures::band(cube, band, tones),
        };
        let mut blocks = Vec::new();
        for (rate, ..) in PAPER {
            let percent = findings::percent(rate);
            let mut shown = vec![picture("original".to_owned(), "original".to_owned(), &self.cube)];
            let best = |model: &str| findings::best(rows, model, rate);
            let Some(first) = best(MODELS[0]) else { continue };
            let sample = self.cube.sample(rate, first.count("seed") as u64)?;
            let mut observed = self.cube.clone();
            for (value, seen) in observed.values.iter_mut().zip(&sample.seen) {
                if !seen {
                    *value = f32::NAN;
                }
            }
            let title = format!("observed: {percent} of all cells");
            shown.push(picture(format!("observed-{rate}"), title, &observed));
            for model in MODELS {
                let Some(row) = best(model) else { continue };
                let cube = self.completed(row)?;
                let title =
                    format!("{}: error {:.3}", findings::model_name(model), row.number("error"));
                shown.push(picture(format!("{model}-{rate}"), title, &cube));
                write_npy(
                    &folder.join(format!("{model}-{rate}.npy")),
                    &cube.sizes,
                    cube.values.iter().map(|value| value * cube.unit),
                )?;
            }
            blocks.push(Block::Pictures {
                pictures: shown,
                caption: format!(
                    "Band {} of {}. Cells that were not observed are orange; the completed images show \
                     predictions for them.",
                    band + 1,
                    self.cube.sizes[2]
                ),
            });
        }
        blocks.push(Block::Text(
            "The completed images are in the same folder: MODEL-RATE.npy, in the units of the data."
                .to_owned(),
        ));
        Ok(blocks)
    }

    fn remarks(&self, _rows: &[Row]) -> Vec<Block> {
        let [rows, columns, bands] = self.cube.sizes;
        vec![Block::Text(format!(
            "The image is {}, {rows} x {columns} pixels in {bands} bands. Errors are relative errors on the missing \
             cells: the root of the sum of squared errors over that of the squared values. For every model the \
             penalty, and whether it scales with the observations of a row, are chosen on a tenth of the \
             observed cells; missing cells are never used for a choice.",
            self.name
        ))]
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::experiment::Effort;

    /// A pairwise tensor of rank 2 as an image.
    fn image() -> Hyperspectral {
        let sizes = [50, 40, 30];
        let row = |mode: usize, label: usize| {
            let x = (label as f64 + 1.0) * (mode as f64 + 0.7);
            [x.sin() + 1.0, (0.37 * x).cos()]
        };
        let inner = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let values = (0..sizes.iter().product()).map(|cell: usize| {
            let [a, b, c] = [row(0, cell / 1200), row(1, cell / 30 % 40), row(2, cell % 30)];
            (inner(a, b) + inner(a, c) + inner(b, c)) as f32
        });
        let cube = Cube { sizes, values: values.collect(), unit: 2.0 };
        Hyperspectral { name: "made".to_owned(), cube }
    }

    #[test]
    fn an_image_of_the_model_class_is_completed() {
        let image = image();
        let extent = Extent { effort: Effort::Quick, seeds: None, seed: 0 };
        let cells = image.cells(&extent);
        assert_eq!(cells.len(), 20);
        let wanted = |choice: &str, model: &str| {
            cells
                .iter()
                .find(|cell| {
                    cell.number("rate") == 0.01
                        && cell.text("choice") == choice
                        && cell.text("model") == model
                })
                .unwrap()
        };
        let mut rows = image.measure(wanted("automatic", "quadratic")).unwrap();
        assert!(rows[0].number("error") < 0.02, "{:?}", rows[0]);
        rows.extend(image.measure(wanted("sampled", "cp")).unwrap());
        assert!(rows[1].number("error") < 1.0, "{:?}", rows[1]);
        let folder = tempfile::tempdir().unwrap();
        let left = image.write_extras(&rows, folder.path()).unwrap();
        let Block::Pictures { pictures, .. } = &left[0] else { panic!("{left:?}") };
        assert_eq!(pictures.len(), 4);
        assert!(pictures.iter().all(|picture| picture.png.starts_with(b"\x89PNG")));
        let cube = Cube::read(&folder.path().join("quadratic-0.01.npy")).unwrap();
        let difference =
            |cell: usize| (cube.values[cell] * cube.unit - 2.0 * image.cube.values[cell]).abs();
        assert!((0..cube.values.len()).map(difference).fold(0.0, f32::max) < 0.5);
        assert!(!image.findings(&rows).is_empty());
    }

    #[test]
    fn images_that_are_too_small_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.npy");
        write_npy(&path, &[10, 20, 5], (0..1000).map(|i| i as f32)).unwrap();
        let refusal =
            |downsample| Hyperspectral::open(&path, downsample).err().unwrap().to_string();
        assert!(refusal(1).contains("at least 50000 cells"), "{}", refusal(1));
        assert!(refusal(11).contains("choose a smaller `downsample`"), "{}", refusal(11));
    }
}
