//! Fits that their observer ends: they hand back what they have, and can be resumed.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod unfinished;

use std::ops::ControlFlow;

use quadfill::model::{Biases, ModelSpec};
use quadfill::solve::{
    Choice, Event, Fit, NoObserver, Observer, Rank, Sampling, Solver, Stage, Status, fit, resume,
};
use quadfill::{FitConfig, Observations, Real};
use unfinished::{assert_same, config, exact, noisy};

/// Which event ends the fit, once: nothing is said afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Step(usize),
    Stage(usize),
    Checkpoint(usize),
}

/// Counts events, ends a fit at one of them, and keeps the last checkpoint.
struct Ender {
    at: Option<At>,
    steps: usize,
    checkpoints: usize,
    /// Every stage, and how many steps came before it.
    stages: Vec<(Stage, usize)>,
    last: Vec<Vec<u8>>,
    ended: bool,
    steps_after: usize,
}

impl Ender {
    fn new(at: Option<At>) -> Self {
        Self {
            at,
            steps: 0,
            checkpoints: 0,
            stages: Vec::new(),
            last: Vec::new(),
            ended: false,
            steps_after: 0,
        }
    }
}

impl Observer for Ender {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let now = match event {
            Event::Stage { stage, .. } => {
                self.stages.push((stage, self.steps));
                At::Stage(self.stages.len())
            }
            Event::Step { point, .. } => {
                assert!(point.train_rmse.is_finite());
                self.steps += 1;
                self.steps_after += usize::from(self.ended);
                At::Step(self.steps)
            }
            Event::Checkpoint(checkpoint) => {
                self.checkpoints += 1;
                assert_eq!(checkpoint.is_last, self.ended, "the last one is asked for");
                if checkpoint.is_last {
                    self.last.push(checkpoint.to_bytes().unwrap());
                }
                At::Checkpoint(self.checkpoints)
            }
        };
        if self.at == Some(now) {
            self.ended = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn assert_finite<T: Real>(fit: &Fit<T>, context: &str) {
    let labels: Vec<u32> = (0..6).collect();
    for &a in &labels {
        for &b in &labels {
            let cell = [a, b, (a + b) % 6];
            assert!(fit.predictor().cell(&cell).is_finite(), "{context}");
        }
    }
    assert!(fit.train_rmse.is_finite() && fit.penalty.is_finite(), "{context}");
}

/// Ends a fit at one event and goes on with it.
fn ends_at<T: Real>(data: &Observations, config: &FitConfig, whole: &Fit<T>, at: At) {
    let context = format!("{at:?} of {config:?}");
    let mut ender = Ender::new(Some(at));
    let part = fit::<T>(data.clone(), config, &mut ender).unwrap();
    assert!(ender.ended, "{context}");
    assert_eq!(ender.steps_after, 0, "{context}");
    assert_finite(&part, &context);
    if part.status != Status::Interrupted {
        // There was nothing left to be ended: the last stage had no steps, or no more.
        assert!(!matches!(at, At::Step(_)), "{context}");
        assert_same(&part, whole, &context);
        assert!(ender.last.is_empty(), "{context}");
        return;
    }
    assert!(part.certificate.is_none(), "{context}");
    assert!(part.sweeps < whole.sweeps || whole.sweeps == 0, "{context}");
    if config.solver.keeps_checkpoints() {
        let [last] = &ender.last[..] else { panic!("{context}: {} last ones", ender.last.len()) };
        let resumed = resume::<T>(data.clone(), config, last, &mut NoObserver).unwrap();
        assert_same(&resumed, whole, &context);
    } else {
        assert!(ender.last.is_empty() && ender.checkpoints == 0, "{context}");
    }
}

/// Ends a fit at steps in all its stages, at its stages themselves and at some checkpoints; returns
/// the stages.
fn ends<T: Real>(data: &Observations, config: &FitConfig, status: Status) -> Vec<Stage> {
    let mut counter = Ender::new(None);
    let whole = fit::<T>(data.clone(), config, &mut counter).unwrap();
    assert_eq!(whole.status, status, "{config:?}");
    // The first two steps of every stage, the one before it, and some in between.
    let mut steps: Vec<usize> = (0..4).map(|i| counter.steps * i / 4).collect();
    for &(_, before) in &counter.stages {
        steps.extend([before, before + 1, before + 2]);
    }
    steps.retain(|step| (1..counter.steps).contains(step));
    steps.sort_unstable();
    steps.dedup();
    for step in steps {
        ends_at(data, config, &whole, At::Step(step));
    }
    for stage in 1..=counter.stages.len() {
        ends_at(data, config, &whole, At::Stage(stage));
    }
    let half = counter.checkpoints / 2;
    for checkpoint in [1, half, counter.checkpoints] {
        if (1..=counter.checkpoints).contains(&checkpoint) {
            ends_at(data, config, &whole, At::Checkpoint(checkpoint));
        }
    }
    let mut stages: Vec<Stage> = counter.stages.into_iter().map(|(stage, _)| stage).collect();
    stages.dedup();
    stages
}

/// Whether fits that end at their last step are whole is for one test to tell.
#[test]
fn an_end_at_the_last_step_leaves_the_whole_fit() {
    let als = FitConfig { solver: Solver::Als, sweeps: Some(9), tolerance: 0.0, ..config() };
    let whole = fit::<f64>(noisy(1.0), &als, &mut NoObserver).unwrap();
    assert_eq!((whole.status, whole.sweeps), (Status::SweepLimit, 9));
    let mut ender = Ender::new(Some(At::Step(9)));
    let part = fit::<f64>(noisy(1.0), &als, &mut ender).unwrap();
    assert_same(&part, &whole, "ninth step");
}

/// Settings with short paths.
fn short() -> FitConfig {
    FitConfig { path_steps: Choice::Fixed(12), ..config() }
}

#[test]
fn held_out_data_early_stopping_and_refit() {
    let stages = ends::<f64>(&noisy(1.0), &short(), Status::Validated);
    for stage in [Stage::Exact, Stage::HoldOut(2), Stage::EarlyStopping, Stage::Refit, Stage::Solve]
    {
        assert!(stages.contains(&stage), "{stages:?}");
    }
    let larger = FitConfig { rank: Rank::Fixed(3), ..short() };
    ends::<f64>(&noisy(1.0), &larger, Status::Validated);
    ends::<f32>(&noisy(1.0), &short(), Status::Validated);
}

#[test]
fn exact_data() {
    let config = FitConfig { path_steps: Choice::Fixed(20), ..config() };
    let stages = ends::<f64>(&exact(), &config, Status::Exact);
    assert_eq!(stages, [Stage::Exact, Stage::Trim, Stage::Polish]);
}

#[test]
fn ranks() {
    let rank = Rank::Auto { max: Some(4) };
    ends::<f64>(&noisy(1.0), &FitConfig { rank, ..short() }, Status::Validated);
    let config = FitConfig { rank, path_steps: Choice::Fixed(20), ..config() };
    ends::<f64>(&exact(), &config, Status::Exact);
}

#[test]
fn cp() {
    let cp =
        FitConfig { path_steps: Choice::Fixed(8), ..FitConfig::for_spec(&ModelSpec::cp(3, 2)) };
    ends::<f64>(&noisy(1.0), &cp, Status::Validated);
}

#[test]
fn a_fixed_penalty() {
    let biases = Choice::Fixed(Biases::Modes);
    let path = FitConfig { penalty: Choice::Fixed(1e-2), biases, ..short() };
    assert_eq!(ends::<f64>(&noisy(1.0), &path, Status::Converged), [Stage::Refit, Stage::Solve]);
    let als = FitConfig { solver: Solver::Als, sweeps: Some(20), ..path };
    assert_eq!(ends::<f64>(&noisy(1.0), &als, Status::SweepLimit), [Stage::Solve]);
}

#[test]
fn the_staircase() {
    let rank = Rank::Auto { max: Some(6) };
    let staircase = FitConfig { rank, penalty: Choice::Fixed(0.01), ..config() };
    let stages = ends::<f64>(&noisy(1.0), &staircase, Status::Certified);
    assert!(stages.contains(&Stage::Staircase) && stages.contains(&Stage::Polish), "{stages:?}");
}

#[test]
fn the_sampler() {
    let sampling =
        Sampling { burn_in: 3, samples: 8, thin: Some(2), chains: 2, ..Sampling::default() };
    let gibbs = FitConfig { solver: Solver::Gibbs(sampling), ..config() };
    assert_eq!(ends::<f64>(&noisy(1.0), &gibbs, Status::Sampled), [Stage::Sample]);
    assert_eq!(ends::<f32>(&noisy(1.0), &gibbs, Status::Sampled), [Stage::Sample]);
}

#[test]
fn a_kernel_that_is_learned() {
    // The search is long and starts over, so a few ends tell about all.
    for (data, rank, status) in [(noisy(1.0), 1, Status::Validated), (exact(), 2, Status::Exact)] {
        let learned = FitConfig { path_steps: Choice::Fixed(30), ..FitConfig::learned(rank) };
        let mut counter = Ender::new(None);
        let whole = fit::<f64>(data.clone(), &learned, &mut counter).unwrap();
        assert_eq!(whole.status, status);
        let mut ends = vec![At::Stage(1), At::Step(1), At::Step(counter.steps / 2)];
        let mut seen = Vec::new();
        for &(stage, before) in &counter.stages {
            if !matches!(stage, Stage::Kernel(_)) && !seen.contains(&stage) {
                seen.push(stage);
                // At the last step before the stage, and at its first.
                ends.extend([At::Step(before), At::Step(before + 1)]);
            }
        }
        assert!(!seen.is_empty());
        for at in ends {
            ends_at(&data, &learned, &whole, at);
        }
    }
}

#[test]
fn solvers_that_keep_no_checkpoints() {
    for solver in [
        Solver::Gd(Choice::Auto),
        Solver::Gd(Choice::Fixed(1e-3)),
        Solver::Lbfgs,
        Solver::GaussNewton,
        Solver::Sdp(Choice::Auto),
    ] {
        assert!(!solver.keeps_checkpoints());
        let one = FitConfig {
            solver,
            penalty: Choice::Fixed(0.05),
            sweeps: Some(8),
            tolerance: 0.0,
            ..config()
        };
        assert_eq!(ends::<f64>(&noisy(1.0), &one, Status::SweepLimit), [Stage::Solve]);
    }
}
