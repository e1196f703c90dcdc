//! The path of CP at default settings: it finds what the best of many penalties, ranks and starts finds.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "common/keeper.rs"]
mod keeper;

use keeper::Keeper;
use quadfill::model::ModelKind;
use quadfill::solve::{Choice, Fit, NoObserver, Rank, Solver, Status, fit, resume};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::streams;
use rand::RngExt;

const SIZES: [usize; 3] = [30, 30, 40];
const NOISE: f64 = 0.15;

/// A tensor of `rank` positive products, whose single starts of that rank end in local minima.
struct Planted {
    factors: Vec<Vec<Vec<f64>>>,
    scale: f64,
}

impl Planted {
    fn new(rank: usize, scale: f64, seed: u64) -> Self {
        let mut rng = streams::stream(seed, 40, 0);
        let mut row = || {
            let mut row = vec![0.0; rank];
            row.fill_with(|| {
                // A skewed positive number of mean 1.
                -0.5 * (rng.random::<f64>().ln() + rng.random::<f64>().ln())
            });
            row
        };
        let factors = SIZES.map(|n| (0..n).map(|_| row()).collect()).to_vec();
        Self { factors, scale }
    }

    fn value(&self, cell: [usize; 3]) -> f64 {
        let row = |mode: usize| &self.factors[mode][cell[mode]];
        let columns = row(0).iter().zip(row(1)).zip(row(2));
        self.scale * columns.map(|((x, y), z)| x * y * z).sum::<f64>()
    }

    fn data(&self, count: usize, seed: u64) -> Observations {
        let mut rng = streams::stream(seed, 41, 0);
        let mut order: Vec<usize> = (0..SIZES.iter().product()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let cells: Vec<[usize; 3]> = order[..count]
            .iter()
            .map(|at| [at / SIZES[2] / SIZES[1], at / SIZES[2] % SIZES[1], at % SIZES[2]])
            .collect();
        let mut noise = vec![0.0; count];
        streams::fill_normal(&mut noise, &mut rng);
        let values = cells
            .iter()
            .zip(&noise)
            .map(|(&cell, z)| self.value(cell) + self.scale * NOISE * z)
            .collect();
        let columns = (0..3).map(|mode| cells.iter().map(|cell| cell[mode] as u32).collect());
        let modes = ["a", "b", "c"].into_iter().zip(SIZES);
        let modes = modes.map(|(name, n)| Mode::new(name, Labels::range(n))).collect();
        Observations::new(modes, columns.collect(), values, None, OnDuplicate::Error).unwrap()
    }

    /// The root mean squared error over all cells, in units of the noise.
    fn error(&self, fit: &Fit<f64>) -> f64 {
        let predictor = fit.predictor();
        let cells = (0..SIZES.iter().product::<usize>())
            .map(|at| [at / SIZES[2] / SIZES[1], at / SIZES[2] % SIZES[1], at % SIZES[2]]);
        let squares =
            cells.map(|cell| (predictor.cell(&cell.map(|c| c as u32)) - self.value(cell)).powi(2));
        (squares.sum::<f64>() / SIZES.iter().product::<usize>() as f64).sqrt()
            / (self.scale * NOISE)
    }
}

fn config() -> FitConfig {
    FitConfig {
        model: ModelKind::Cp,
        centre: Choice::Fixed(false),
        solver: Solver::Path,
        ..FitConfig::default()
    }
}

#[test]
fn no_grid_of_penalties_and_starts_is_better() {
    for (rank, scale, seed) in [(3, 1.0, 1), (4, 1000.0, 2)] {
        let planted = Planted::new(rank, scale, seed);
        let data = || planted.data(2500, seed);
        let found = fit::<f64>(data(), &config(), &mut NoObserver).unwrap();
        assert_eq!(found.status, Status::Validated);
        let error = planted.error(&found);
        let mut best = f64::INFINITY;
        for exponent in 0..4 {
            for start in 0..3 {
                let penalty = scale.powf(4.0 / 3.0) * 10f64.powf(-2.5 - 0.5 * f64::from(exponent));
                let config = FitConfig {
                    rank: Rank::Fixed(rank + 2),
                    solver: Solver::Als,
                    penalty: Choice::Fixed(penalty),
                    seed: start,
                    ..config()
                };
                best = best.min(planted.error(&fit(data(), &config, &mut NoObserver).unwrap()));
            }
        }
        assert!(error < 1.05 * best, "{error} where the best of a grid has {best}");
        // The rest of the columns has vanished.
        assert_eq!(found.spec.rank, rank, "error {error}, best {best}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let data = Planted::new(2, 1.0, 3).data(400, 3);
        pool.install(|| fit::<f64>(data, &config(), &mut NoObserver).unwrap())
    };
    let one = run(1);
    for threads in [2, 4] {
        let other = run(threads);
        assert_eq!(other.spec, one.spec);
        assert_eq!(other.parameters, one.parameters, "{threads} threads");
    }
}

#[test]
fn a_search_resumes_anywhere() {
    let config = FitConfig { rank: Rank::Auto { max: Some(6) }, ..config() };
    let data = || Planted::new(2, 1.0, 4).data(300, 4);
    let mut keeper = Keeper::every(1);
    let whole = fit::<f64>(data(), &config, &mut keeper).unwrap();
    let step = (keeper.kept.len() / 12).max(1);
    for (_, bytes) in keeper.kept.iter().step_by(step).chain(keeper.kept.last()) {
        let resumed = resume::<f64>(data(), &config, bytes, &mut NoObserver).unwrap();
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!((resumed.spec, resumed.sweeps), (whole.spec.clone(), whole.sweeps));
    }
}
