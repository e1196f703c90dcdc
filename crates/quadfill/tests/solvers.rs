//! What every solver must do: go down, and do it in the same bits on any number of threads.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use std::ops::ControlFlow;

use common::problems;
use proptest::prelude::*;
use quadfill::model::{Biases, Kernel, ModelSpec};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{
    Als, Choice, Event, Fit, GaussNewton, GradientDescent, Lbfgs, NoObserver, Observer, Solver,
    Stage, Status, Step, als, fit, resume,
};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_testkit::{Planted, pairwise_kernel};

fn observations(planted: &Planted) -> Observations {
    let modes = planted.sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    let (indices, values) = (planted.train.clone(), planted.values.clone());
    Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn als_never_goes_up_and_reports_the_data_term(problem in problems()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let mut point = problem.point(1);
        let mut before = objective.value(&point).total();
        for _ in 0..6 {
            let data = als::sweep(&objective, &mut point);
            let value = objective.value(&point);
            prop_assert!(value.total() <= before * (1.0 + 1e-12), "{before} -> {}", value.total());
            prop_assert!(
                (data - value.data).abs() <= 1e-8 * (before + value.data),
                "said {data}, is {}", value.data
            );
            before = value.total();
        }
    }

    #[test]
    fn descent_methods_never_go_up(problem in problems()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let solvers: [Box<dyn Step<f64>>; 3] = [
            Box::new(GradientDescent::new(None)),
            Box::new(Lbfgs::new()),
            Box::new(GaussNewton::new()),
        ];
        for mut solver in solvers {
            let mut point = problem.point(1);
            let mut before = objective.value(&point).total();
            for _ in 0..5 {
                let report = solver.step(&objective, &mut point);
                let now = objective.value(&point).total();
                prop_assert!(now <= before, "{before} -> {now}");
                prop_assert!((report.objective - now).abs() <= 1e-12 * now.abs());
                before = now;
            }
        }
    }
}

#[test]
fn all_solvers_reach_the_same_minimum() {
    let planted = Planted::new(&[12, 10, 8], 2, Some(pairwise_kernel(3)), 400, 5);
    let views = Views::new(observations(&planted));
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes);
    let objective = Objective::new(&views, &spec, 1e-3, PenaltyScale::Uniform);
    let solvers: [(Box<dyn Step<f64>>, usize); 4] = [
        (Box::new(Als), 2000),
        (Box::new(GradientDescent::new(None)), 20_000),
        (Box::new(Lbfgs::new()), 2000),
        (Box::new(GaussNewton::new()), 100),
    ];
    let mut values = Vec::new();
    for (mut solver, steps) in solvers {
        let mut point = quadfill::solve::start::random(&spec, views.all(), 3);
        for _ in 0..steps {
            if solver.step(&objective, &mut point).stuck {
                break;
            }
        }
        values.push(objective.value(&point).total());
    }
    for value in &values {
        assert!((value / values[0] - 1.0).abs() < 1e-6, "{values:?}");
    }
}

fn config(solver: Solver, penalty: Choice<f64>) -> FitConfig {
    let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(3), 3));
    config.solver = solver;
    config.penalty = penalty;
    config.seed = 11;
    config.path_steps = Choice::Fixed(60);
    config
}

#[test]
fn every_solver_gives_the_same_bits_on_any_number_of_threads() {
    let mut planted = Planted::new(&[300, 20, 2], 3, Some(pairwise_kernel(3)), 6_000, 2);
    planted.add_noise(0.1, 2);
    let data = observations(&planted);
    let solvers = [
        (Solver::Path, Choice::Auto),
        (Solver::Path, Choice::Fixed(1e-3)),
        (Solver::Als, Choice::Fixed(1e-3)),
        (Solver::Gd(Choice::Auto), Choice::Fixed(1e-3)),
        (Solver::Gd(Choice::Fixed(1e-3)), Choice::Fixed(1e-3)),
        (Solver::Lbfgs, Choice::Fixed(1e-3)),
        (Solver::GaussNewton, Choice::Fixed(1e-3)),
    ];
    for (solver, penalty) in solvers {
        let mut config = config(solver, penalty);
        if solver != Solver::Path {
            config.sweeps = Some(20);
        }
        let run = |threads: usize| -> Fit<f64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(data.clone(), &config, &mut NoObserver).unwrap())
        };
        let one = run(1);
        for threads in [2, 4] {
            assert_eq!(run(threads).parameters, one.parameters, "{solver:?} on {threads} threads");
        }
    }
}

/// Keeps every checkpoint, and what was being done.
#[derive(Default)]
struct Keeper {
    stage: Option<Stage>,
    kept: Vec<(Stage, Vec<u8>)>,
}

impl Observer for Keeper {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Stage { stage, .. } => self.stage = Some(stage),
            Event::Checkpoint(checkpoint) => {
                self.kept.push((self.stage.unwrap(), checkpoint.to_bytes().unwrap()));
            }
            Event::Step { .. } => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_fit_resumed_from_any_checkpoint_ends_in_the_same_bits() {
    for (noise, solver, penalty) in [
        (0.0, Solver::Path, Choice::Auto),
        (0.2, Solver::Path, Choice::Auto),
        (0.2, Solver::Path, Choice::Fixed(1e-3)),
        (0.2, Solver::Als, Choice::Fixed(1e-3)),
    ] {
        let mut planted = Planted::new(&[20, 20, 20], 3, Some(pairwise_kernel(3)), 400, 7);
        if noise > 0.0 {
            planted.add_noise(noise, 7);
        }
        let data = observations(&planted);
        let config = config(solver, penalty);
        let mut keeper = Keeper::default();
        let whole = fit::<f64>(data.clone(), &config, &mut keeper).unwrap();
        let step = (keeper.kept.len() / 12).max(1);
        let mut before = None;
        for (number, (stage, bytes)) in keeper.kept.into_iter().enumerate() {
            // Some of all, and the first of each stage.
            if before.replace(stage) == Some(stage) && number % step > 0 {
                continue;
            }
            let resumed = resume::<f64>(data.clone(), &config, &bytes, &mut NoObserver).unwrap();
            assert_eq!(resumed.parameters, whole.parameters, "from {stage:?}");
            assert_eq!(resumed.sweeps, whole.sweeps);
            assert_eq!(resumed.penalty, whole.penalty);
        }
    }
}

#[test]
fn limits_end_a_fit_with_a_status() {
    let planted = Planted::new(&[20, 20, 20], 3, Some(pairwise_kernel(3)), 400, 7);
    let data = observations(&planted);
    let mut limited = config(Solver::Als, Choice::Fixed(1e-3));
    limited.sweeps = Some(3);
    let stopped = fit::<f64>(data.clone(), &limited, &mut NoObserver).unwrap();
    assert_eq!((stopped.status, stopped.sweeps), (Status::SweepLimit, 3));
    limited.sweeps = None;
    limited.time_limit = Some(1e-9);
    assert_eq!(
        fit::<f64>(data.clone(), &limited, &mut NoObserver).unwrap().status,
        Status::TimeLimit
    );
    let mut path = config(Solver::Path, Choice::Auto);
    path.sweeps = Some(5);
    let stopped = fit::<f64>(data, &path, &mut NoObserver).unwrap();
    assert_eq!((stopped.status, stopped.sweeps), (Status::SweepLimit, 5));
    assert_eq!(stopped.spec.rank, 3);
}

#[test]
fn zero_tolerance_switches_early_stops_off() {
    let planted = Planted::new(&[10, 10, 10], 2, Some(pairwise_kernel(3)), 200, 7);
    let mut config = config(Solver::Als, Choice::Fixed(1e-2));
    config.tolerance = 0.0;
    config.sweeps = Some(400);
    let fit = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    assert_eq!(fit.sweeps, 400);
}
