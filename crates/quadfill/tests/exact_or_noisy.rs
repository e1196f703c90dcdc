//! Exact data are fitted exactly, and noisy ones soon leave the attempt.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::ops::ControlFlow;

use quadfill::solve::{Event, Fit, Observer, Rank, Solver, Stage, Status, fit};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_testkit::{Planted, pairwise_kernel};

fn observations(planted: &Planted, values: Vec<f64>) -> Observations {
    let modes = planted.sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    Observations::new(modes, planted.train.clone(), values, None, OnDuplicate::Error).unwrap()
}

/// Counts the steps of the stages of an exact fit, and the attempts.
#[derive(Default)]
struct Counter {
    stage: Option<Stage>,
    attempts: usize,
    path: usize,
    polish: usize,
}

impl Observer for Counter {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Stage { stage, .. } => {
                self.attempts += usize::from(stage == Stage::Exact);
                self.stage = Some(stage);
            }
            Event::Step { .. } => match self.stage {
                Some(Stage::Exact | Stage::Trim) => self.path += 1,
                Some(Stage::Polish) => self.polish += 1,
                _ => {}
            },
            Event::Checkpoint(_) => {}
        }
        ControlFlow::Continue(())
    }
}

fn counted(data: Observations) -> (Fit<f64>, Counter) {
    let mut counter = Counter::default();
    let fit = fit::<f64>(data, &path(), &mut counter).unwrap();
    (fit, counter)
}

/// The path, which chooses a penalty where the data are not exact.
fn path() -> FitConfig {
    FitConfig { solver: Solver::Path, ..FitConfig::default() }
}

#[test]
fn noise_that_is_nearly_fitted_ends_the_attempt_after_one_step() {
    let mut planted = Planted::new(&[90, 100, 110], 3, Some(pairwise_kernel(3)), 6_000, 2);
    planted.add_noise(0.1, 2);
    let (fit, counter) = counted(observations(&planted, planted.values.clone()));
    assert_eq!(fit.status, Status::Validated);
    assert_eq!(counter.attempts, 1);
    assert!(counter.polish <= 1 && counter.path <= 400, "{} {}", counter.polish, counter.path);
}

#[test]
fn many_noisy_observations_need_a_short_path_only() {
    let mut planted = Planted::new(&[16, 16, 16], 3, Some(pairwise_kernel(3)), 1_500, 2);
    planted.add_noise(0.1, 2);
    let config = FitConfig { rank: Rank::Auto { max: Some(4) }, ..path() };
    let mut counter = Counter::default();
    let data = observations(&planted, planted.values.clone());
    assert_eq!(fit::<f64>(data, &config, &mut counter).unwrap().status, Status::Validated);
    assert!(counter.path <= 133 && counter.attempts == 1, "{} steps", counter.path);
}

#[test]
fn whole_numbers_are_tried_at_small_ranks() {
    let mut planted = Planted::new(&[40, 50, 60], 3, Some(pairwise_kernel(3)), 4_000, 2);
    planted.add_noise(0.1, 2);
    let rounded = planted.values.iter().map(|value| value.round().clamp(-3.0, 3.0)).collect();
    let (fit, counter) = counted(observations(&planted, rounded));
    assert_eq!(fit.status, Status::Validated);
    assert_eq!((counter.attempts, counter.polish), (1, 0));
}

#[test]
fn exact_data_stay_exact() {
    for (sizes, rank, count) in
        [([40, 40, 40], 4, 700), ([60, 50, 40], 3, 900), ([15, 15, 15], 2, 1_000)]
    {
        let planted = Planted::new(&sizes, rank, Some(pairwise_kernel(3)), count, 3);
        let (fit, _) = counted(observations(&planted, planted.values.clone()));
        assert_eq!((fit.status, fit.spec.rank), (Status::Exact, rank), "{sizes:?}");
    }
}

/// A column more than the data have leaves flat directions: the first step of the polish hardly changes the residual,
/// which is small, and later ones remove it.
#[test]
fn a_small_residual_has_all_steps() {
    let planted = Planted::new(&[30, 30, 30], 2, Some(pairwise_kernel(3)), 358, 3);
    let config = FitConfig { rank: Rank::Fixed(3), ..path() };
    let mut counter = Counter::default();
    let data = observations(&planted, planted.values.clone());
    let fit = fit::<f64>(data, &config, &mut counter).unwrap();
    assert_eq!(fit.status, Status::Exact);
    assert!(counter.polish > 1, "{} steps", counter.polish);
}
