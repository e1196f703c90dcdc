//! Ratings over time: matrix, CP and quadratic models, as in the paper and with further fields and methods.

mod findings;
mod ratings;

use std::path::Path;
use std::time::Instant;

use quadfill::model::{Biases, ModelKind};
use quadfill::solve::{Choice, Precision, Rank, Solver};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_kernels::streams;
use quadfill_report::Block;
use rand::RngExt;

use super::row::Row;
use super::tune::{sampler, tuned};
use super::{Experiment, Extent};
use crate::error::Result;
use ratings::{Field, Ratings};

/// The experiment on one folder.
pub(super) struct Movielens {
    name: String,
    ratings: Ratings,
}

const SPLIT_STREAM: u64 = 0x6d6f_7669;
const DAY: i64 = 86_400;
/// From this many ratings on, only one chain is run.
const MANY: usize = 1_000_000;

/// The ways of fitting a model.
///
/// - `paper`: the mean is subtracted and the penalty is tuned, including whether it is uniform or scales
///   with the observations of each row.
/// - `biases`: the same with a bias for every label.
/// - `sampled`: the posterior mean, with biases and penalties sampled as well.
const SETTINGS: [&str; 3] = ["paper", "biases", "sampled"];

/// The fields of a rating besides user and movie.
const FIELDS: [&str; 5] = ["none", "20 weeks", "week", "day", "all"];

impl Movielens {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let folder_name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name =
            folder_name.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Self { name, ratings: Ratings::read(folder)? })
    }

    /// The number of fields, including user and movie.
    fn mode_count(&self, fields: &str) -> usize {
        let of_ratings = [self.ratings.age.is_some(), self.ratings.genre.is_some()];
        match fields {
            "none" => 2,
            "all" => 4 + of_ratings.into_iter().filter(|&known| known).count(),
            _ => 3,
        }
    }

    fn fields(&self, fields: &str) -> Vec<(&'static str, Field)> {
        let ratings = &self.ratings;
        let mut all = vec![("user", ratings.user.clone()), ("movie", ratings.movie.clone())];
        let mut time = |name, days| all.push((name, Field::intervals(&ratings.times, days * DAY)));
        match fields {
            "20 weeks" => time("20 weeks", 140),
            "week" => time("week", 7),
            "day" => time("day", 1),
            "all" => {
                time("day", 1);
                all.push(("weekday", Field::weekdays(&ratings.times)));
                all.extend(ratings.age.clone().map(|age| ("age", age)));
                all.extend(ratings.genre.clone().map(|genre| ("genre", genre)));
            }
            _ => {}
        }
        all
    }

    /// Training and test ratings.
    fn split(&self, cell: &Row) -> Result<(Observations, Observations)> {
        let mut rng = streams::stream(cell.count("seed") as u64, SPLIT_STREAM, 0);
        let share = cell.number("p");
        let learned: Vec<bool> =
            self.ratings.values.iter().map(|_| rng.random::<f64>() < share).collect();
        let fields = self.fields(cell.text("fields"));
        let part = |wanted: bool| {
            let rows = || (0..learned.len()).filter(|&row| learned[row] == wanted);
            let modes =
                fields.iter().map(|(name, field)| Mode::new(*name, Labels::range(field.size)));
            let indices =
                fields.iter().map(|(_, field)| rows().map(|row| field.labels[row]).collect());
            let values = rows().map(|row| self.ratings.values[row]).collect();
            Observations::new(modes.collect(), indices.collect(), values, None, OnDuplicate::Error)
        };
        Ok((part(true)?, part(false)?))
    }

    fn fit(cell: &Row, data: Observations) -> Result<Model> {
        let config = FitConfig {
            model: if cell.text("model") == "cp" { ModelKind::Cp } else { ModelKind::Pairwise },
            rank: Rank::Fixed(cell.count("rank")),
            biases: Choice::Fixed(Biases::Mean),
            seed: cell.count("seed") as u64,
            precision: Choice::Fixed(Precision::F32),
            certify: false,
            solver: Solver::Path,
            // As in the paper: rows are drawn to zero.
            centre: Choice::Fixed(false),
            ..FitConfig::default()
        };
        Ok(match cell.text("setting") {
            "paper" => tuned(&data, &config)?.model,
            "biases" => {
                let biases = Choice::Fixed(Biases::Modes);
                tuned(&data, &FitConfig { biases, ..config })?.model
            }
            _ => {
                let solver = sampler(data.len() < MANY);
                quadfill::fit(data, &FitConfig { solver, biases: Choice::Auto, ..config })?
            }
        })
    }
}

impl Experiment for Movielens {
    fn name(&self) -> &'static str {
        "movielens"
    }

    fn title(&self) -> &'static str {
        "Ratings over time"
    }

    fn question(&self) -> &'static str {
        "Users rate movies over time. From a share p of the ratings, how well are the others predicted by a \
         matrix model of user and movie, by CP, and by the quadratic model of user, movie and time?"
    }

    fn paper(&self) -> &'static str {
        "On MovieLens-10M with time in steps of 20 weeks, mean squared errors for rank 10 and 20: with p = 0.2 \
         matrix 0.872 and 0.947, CP 1.068 and 1.141, quadratic 0.798 and 0.772; with p = 0.8 matrix 0.665 and 0.667, CP \
         0.719 and 0.705, quadratic 0.642 and 0.638."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let mut cells = Vec::new();
        let shares: &[f64] = extent.effort.pick(&[0.2, 0.8], &[0.2, 0.8, 0.9], &[0.2, 0.8, 0.9]);
        let ranks: &[usize] = extent.effort.pick(&[10], &[10, 20], &[5, 10, 20, 40]);
        // The posterior mean averages over many models, so its rank matters little, and it takes longest.
        let sampled_ranks: &[usize] = extent.effort.pick(&[10], &[10], ranks);
        for &p in shares {
            for setting in SETTINGS {
                for fields in FIELDS {
                    let models: &[&str] = match (fields, setting) {
                        ("none", _) => &["matrix"],
                        // CP of six modes multiplies six factors, most of them uninformative.
                        ("all", "paper") => continue,
                        ("all", _) => &["quadratic"],
                        _ => &["cp", "quadratic"],
                    };
                    let ranks = if setting == "sampled" { sampled_ranks } else { ranks };
                    for &model in models {
                        for &rank in ranks {
                            for &seed in &extent.seeds(1, 3, 5) {
                                let cell = Row::new().with("data", self.name.as_str());
                                let cell = cell.with("setting", setting).with("model", model);
                                let cell = cell.with("fields", fields).with("p", p);
                                cells.push(cell.with("rank", rank).with("seed", seed));
                            }
                        }
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let clock = Instant::now();
        let (learned, others) = self.split(cell)?;
        let observations = learned.len();
        let model = Self::fit(cell, learned)?;
        let (judged, fit) = (model.evaluate(&others)?, model.summary());
        let row = cell.clone().with("mse", judged.mse).with("rmse", judged.rmse);
        let row = row.with("mae", judged.mae).with("penalty", fit.penalty);
        let row = row.with("validation_rmse", fit.validation_rmse);
        let row = row.with("observations", observations).with("test_count", judged.count);
        Ok(vec![row.with("seconds", clock.elapsed().as_secs_f64())])
    }

    fn work(&self, cell: &Row) -> f64 {
        let cells = cell.number("p") * self.ratings.values.len() as f64;
        cells * self.mode_count(cell.text("fields")) as f64 * cell.number("rank")
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        findings::blocks(rows)
    }

    fn remarks(&self, _rows: &[Row]) -> Vec<Block> {
        let ratings = &self.ratings;
        vec![Block::Text(format!(
            "The data are {}: {} ratings of {} movies by {} users over {} weeks. Each rating is in the \
             training set with probability p, and all others are predicted, including those of users and \
             movies without training ratings. Penalties, and whether they scale with the ratings of a label, \
             are chosen on a tenth of the training ratings.",
            self.name,
            ratings.values.len(),
            ratings.movie.size,
            ratings.user.size,
            Field::intervals(&ratings.times, 7 * DAY).size
        ))]
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::experiment::Effort;
    use std::fmt::Write;

    #[test]
    fn every_setting_beats_the_mean_of_the_ratings() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for user in 0..60i64 {
            for movie in (0..40i64).filter(|movie| (user * 7 + movie * 11) % 3 != 0) {
                // Good movies, kind users, and a taste that they share or not.
                let taste = if (user % 2 == 0) == (movie % 2 == 0) { 1 } else { -1 };
                let rating = (3 + movie % 3 - 1 + taste).clamp(1, 5);
                let time = 880_000_000 + (user * 40 + movie) * 9_000;
                writeln!(text, "{user}\t{movie}\t{rating}\t{time}").unwrap();
            }
        }
        std::fs::write(folder.path().join("u.data"), text).unwrap();
        let movielens = Movielens::open(folder.path()).unwrap();
        let extent = Extent { effort: Effort::Quick, seeds: None, seed: 0 };
        let values = &movielens.ratings.values;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        let cells = movielens.cells(&extent);
        for fields in FIELDS {
            assert_eq!(movielens.mode_count(fields), movielens.fields(fields).len());
        }
        let shown = |cell: &&Row| {
            cell.number("p") == 0.8
                && matches!(cell.text("fields"), "none" | "20 weeks" | "all")
                && cell.text("model") != "cp"
        };
        let mut rows = Vec::new();
        for cell in cells.iter().filter(shown) {
            let row = movielens.measure(cell).unwrap().remove(0);
            assert!(row.number("mse") < 0.7 * variance, "{variance}: {row:?}");
            rows.push(row);
        }
        assert_eq!(rows.len(), 8);
        assert!(!movielens.findings(&rows).is_empty() && !movielens.remarks(&rows).is_empty());
    }
}
