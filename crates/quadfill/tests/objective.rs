//! Value, gradient and curvature of the objective against references written apart.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::model::{Parameters, Predictor};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::views::Views;

/// The objective by its formula, one cell and one row at a time.
fn reference(problem: &Problem, objective: &Objective<'_, f64>, point: &Parameters<f64>) -> f64 {
    let data = problem.data();
    let spec = problem.spec();
    let predictor = Predictor::new(&spec, point);
    let m = data.len() as f64;
    let mut value = 0.0;
    for i in 0..data.len() {
        let cell: Vec<u32> = (0..problem.sizes.len()).map(|mode| data.indices(mode)[i]).collect();
        let weight = data.weights().map_or(1.0, |w| w[i]);
        value += weight * (predictor.cell(&cell) - data.values()[i]).powi(2) / m;
    }
    let rows = spec.group_sizes(&problem.sizes);
    let n: usize = rows.iter().sum();
    let mut stacked = Vec::new();
    let mut shares = Vec::new();
    for (group, &count) in rows.iter().enumerate() {
        for label in 0..count {
            let seen: usize = spec
                .group_modes(group)
                .map(|mode| data.indices(mode).iter().filter(|&&i| i as usize == label).count())
                .sum();
            let share = match problem.scale {
                PenaltyScale::Uniform => 1.0,
                PenaltyScale::Count => {
                    seen.max(1) as f64 * n as f64 / (problem.sizes.len() as f64 * m)
                }
            };
            shares.push(share);
            let row = point.row(group, label);
            let squared: f64 = row.iter().map(|u| u * u).sum();
            value += if problem.centred { 0.0 } else { 0.03 * share * squared };
            value += objective.bias_penalty() * point.bias(group, label).powi(2);
            if problem.incoherent {
                value += 0.2 * (squared.sqrt() - 0.5f64.sqrt()).max(0.0).powi(4);
            }
            stacked.push(row.to_vec());
        }
    }
    let mut first = 0;
    for count in rows.into_iter().filter(|_| problem.centred) {
        let of_group = first..first + count;
        let (rows, shares) = (&stacked[of_group.clone()], &shares[of_group]);
        let total: f64 = shares.iter().sum();
        for column in 0..problem.rank {
            let entries = || rows.iter().map(|row| row[column]).zip(shares);
            let mu = entries().map(|(u, share)| share * u).sum::<f64>() / (total + 1.0);
            let about =
                |mu: f64| -> f64 { entries().map(|(u, share)| share * (u - mu).powi(2)).sum() };
            let penalty = |mu: f64| about(mu) + mu * mu;
            assert!(penalty(mu) <= penalty(mu + 1e-3).min(penalty(mu - 1e-3)));
            value += 0.03 * penalty(mu);
        }
        first += count;
    }
    if problem.perturbed {
        let c = quadfill::objective::Perturbation::random(n, 0.02, problem.seed).unwrap();
        for (i, x) in stacked.iter().enumerate() {
            for (j, y) in stacked.iter().enumerate() {
                value += c.row(i)[j] * x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            }
        }
    }
    value
}

fn dot(x: &Parameters<f64>, y: &Parameters<f64>) -> f64 {
    x.as_slice().iter().zip(y.as_slice()).map(|(x, y)| x * y).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn value_is_the_formula(problem in problems()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let point = problem.point(1);
        let (got, expected) =
            (objective.value(&point).total(), reference(&problem, &objective, &point));
        prop_assert!((got - expected).abs() <= 1e-11 * expected.abs(), "{got} {expected}");
    }

    #[test]
    fn gradient_agrees_with_finite_differences(problem in problems()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let (point, direction) = (problem.point(1), problem.point(2));
        let mut gradient = point.zeros_like();
        let data = objective.gradient_into(&point, &mut gradient);
        prop_assert!((data - objective.data_value(&point)).abs() <= 1e-11 * data.max(1e-3));
        let along = |step: f64| {
            let mut moved = point.clone();
            moved.advance(step, &direction);
            objective.value(&moved).total()
        };
        let difference = |h: f64| (along(h) - along(-h)) / (2.0 * h);
        let expected = (4.0 * difference(5e-4) - difference(1e-3)) / 3.0;
        let got = dot(&gradient, &direction);
        prop_assert!((got - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{got} {expected}");
    }

    #[test]
    fn curvature_agrees_with_differences_of_the_gradient(problem in problems()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let (point, direction) = (problem.point(1), problem.point(2));
        let mut product = point.zeros_like();
        objective.hessian_vec_into(&point, &direction, &mut product);
        let gradient = |step: f64| {
            let mut moved = point.clone();
            moved.advance(step, &direction);
            let mut gradient = point.zeros_like();
            objective.gradient_into(&moved, &mut gradient);
            gradient
        };
        let difference = |h: f64| -> Vec<f64> {
            let (up, down) = (gradient(h), gradient(-h));
            up.as_slice().iter().zip(down.as_slice()).map(|(u, d)| (u - d) / (2.0 * h)).collect()
        };
        let (fine, coarse) = (difference(5e-4), difference(1e-3));
        let size = dot(&product, &product).sqrt();
        for ((got, fine), coarse) in product.as_slice().iter().zip(fine).zip(coarse) {
            let expected = (4.0 * fine - coarse) / 3.0;
            // The quartic penalty has a kink in its third derivative, so differences are coarser there.
            let slack = if problem.incoherent { 1e-3 } else { 1e-6 };
            prop_assert!((got - expected).abs() <= slack * (1.0 + size), "{got} {expected}");
        }
    }

    #[test]
    fn the_gauss_newton_product_is_symmetric_and_not_negative(problem in problems()) {
        let views = Views::new(problem.data());
        let mut plain = problem.clone();
        plain.incoherent = false;
        let objective = plain.objective(&views);
        let (point, x, y) = (problem.point(1), problem.point(2), problem.point(3));
        let (mut hx, mut hy) = (point.zeros_like(), point.zeros_like());
        objective.gauss_newton_vec_into(&point, &x, &mut hx);
        objective.gauss_newton_vec_into(&point, &y, &mut hy);
        let (xhy, yhx, xhx) = (dot(&x, &hy), dot(&y, &hx), dot(&x, &hx));
        prop_assert!((xhy - yhx).abs() <= 1e-9 * (1.0 + xhx.abs()), "{xhy} {yhx}");
        prop_assert!(xhx >= 0.0);
    }
}
