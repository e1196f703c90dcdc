//! Unobserved cells as zeros: the closed form agrees with visiting every cell.

use quadfill::model::{Kernel, ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale, Problem};
use quadfill::solve::{Choice, NoObserver, Solver, als, fit};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};

const SIZES: [usize; 3] = [5, 4, 6];

fn modes() -> Vec<Mode> {
    SIZES.iter().map(|&size| Mode::new("m", Labels::range(size))).collect()
}

/// Some cells of the tensor, or all of them with zeros of a weight where those are not.
fn data(observed_weight: f64, zero: Option<f64>) -> Observations {
    let (mut columns, mut values, mut weights) = (vec![Vec::new(); 3], Vec::new(), Vec::new());
    for cell in 0..SIZES.iter().product::<usize>() {
        let labels = [cell % 5, cell / 5 % 4, cell / 20];
        let is_observed = (cell * 7 + cell / 11) % 4 == 0;
        let Some(weight) = (if is_observed { Some(observed_weight) } else { zero }) else {
            continue;
        };
        let value = 0.4 + (cell as f64 * 0.37).sin();
        columns.iter_mut().zip(labels).for_each(|(column, label)| column.push(label as u32));
        values.push(if is_observed { value } else { 0.0 });
        weights.push(weight);
    }
    Observations::new(modes(), columns, values, Some(weights), OnDuplicate::Error).expect("sound")
}

fn models() -> [ModelSpec; 2] {
    [ModelSpec::quadratic(Kernel::pairwise(3), 3), ModelSpec::cp(3, 3)]
}

#[test]
fn a_fit_to_all_cells_is_the_fit_to_a_full_tensor() {
    // More than the zeros, and just as much.
    for (observed, zero) in [(1.0, 0.3), (1.0, 1.0), (0.5, 0.5), (2.5, 2.5)] {
        for model in models() {
            let mut config = FitConfig::for_spec(&model);
            config.solver = Solver::Als;
            config.penalty = Choice::Fixed(0.02);
            config.implicit = Some(zero);
            config.tolerance = 0.0;
            config.sweeps = Some(300);
            config.seed = 3;
            let few = data(observed, None);
            let share = few.len() as f64;
            let fitted = fit::<f64>(few, &config, &mut NoObserver).expect("fitted");

            let full = data(observed, Some(zero));
            let cells = full.len() as f64;
            let views = Views::new(full);
            let penalty = 0.02 * share / cells;
            let objective = Objective::new(&views, &model, penalty, PenaltyScale::Uniform);
            let plain = objective.data_value(&fitted.parameters) * cells;
            let closed = fitted.train_rmse.powi(2) * share;
            assert!((plain - closed).abs() < 1e-9 * plain, "{plain} {closed}");

            // Nothing is left to be gained on the full tensor.
            let before = objective.value(&fitted.parameters).total();
            let mut gradient = fitted.parameters.zeros_like();
            objective.gradient_into(&fitted.parameters, &mut gradient);
            let slope = gradient.as_slice().iter().fold(0.0f64, |most, g| most.max(g.abs()));
            assert!(slope < 1e-6, "{slope}");
            let mut after = fitted.parameters.clone();
            als::sweep(&objective, &mut after);
            let gained = before - objective.value(&after).total();
            assert!(gained.abs() < 1e-9 * before, "{gained}");
        }
    }
}

#[test]
fn one_sweep_tells_the_data_term_it_leaves() {
    for model in models() {
        let mut config = FitConfig::for_spec(&model);
        config.penalty = Choice::Fixed(0.05);
        config.implicit = Some(1.0);
        let plain = data(1.0, None);
        let (modes, columns, values, _) = plain.into_parts();
        let data =
            Observations::new(modes, columns, values, None, OnDuplicate::Error).expect("sound");
        let problem = Problem::<f64>::new(data, &model, &config.terms(), None).expect("sound");
        let objective = problem.objective(&model, 0.05);
        let mut parameters = Parameters::random(&model, &SIZES, 0.7, 5);
        for _ in 0..3 {
            let before = objective.value(&parameters).total();
            let told = als::sweep(&objective, &mut parameters);
            let value = objective.value(&parameters);
            assert!((told - value.data).abs() < 1e-10 * value.data, "{told} {}", value.data);
            assert!(value.total() < before);
        }
    }
}
