//! Link prediction on knowledge graphs, compared with published figures of `TransE`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use quadfill::apply::{KnownCells, Ranking};
use quadfill::model::{Biases, ModelKind};
use quadfill::observations::TextLabels;
use quadfill::solve::{Choice, Precision, Rank, Solver};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};

/// Triples by index; head and tail share their labels.
struct Graph {
    modes: Vec<Mode>,
    train: Vec<Vec<u32>>,
    valid: Vec<Vec<u32>>,
    test: Vec<Vec<u32>>,
}

impl Graph {
    fn read(folder: &Path, name: &str, out: &Path) -> anyhow::Result<Self> {
        let target = out.join(name);
        std::fs::create_dir_all(&target)?;
        let archive = folder.join("knowledge-graphs").join(format!("{name}.tar.gz"));
        let tar = Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&target).status()?;
        ensure!(tar.success(), "cannot unpack {}", archive.display());
        let (mut entities, mut relations) = (TextLabels::default(), TextLabels::default());
        let mut read = |part: &str| -> anyhow::Result<Vec<Vec<u32>>> {
            let path = target.join(format!("{part}.txt"));
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let mut columns = vec![Vec::new(); 3];
            for line in text.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                ensure!(fields.len() == 3, "{}: a line is not a triple", path.display());
                columns[0].push(entities.intern(fields[0]));
                columns[1].push(relations.intern(fields[1]));
                columns[2].push(entities.intern(fields[2]));
            }
            Ok(columns)
        };
        let (train, valid, test) = (read("train")?, read("valid")?, read("test")?);
        let modes = vec![
            Mode::new("head", Labels::Text(entities.clone())),
            Mode::new("relation", Labels::Text(relations)),
            Mode::new("tail", Labels::Text(entities)),
        ];
        Ok(Self { modes, train, valid, test })
    }

    fn rank(&self, model: &Model) -> Ranking {
        let rankings: Vec<Ranking> = [0, 2]
            .into_iter()
            .map(|mode| {
                let mut known = KnownCells::new(mode);
                for part in [&self.train, &self.valid] {
                    known.add(&slices(part));
                }
                model.ranker(mode).ranking(&slices(&self.test), &known)
            })
            .collect();
        Ranking::together(&rankings)
    }
}

fn slices(columns: &[Vec<u32>]) -> Vec<&[u32]> {
    columns.iter().map(Vec::as_slice).collect()
}

/// A training method, with settings for the graph.
struct Trial {
    model: ModelKind,
    rank: usize,
    /// Modes that share their factors.
    ties: Vec<Vec<String>>,
    /// The weight of unobserved cells; `None` for sampled negatives.
    implicit: Option<f64>,
    negatives: usize,
    penalty: f64,
    sweeps: usize,
}

pub(crate) fn run(folder: &Path, out: &Path) -> anyhow::Result<()> {
    for (name, published, density) in [
        ("nations", "no published TransE figure known", 0.1),
        ("umls", "published TransE: hits@10 0.989, mean rank 1.84 (KG-BERT paper)", 0.02),
        ("WN18RR", "published TransE: MRR 0.226, hits@10 0.501 (RotatE paper)", 1e-5),
    ] {
        let graph = Graph::read(folder, name, out)?;
        println!(
            "\n{name}: {} entities, {} relations, {} triples; {published}",
            graph.modes[0].labels.len(),
            graph.modes[1].labels.len(),
            graph.train[0].len()
        );
        let large = graph.train[0].len() > 50_000;
        // About the same ridge per row for any number of triples.
        let penalty = 0.2 / graph.train[0].len() as f64;
        let rank = if large { 64 } else { 32 };
        let ends = ["head", "tail"].map(str::to_owned).to_vec();
        for trial in [
            Trial {
                model: ModelKind::Pairwise,
                rank,
                ties: Vec::new(),
                implicit: Some(density),
                negatives: 0,
                penalty,
                sweeps: 20,
            },
            Trial {
                model: ModelKind::Cp,
                rank,
                ties: Vec::new(),
                implicit: Some(density),
                negatives: 0,
                penalty,
                sweeps: 30,
            },
            Trial {
                model: ModelKind::Transe,
                rank,
                ties: vec![ends],
                implicit: None,
                negatives: 4,
                penalty: 1e-6,
                sweeps: if large { 40 } else { 100 },
            },
        ] {
            graph.report(&trial)?;
        }
    }
    Ok(())
}

impl Graph {
    fn report(&self, trial: &Trial) -> anyhow::Result<()> {
        let start = Instant::now();
        let is_distance = trial.implicit.is_none();
        let values = vec![if is_distance { 0.0 } else { 1.0 }; self.train[0].len()];
        let data = Observations::new(
            self.modes.clone(),
            self.train.clone(),
            values,
            None,
            OnDuplicate::Last,
        )?;
        let data = match trial.negatives {
            0 => data,
            count => data.with_negatives(count, 1.0, &[0, 2], 1)?,
        };
        let config = FitConfig {
            model: trial.model.clone(),
            rank: Rank::Fixed(trial.rank),
            ties: trial.ties.clone(),
            biases: Choice::Fixed(Biases::None),
            implicit: trial.implicit,
            penalty: Choice::Fixed(trial.penalty),
            solver: Solver::Als,
            sweeps: Some(trial.sweeps),
            precision: Choice::Fixed(Precision::F32),
            ..FitConfig::default()
        };
        let model = quadfill::fit(data, &config)?;
        let seconds = start.elapsed().as_secs_f64();
        let ranking = self.rank(&model);
        println!(
            "{:<9} rank {:<3} MRR {:.3}  hits@1 {:.3}  hits@10 {:.3}  mean rank {:.1}  {seconds:.1} s to train",
            trial.model.to_string(),
            trial.rank,
            ranking.mrr,
            ranking.hits_at_1,
            ranking.hits_at_10,
            ranking.mean_rank
        );
        Ok(())
    }
}
