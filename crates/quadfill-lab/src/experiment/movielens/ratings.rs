//! Reads the `MovieLens` data sets of all sizes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use quadfill::observations::Labels;
use quadfill_io::{BinSpec, ReadOptions, read};

use crate::error::{LabError, Result};

/// Ratings with all fields known for each.
#[derive(Debug)]
pub(super) struct Ratings {
    pub(super) values: Vec<f64>,
    pub(super) user: Field,
    pub(super) movie: Field,
    /// Seconds since 1970.
    pub(super) times: Vec<i64>,
    /// The decade of the user's age, if the data have it.
    pub(super) age: Option<Field>,
    /// The set of genres of the movie, if the data have it.
    pub(super) genre: Option<Field>,
}

/// A label for every rating.
#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    pub(super) labels: Vec<u32>,
    pub(super) size: usize,
}

impl Field {
    /// Numbers distinct values from 0 in order of appearance.
    pub(super) fn of<K: std::hash::Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut known = HashMap::new();
        let labels = keys
            .into_iter()
            .map(|key| {
                let next = known.len() as u32;
                *known.entry(key).or_insert(next)
            })
            .collect();
        Self { labels, size: known.len() }
    }

    /// Intervals of this many seconds from the first rating on.
    pub(super) fn intervals(times: &[i64], seconds: i64) -> Self {
        let first = times.iter().copied().min().unwrap_or(0);
        let labels: Vec<u32> = times.iter().map(|time| ((time - first) / seconds) as u32).collect();
        let size = labels.iter().copied().max().map_or(0, |last| last as usize + 1);
        Self { labels, size }
    }

    /// Days of the week.
    pub(super) fn weekdays(times: &[i64]) -> Self {
        let labels = times.iter().map(|time| (time.div_euclid(86_400).rem_euclid(7)) as u32);
        Self { labels: labels.collect(), size: 7 }
    }
}

/// The names of the file with the ratings: 100K; 1M and 10M; 20M, 25M, 32M and latest.
const RATINGS: [&str; 3] = ["u.data", "ratings.dat", "ratings.csv"];

impl Ratings {
    /// Reads an unpacked folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let file = RATINGS.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let file = file
            .ok_or_else(|| LabError::NoRatings { folder: folder.to_owned(), expected: &RATINGS })?;
        let options = ReadOptions {
            modes: Some(["1", "2", "4"].map(Into::into).to_vec()),
            value: Some("3".into()),
            // The experiments cut the times themselves.
            bins: vec![BinSpec::parse("4=none")?],
            ..ReadOptions::default()
        };
        let data = read(&file, &options)?;
        let numbers = |mode: usize| -> Vec<i64> {
            let labels = &data.modes()[mode].labels;
            let known: Vec<i64> =
                (0..labels.len()).map(|label| labels.name(label).parse().unwrap_or(0)).collect();
            data.indices(mode).iter().map(|&label| known[label as usize]).collect()
        };
        let field = |mode: usize| Field {
            labels: data.indices(mode).to_vec(),
            size: data.modes()[mode].labels.len(),
        };
        let by = |mode: usize, known: &HashMap<String, String>| {
            let labels: &Labels = &data.modes()[mode].labels;
            let names: Vec<&str> = (0..labels.len())
                .map(|label| known.get(labels.name(label).as_ref()).map_or("", String::as_str))
                .collect();
            Field::of(data.indices(mode).iter().map(|&label| names[label as usize]))
        };
        Ok(Self {
            values: data.values().to_vec(),
            user: field(0),
            movie: field(1),
            times: numbers(2),
            age: ages(folder)?.map(|ages| by(0, &ages)),
            genre: genres(folder)?.map(|genres| by(1, &genres)),
        })
    }
}

/// The text of a file, if it exists; old ones are not UTF-8.
fn text(path: &Path) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(LabError::io(path))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The decade of every user's age.
fn ages(folder: &Path) -> Result<Option<HashMap<String, String>>> {
    let decade = |id: &str, age: &str| {
        let age: u32 = age.parse().ok()?;
        Some((id.to_owned(), (age / 10).to_string()))
    };
    if let Some(text) = text(&folder.join("u.user"))? {
        let lines = text.lines().filter_map(|line| {
            let mut fields = line.split('|');
            decade(fields.next()?, fields.next()?)
        });
        return Ok(Some(lines.collect()));
    }
    Ok(text(&folder.join("users.dat"))?.map(|text| {
        let lines = text.lines().filter_map(|line| {
            let mut fields = line.split("::");
            decade(fields.next()?, fields.nth(1)?)
        });
        lines.collect()
    }))
}

/// The genres of every movie, as a single text.
fn genres(folder: &Path) -> Result<Option<HashMap<String, String>>> {
    /// The number of genre flags at the end of a line of `u.item`.
    const MARKS: usize = 19;
    if let Some(text) = text(&folder.join("u.item"))? {
        let lines = text.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split('|').collect();
            let marks = fields.get(fields.len().checked_sub(MARKS)?..)?;
            Some((fields[0].to_owned(), marks.concat()))
        });
        return Ok(Some(lines.collect()));
    }
    for (name, separator) in [("movies.dat", "::"), ("movies.csv", ",")] {
        if let Some(text) = text(&folder.join(name))? {
            let lines = text.lines().filter_map(|line| {
                let (id, rest) = line.split_once(separator)?;
                Some((id.to_owned(), rest.rsplit(separator).next()?.to_owned()))
            });
            return Ok(Some(lines.collect()));
        }
    }
    Ok(None)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn every_size_of_the_data_is_read() {
        let marks = |comedy: u8| format!("|x|0|0|0|0|0|{comedy}|0|0|0|0|0|0|0|0|0|0|0|0|0");
        let hundred_thousand = folder(&[
            ("u.data", "7\t20\t5\t881250949\n8\t20\t3\t891717742\n8\t30\t1\t878887116\n"),
            ("u.user", "7|24|M|technician|85711\n8|53|F|other|94043\n"),
            ("u.item", &format!("20|A (1995){}\n30|B (1996){}\n", marks(1), marks(0))),
        ]);
        let million = folder(&[
            ("ratings.dat", "7::20::5::881250949\n8::20::3::891717742\n8::30::1::878887116\n"),
            ("users.dat", "7::M::25::15::55117\n8::F::50::9::55117\n"),
            ("movies.dat", "20::A: B (1995)::Comedy|Drama\n30::C (1996)::Drama\n"),
        ]);
        let twenty_million = folder(&[
            (
                "ratings.csv",
                "userId,movieId,rating,timestamp\n7,20,5.0,881250949\n8,20,3.0,891717742\n8,30,1.0,878887116\n",
            ),
            ("movies.csv", "movieId,title,genres\n20,\"A, The (1995)\",Comedy|Drama\n30,C,Drama\n"),
        ]);
        for (folder, has_ages) in
            [(hundred_thousand, true), (million, true), (twenty_million, false)]
        {
            let ratings = Ratings::read(folder.path()).unwrap();
            assert_eq!(ratings.values, [5.0, 3.0, 1.0]);
            assert_eq!((ratings.user.size, ratings.movie.size), (2, 2));
            assert_eq!(ratings.times, [881_250_949, 891_717_742, 878_887_116]);
            assert_eq!(ratings.age.is_some(), has_ages);
            assert!(ratings.age.is_none_or(|age| age.labels == [0, 1, 1]));
            assert_eq!(ratings.genre.unwrap().labels, [0, 0, 1]);
        }
    }

    #[test]
    fn times_are_split_into_intervals_and_weekdays() {
        // The first of January 1970 was a Thursday; a week later it was one again.
        let week = 7 * 86_400;
        let times = [0, 86_399, 86_400, week, 2 * week];
        let days = Field::weekdays(&times).labels;
        assert_eq!(days, [0, 0, 1, 0, 0]);
        let weeks = Field::intervals(&times, week);
        assert_eq!((weeks.labels, weeks.size), (vec![0, 0, 0, 1, 2], 3));
    }

    #[test]
    fn a_folder_without_ratings_is_rejected() {
        let message = Ratings::read(folder(&[]).path()).unwrap_err().to_string();
        assert!(message.contains("u.data, ratings.dat, ratings.csv"), "{message}");
    }
}
