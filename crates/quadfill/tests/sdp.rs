//! Convex programs: against an interior-point method, by their optimality conditions, and as models.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[expect(dead_code, reason = "other tests use the rest")]
mod common;

use std::sync::Arc;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::model::{Biases, Interaction, Kernel, ModelKind, ModelSpec, Predictor};
use quadfill::objective::{Objective, PenaltyScale, Perturbation, RowNormPenalty};
use quadfill::solve::{Choice, Fit, NoObserver, Rank, SdpForm, Solver, Status, Theory, fit};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::dense;
use quadfill_testkit::interior::ConvexProgram;
use quadfill_testkit::{Planted, pairwise_kernel};

const PENALTY: f64 = 0.03;
/// Objectives as small as this are zero: all values are the same and biases explain them.
const NOTHING: f64 = 1e-12;

/// Small quadratic problems, every term switched on or off.
fn small() -> impl Strategy<Value = Problem> {
    problems().prop_map(|mut problem| {
        while problem.sizes.iter().sum::<usize>() > 9 {
            problem.sizes.iter_mut().for_each(|size| *size = (*size - 1).max(2));
        }
        let cells: usize = problem.sizes.iter().product();
        problem.observations = problem.observations.min(cells);
        problem.product = false;
        problem
    })
}

fn config(problem: &Problem, form: SdpForm) -> FitConfig {
    config_at(problem, form, PENALTY)
}

fn config_at(problem: &Problem, form: SdpForm, penalty: f64) -> FitConfig {
    let mut config = FitConfig::for_spec(&problem.spec().with_rank(64));
    config.solver = Solver::Sdp(Choice::Fixed(form));
    config.penalty = (form != SdpForm::Trace).then_some(penalty).into();
    config.penalty_scale = Choice::Fixed(problem.scale);
    config.biases = Choice::Fixed(problem.biases);
    config.seed = problem.seed;
    let needs_alpha = form == SdpForm::Penalised;
    config.row_norm_penalty = (needs_alpha || problem.incoherent)
        .then(|| RowNormPenalty::new(if needs_alpha { 0.1 } else { 0.5 }, 0.2).unwrap());
    config.perturb = problem.perturbed;
    config
}

/// The same program for the interior-point method, built from the definitions.
fn reference(problem: &Problem, config: &FitConfig, form: SdpForm) -> ConvexProgram {
    let spec = problem.spec();
    let penalty = config.penalty.unwrap_or(0.0);
    let data = problem.data();
    let rows = spec.group_sizes(&problem.sizes);
    let n: usize = rows.iter().sum();
    let first = |mode: usize| rows[..spec.groups[mode]].iter().sum::<usize>();
    let Interaction::Quadratic(kernel) = &spec.interaction else { panic!("a quadratic model") };
    let weights: Vec<f64> = data.weights().map_or_else(|| vec![1.0; data.len()], <[f64]>::to_vec);
    let total: f64 = weights.iter().sum();
    let mean = match problem.biases {
        Biases::None => 0.0,
        _ => data.values().iter().zip(&weights).map(|(y, w)| w * y).sum::<f64>() / total,
    };
    let (mut cells, mut bias_rows) = (Vec::new(), Vec::new());
    for t in 0..data.len() {
        let at: Vec<usize> =
            (0..spec.modes()).map(|mode| first(mode) + data.indices(mode)[t] as usize).collect();
        let mut cell = vec![0.0; n * n];
        for a in 0..spec.modes() {
            for b in 0..spec.modes() {
                cell[at[a] * n + at[b]] += kernel.get(a, b);
            }
        }
        cells.push(cell);
        bias_rows.push(if problem.biases == Biases::Modes { at } else { Vec::new() });
    }
    let views = Views::<f64>::new(problem.data());
    let objective = Objective::new(&views, &spec, penalty, problem.scale);
    let mut linear = vec![0.0; n * n];
    if config.perturb {
        let c = Perturbation::random(n, penalty, problem.seed).unwrap();
        linear = (0..n).flat_map(|i| c.row(i).to_vec()).collect();
    }
    if form == SdpForm::Objective {
        let mut stacked = 0;
        for (group, &count) in rows.iter().enumerate() {
            for label in 0..count {
                linear[stacked * n + stacked] += objective.row_penalty(group, label);
                stacked += 1;
            }
        }
    }
    ConvexProgram {
        order: n,
        cells,
        bias_rows,
        values: data.values().iter().map(|y| y - mean).collect(),
        shares: weights.iter().map(|w| w / data.len() as f64).collect(),
        linear,
        quartic: config.row_norm_penalty.map(|q| (q.alpha, q.weight)),
        trace_bound: (form == SdpForm::Penalised)
            .then(|| n as f64 * config.row_norm_penalty.unwrap().alpha),
        ridge: (problem.biases == Biases::Modes).then(|| objective.bias_penalty()),
    }
}

/// `U U^T` and the biases of a fit, stacked.
fn point(fit: &Fit<f64>) -> (Vec<f64>, Vec<f64>) {
    let parameters = &fit.parameters;
    let places: Vec<(usize, usize)> = parameters
        .layout()
        .rows()
        .iter()
        .enumerate()
        .flat_map(|(group, &n)| (0..n).map(move |label| (group, label)))
        .collect();
    let row = |i: usize| parameters.row(places[i].0, places[i].1);
    let n = places.len();
    let x = (0..n * n)
        .map(|at| row(at / n).iter().zip(row(at % n)).map(|(u, v)| u * v).sum())
        .collect();
    (x, places.iter().map(|&(group, label)| parameters.bias(group, label)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn the_objective_form_is_optimal(problem in small()) {
        let config = config(&problem, SdpForm::Objective);
        let fit = fit::<f64>(problem.data(), &config, &mut NoObserver).unwrap();
        let report = fit.sdp.unwrap();
        prop_assert_eq!(fit.status, Status::Converged, "{:?}", report);
        let program = reference(&problem, &config, SdpForm::Objective);
        let best = program.minimum();
        prop_assert!((report.objective - best).abs() < 1e-6 * best + NOTHING, "{best}, {report:?}");
        prop_assert!(report.lower_bound <= best * (1.0 + 1e-8) + NOTHING, "{best}, {report:?}");
        prop_assert!(report.gap <= 1e-6 * best + NOTHING, "{best}, {report:?}");

        // The same objective as that of the factored solvers.
        let views = Views::new(problem.data());
        let rows = program.order;
        // For a penalty of 1.
        let c = config
            .perturb
            .then(|| Arc::new(Perturbation::random(rows, 1.0, problem.seed).unwrap()));
        let objective = Objective::new(&views, &fit.spec, PENALTY, problem.scale)
            .with_row_norm_penalty(config.row_norm_penalty)
            .with_perturbation(c);
        let value = objective.value(&fit.parameters).total();
        prop_assert!((value - best).abs() < 1e-6 * best + NOTHING, "{value} for {best}");

        // Optimality: X and S positive semidefinite, S X = 0, no slope by the biases.
        let (x, biases) = point(&fit);
        let (slope, bias_slope) = program.slope(&x, &biases);
        // Where X has full rank S vanishes: what cancels in it is as large as the penalty.
        let size = slope.iter().map(|s| s.abs()).fold(PENALTY, f64::max);
        let smallest = dense::symmetric_eigen(&slope, rows).unwrap().values[0];
        prop_assert!(smallest >= -1e-5 * size, "{smallest} of {size}");
        let inner: f64 = slope.iter().zip(&x).map(|(s, x)| s * x).sum();
        prop_assert!(inner.abs() <= 1e-5 * best + NOTHING, "{inner} of {best}");
        if problem.biases == Biases::Modes {
            prop_assert!(bias_slope.iter().all(|s| s.abs() < 1e-4), "{bias_slope:?}");
        }
    }

    #[test]
    fn the_penalised_form_is_optimal_within_its_trace(problem in small()) {
        let config = config(&problem, SdpForm::Penalised);
        let fit = fit::<f64>(problem.data(), &config, &mut NoObserver).unwrap();
        let report = fit.sdp.unwrap();
        prop_assert_eq!(fit.status, Status::Converged, "{:?}", report);
        let program = reference(&problem, &config, SdpForm::Penalised);
        let best = program.minimum();
        let zero = program.value(&vec![0.0; program.order.pow(2)], &vec![0.0; program.order]);
        prop_assert!((report.objective - best).abs() < 1e-6 * best.max(1e-3 * zero) + NOTHING, "{best}, {report:?}");
        prop_assert!(report.lower_bound <= best * (1.0 + 1e-8) + NOTHING, "{best}, {report:?}");
        prop_assert!(report.gap <= 1e-6 * best.max(1e-3 * zero) + NOTHING, "{best}, {report:?}");
        let (x, _) = point(&fit);
        let trace: f64 = (0..program.order).map(|i| x[i * program.order + i]).sum();
        prop_assert!(trace <= report.trace_bound.unwrap() * (1.0 + 1e-9), "{trace}");
    }

    #[test]
    fn convex_program_staircase_and_interior_point_agree(problem in small(), penalty in 0.005..0.2f64) {
        let (found, _) = three_optima(&problem, penalty);
        let [convex, stepped, interior] = found;
        prop_assert!((convex - interior).abs() <= 1e-6 * interior + NOTHING, "{found:?}");
        prop_assert!((stepped - interior).abs() <= 1e-6 * interior + NOTHING, "{found:?}");
    }
}

/// The optimum of the objective form over all ranks, by the convex program, by columns added until
/// the certificate is content, and by the interior-point method; and the order of the matrices.
fn three_optima(problem: &Problem, penalty: f64) -> ([f64; 3], usize) {
    let convex = config_at(problem, SdpForm::Objective, penalty);
    let solved = fit::<f64>(problem.data(), &convex, &mut NoObserver).unwrap();
    assert_eq!(solved.status, Status::Converged, "{:?}", solved.sdp);
    let staircase =
        FitConfig { solver: Solver::Path, rank: Rank::Auto { max: Some(64) }, ..convex.clone() };
    let stepped = fit::<f64>(problem.data(), &staircase, &mut NoObserver).unwrap();
    let certificate = stepped.certificate.unwrap();
    assert_eq!(stepped.status, Status::Certified, "{certificate:?}");
    let program = reference(problem, &convex, SdpForm::Objective);
    let found = [solved.sdp.unwrap().objective, certificate.objective, program.minimum()];
    (found, program.order)
}

/// Minutes: the interior-point method has 820 unknowns.
#[test]
#[ignore = "takes minutes"]
#[expect(clippy::print_stdout, reason = "a measurement")]
fn the_three_agree_at_forty_rows() {
    for seed in 0..8u64 {
        let on = |bit: u64| seed >> bit & 1 == 1;
        let problem = Problem {
            sizes: vec![15, 13, 12],
            rank: 1,
            product: false,
            diagonal: on(0),
            tied: false,
            biases: Biases::None,
            weighted: on(1) != on(0),
            incoherent: on(1),
            perturbed: on(2),
            centred: false,
            scale: if on(2) == on(1) { PenaltyScale::Uniform } else { PenaltyScale::Count },
            observations: 250,
            seed: 100 + seed,
        };
        let penalty = [0.003, 0.01, 0.03][seed as usize % 3];
        let (found, order) = three_optima(&problem, penalty);
        let [convex, stepped, interior] = found;
        println!(
            "n {order} penalty {penalty} interior {interior:.9e} convex {:+.1e} staircase {:+.1e}",
            convex / interior - 1.0,
            stepped / interior - 1.0
        );
        assert!((convex / interior - 1.0).abs() < 1e-6 && (stepped / interior - 1.0).abs() < 1e-6);
    }
}

fn observations(planted: &Planted) -> Observations {
    let modes = planted.sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    let (indices, values) = (planted.train.clone(), planted.values.clone());
    Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap()
}

fn sdp(kernel: Kernel, penalty: Option<f64>) -> FitConfig {
    let mut config = FitConfig::for_spec(&ModelSpec::quadratic(kernel, 64));
    config.solver = Solver::Sdp(Choice::Auto);
    config.penalty = penalty.into();
    config
}

#[test]
fn the_smallest_trace_recovers_exact_data() {
    let transe: Vec<f64> = vec![1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0];
    for (kernel, truth, sizes) in [
        (Kernel::pairwise(3), pairwise_kernel(3), [12, 10, 8]),
        (Kernel::transe(3), transe, [9, 8, 10]),
    ] {
        let planted = Planted::new(&sizes, 2, Some(truth), 330, 3);
        let fit = fit::<f64>(observations(&planted), &sdp(kernel, None), &mut NoObserver).unwrap();
        let columns: Vec<&[u32]> = planted.test.iter().map(Vec::as_slice).collect();
        let judged =
            Predictor::new(&fit.spec, &fit.parameters).evaluate(&columns, &planted.test_values);
        assert!(judged.relative_error < 1e-5, "{} at {:?}", judged.relative_error, fit.sdp);
        let report = fit.sdp.unwrap();
        assert_eq!((fit.status, report.form), (Status::Converged, SdpForm::Trace));
        assert!(report.relative_gap < 1e-6 && !report.truncated, "{report:?}");
    }
}

#[test]
fn the_smallest_trace_is_where_small_penalties_lead() {
    // Too few cells to be recovered, so that the trace decides.
    let planted = Planted::new(&[4, 3, 3], 1, Some(pairwise_kernel(3)), 9, 8);
    let data = observations(&planted);
    let traced =
        fit::<f64>(data.clone(), &sdp(Kernel::pairwise(3), None), &mut NoObserver).unwrap();
    let mut problem = ConvexProgram {
        order: 10,
        cells: Vec::new(),
        bias_rows: vec![Vec::new(); 9],
        values: planted.values.clone(),
        shares: vec![1.0; 9],
        linear: (0..100).map(|i| if i % 11 == 0 { 1e-6 } else { 0.0 }).collect(),
        quartic: None,
        trace_bound: None,
        ridge: None,
    };
    for t in 0..9 {
        let at = [0, 4, 7].map(|first| first as usize);
        let mut cell = vec![0.0; 100];
        for a in 0..3 {
            for b in (0..3).filter(|&b| b != a) {
                let row = |mode: usize| at[mode] + planted.train[mode][t] as usize;
                cell[row(a) * 10 + row(b)] += 0.5;
            }
        }
        problem.cells.push(cell);
    }
    let trace = problem.minimum() / 1e-6;
    let report = traced.sdp.unwrap();
    assert!((report.objective / trace - 1.0).abs() < 1e-5, "{trace}, {report:?}");
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let mut planted = Planted::new(&[20, 15, 10], 2, Some(pairwise_kernel(3)), 500, 2);
    planted.add_noise(0.1, 2);
    let data = observations(&planted);
    for penalty in [None, Some(1e-2)] {
        let mut config = sdp(Kernel::pairwise(3), penalty);
        config.sweeps = Some(30);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap())
        };
        let one = run(1);
        assert_eq!((one.status, one.sweeps), (Status::SweepLimit, 30));
        for threads in [2, 4] {
            let other = run(threads);
            assert_eq!(other.parameters, one.parameters, "{threads} threads");
            assert_eq!(other.sdp, one.sdp);
        }
    }
}

#[test]
fn a_limited_rank_cuts_the_solution_and_says_so() {
    let planted = Planted::new(&[10, 9, 8], 3, Some(pairwise_kernel(3)), 300, 5);
    let mut config = sdp(Kernel::pairwise(3), Some(1e-3));
    config.rank = Rank::Fixed(1);
    let fit = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    let report = fit.sdp.unwrap();
    assert!(report.truncated && report.rank > 1 && fit.spec.rank == 1, "{report:?}");
}

#[test]
fn data_that_no_matrix_meets_are_refused() {
    // A sum of squares is never negative.
    let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    let indices = vec![vec![0, 1], vec![0, 1]];
    let data =
        Observations::new(modes, indices, vec![-1.0, 1.0], None, OnDuplicate::Error).unwrap();
    let said =
        fit::<f64>(data, &sdp(Kernel::norms(2), None), &mut NoObserver).unwrap_err().to_string();
    assert!(said.contains("no positive semidefinite matrix"), "{said}");
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let base = sdp(Kernel::pairwise(3), None);
    let refused = |change: &dyn Fn(&mut FitConfig)| {
        let mut config = base.clone();
        change(&mut config);
        config.check().unwrap_err().to_string()
    };
    assert!(base.check().is_ok());
    assert!(refused(&|c| c.model = ModelKind::Cp).contains("quadratic models"));
    assert!(refused(&|c| c.biases = Choice::Fixed(Biases::Modes)).contains("no biases"));
    assert!(refused(&|c| c.perturb = true).contains("has no penalties"));
    assert!(refused(&|c| c.penalty = Choice::Fixed(0.0)).contains("above 0"));
    let penalised = Solver::Sdp(Choice::Fixed(SdpForm::Penalised));
    assert!(refused(&|c| c.solver = penalised).contains("`row_norm_penalty`"));
    // How large the matrices are is for the data to tell.
    let modes = [50_000, 50_000, 5].map(|n| Mode::new(format!("m{n}"), Labels::range(n))).to_vec();
    let data = Observations::new(modes, vec![vec![0]; 3], vec![1.0], None, OnDuplicate::Error);
    let said = quadfill::fit(data.unwrap(), &base).unwrap_err().to_string();
    assert!(said.contains("GB"), "{said}");
}

#[test]
fn the_theorems_settings_lead_to_the_optimum_over_all_ranks() {
    let planted = Planted::new(&[8, 7, 6], 1, Some(pairwise_kernel(3)), 100, 4);
    let data = observations(&planted);
    let model = ModelSpec::quadratic(Kernel::pairwise(3), 1);
    let theory = Theory::estimate(data.clone(), &model, 0).unwrap();
    // The norms of an exact fit are those of the truth up to what the kernel leaves open.
    assert!(theory.estimated && theory.alpha > 0.0);
    let mut factored = FitConfig::for_spec(&model);
    theory.apply(&mut factored);
    assert_eq!(factored.solver, Solver::Lbfgs);
    factored.tolerance = 1e-12;
    let reached = fit::<f64>(data.clone(), &factored, &mut NoObserver).unwrap();
    assert_eq!(reached.spec.rank, theory.rank);
    let views = Views::new(data.clone());
    // For a penalty of 1.
    let c = Arc::new(Perturbation::random(theory.rows, 1.0, 0).unwrap());
    let objective = Objective::new(&views, &reached.spec, theory.lambda1, PenaltyScale::Uniform)
        .with_row_norm_penalty(factored.row_norm_penalty)
        .with_perturbation(Some(c));
    let value = objective.value(&reached.parameters).total();
    let convex = FitConfig { solver: Solver::Sdp(Choice::Fixed(SdpForm::Objective)), ..factored };
    let optimum = fit::<f64>(data, &convex, &mut NoObserver).unwrap().sdp.unwrap();
    assert!((value / optimum.objective - 1.0).abs() < 1e-5, "{value}, {optimum:?}");
}
