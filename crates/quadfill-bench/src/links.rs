//! Link prediction on knowledge graphs, beside published figures of `TransE`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use quadfill::apply::{KnownCells, Predictor, Ranker, Ranking};
use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::observations::TextLabels;
use quadfill::solve::{FitConfig, Silent, Solver, fit};
use quadfill::{Labels, Mode, Observations, OnDuplicate};

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
        ensure!(tar.success(), "{} cannot be unpacked", archive.display());
        let (mut entities, mut relations) = (TextLabels::default(), TextLabels::default());
        let mut read = |part: &str| -> anyhow::Result<Vec<Vec<u32>>> {
            let path = target.join(format!("{part}.txt"));
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let mut columns = vec![Vec::new(); 3];
            for line in text.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                ensure!(fields.len() == 3, "{}: a line is no triple", path.display());
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

    fn rank(&self, predictor: Predictor<'_, f32>) -> Ranking {
        let rankings: Vec<Ranking> = [0, 2]
            .into_iter()
            .map(|mode| {
                let mut known = KnownCells::new(mode);
                for part in [&self.train, &self.valid] {
                    known.add(&slices(part));
                }
                Ranker::new(predictor, mode).ranking(&slices(&self.test), &known)
            })
            .collect();
        Ranking::together(&rankings)
    }
}

fn slices(columns: &[Vec<u32>]) -> Vec<&[u32]> {
    columns.iter().map(Vec::as_slice).collect()
}

/// A way to train, with what suits the graph.
struct Trial {
    name: &'static str,
    spec: ModelSpec,
    /// The weight of unobserved cells, or how many to draw.
    implicit: Option<f64>,
    negatives: usize,
    penalty: f64,
    sweeps: usize,
}

pub(crate) fn run(folder: &Path, out: &Path) -> anyhow::Result<()> {
    for (name, published, density) in [
        ("nations", "no published figure of TransE is known to us", 0.1),
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
        // About the same ridge on a row, whatever the number of triples.
        let penalty = 0.2 / graph.train[0].len() as f64;
        let rank = if large { 64 } else { 32 };
        let pairwise = ModelSpec::quadratic(Kernel::pairwise(3), rank);
        let transe = ModelSpec::quadratic(Kernel::transe(3), rank).with_tied(&[0, 2]);
        for trial in [
            Trial {
                name: "pairwise",
                spec: pairwise,
                implicit: Some(density),
                negatives: 0,
                penalty,
                sweeps: 20,
            },
            Trial {
                name: "cp",
                spec: ModelSpec::cp(3, rank),
                implicit: Some(density),
                negatives: 0,
                penalty,
                sweeps: 30,
            },
            Trial {
                name: "transe",
                spec: transe,
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
        let distances = trial.implicit.is_none();
        let values = vec![if distances { 0.0 } else { 1.0f32 }; self.train[0].len()];
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
        let mut config = FitConfig::new(trial.spec.clone());
        (config.implicit, config.penalty) = (trial.implicit, Some(trial.penalty));
        (config.solver, config.sweeps) = (Solver::Als, Some(trial.sweeps));
        config.offsets = Some(Offsets::None);
        let fit = fit(data, &config, &mut Silent)?;
        let seconds = start.elapsed().as_secs_f64();
        let ranking = self.rank(Predictor::new(&fit.spec, &fit.parameters));
        println!(
            "{:<9} rank {:<3} MRR {:.3}  hits@1 {:.3}  hits@10 {:.3}  mean rank {:.1}  {seconds:.1} s to train",
            trial.name,
            trial.spec.rank,
            ranking.mrr,
            ranking.hits_at_1,
            ranking.hits_at_10,
            ranking.mean_rank
        );
        Ok(())
    }
}
