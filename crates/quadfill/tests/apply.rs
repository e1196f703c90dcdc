//! What is done with a model, against brute force.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;
mod models;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::apply::{Order, Part, Ranker, Recipe};
use quadfill::model::{Biases, ModelSpec, Parameters, Predictor};
use quadfill::objective::PenaltyScale;
use quadfill::views::Views;
use quadfill::{Observations, OnDuplicate, Real};

/// The best labels by looking at all of them.
fn brute_force<T: Real>(
    predictor: Predictor<'_, T>,
    mode: usize,
    given: &[u32],
    labels: &[u32],
    order: Order,
) -> Vec<(u32, f64)> {
    let mut cell = given.to_vec();
    let mut all: Vec<(u32, f64)> = labels
        .iter()
        .map(|&label| {
            cell[mode] = label;
            (label, predictor.cell(&cell))
        })
        .collect();
    all.sort_by(|x, y| {
        let better = match order {
            Order::Highest => y.1.total_cmp(&x.1),
            Order::Lowest => x.1.total_cmp(&y.1),
        };
        better.then(x.0.cmp(&y.0))
    });
    all
}

/// Few different whole numbers: sums are exact, and there are many ties.
fn coarse<T: Real>(spec: &ModelSpec, sizes: &[usize], seed: u64) -> Parameters<T> {
    let mut parameters = Parameters::<T>::random(spec, sizes, 1.0, seed);
    for (group, rows) in spec.group_sizes(sizes).into_iter().enumerate() {
        for label in 0..rows {
            for u in parameters.row_mut(group, label) {
                *u = T::from_f64(u.to_f64().round());
            }
            if parameters.layout().has_biases() {
                parameters.set_bias(group, label, T::from_f64(f64::from(label as u32 % 3)));
            }
        }
    }
    parameters
}

/// Kernels of whole numbers, so that every score is one, too.
fn whole(problem: &Problem) -> ModelSpec {
    use quadfill::model::{Interaction, Kernel};
    let mut spec = problem.spec();
    if let Interaction::Quadratic(kernel) = &spec.interaction {
        let mut rows: Vec<Vec<f64>> = kernel.clone().into();
        rows.iter_mut().flatten().for_each(|k| *k = k.signum() * k.abs().ceil());
        spec.interaction = Interaction::Quadratic(Kernel::new(&rows).unwrap());
    }
    spec
}

fn check_top<T: Real>(problem: &Problem, mode: usize, k: usize) {
    let spec = whole(problem);
    let mut sizes = problem.sizes.clone();
    for other in spec.group_modes(spec.groups[mode]) {
        sizes[other] = 61;
    }
    let parameters = coarse::<T>(&spec, &sizes, problem.seed);
    let predictor = Predictor::new(&spec, &parameters);
    let seed = problem.seed;
    let cell = |i: u64| -> Vec<u32> {
        sizes.iter().map(|&n| ((seed >> 8).wrapping_add(i * 7919) % n as u64) as u32).collect()
    };
    let excluded: Vec<u32> =
        (0..61).filter(|label| u64::from(*label).wrapping_add(seed).is_multiple_of(5)).collect();
    let some: Vec<u32> =
        (0..61).filter(|label| !(u64::from(*label) ^ seed).is_multiple_of(3)).collect();
    for order in [Order::Highest, Order::Lowest] {
        let all = Ranker::new(predictor, mode).with_order(order);
        let among = all.clone().among(&some);
        let given: Vec<Vec<u32>> = (0..9).map(cell).collect();
        let lists = vec![excluded.clone(); given.len()];
        let batch = among.top_batch(&given, k, &lists);
        for (given, batch) in given.iter().zip(batch) {
            let every: Vec<u32> = (0..61).collect();
            let pairs = |found: Vec<quadfill::apply::Scored>| -> Vec<(u32, f64)> {
                found.into_iter().map(|s| (s.label, s.score)).collect()
            };
            let mut expected = brute_force(predictor, mode, given, &every, order);
            let place = expected.iter().position(|&(label, _)| label == 30).unwrap();
            let ties = |up: bool| {
                let score = expected[place].1;
                let count = expected.iter().filter(|s| s.1 == score).count();
                let first = expected.iter().position(|s| s.1 == score).unwrap();
                if up { first + 1 } else { first + count }
            };
            let mean = 0.5 * (ties(true) + ties(false)) as f64;
            assert_eq!(all.rank_of(given, 30, &[]), mean);
            expected.truncate(k);
            assert_eq!(pairs(all.top(given, k, &[])), expected);
            let left: Vec<u32> =
                some.iter().copied().filter(|label| !excluded.contains(label)).collect();
            let mut expected = brute_force(predictor, mode, given, &left, order);
            expected.truncate(k);
            assert_eq!(pairs(among.top(given, k, &excluded)), expected);
            assert_eq!(pairs(batch), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn top_is_brute_force_with_ties(problem in problems(), mode in 0..2usize, k in 1..70usize) {
        check_top::<f64>(&problem, mode, k);
        check_top::<f32>(&problem, mode, k);
    }

    #[test]
    fn parts_and_vectors_add_up_to_the_prediction(problem in problems()) {
        let (spec, point) = (problem.spec(), problem.point(3));
        let predictor = Predictor::new(&spec, &point);
        let cell: Vec<u32> =
            problem.sizes.iter().map(|&n| (problem.seed % n as u64) as u32).collect();
        let prediction = predictor.cell(&cell);
        let sum: f64 = predictor.parts(&cell).iter().map(Part::value).sum();
        prop_assert!((sum - prediction).abs() < 1e-9 * (1.0 + prediction.abs()));
        for mode in 0..cell.len() {
            let export = predictor.export(mode);
            let row = |b: usize| point.row(spec.groups[b], cell[b] as usize);
            let mut query = vec![0.0; export.rank];
            match &export.recipe {
                Recipe::Sum { weights } => {
                    for &(b, weight) in weights {
                        query.iter_mut().zip(row(b)).for_each(|(q, u)| *q += weight * u);
                    }
                }
                Recipe::Product { modes } => {
                    query.fill(1.0);
                    for &b in modes {
                        query.iter_mut().zip(row(b)).for_each(|(q, u)| *q *= u);
                    }
                }
            }
            query.resize(export.width, 1.0);
            let vector = &export.vectors[cell[mode] as usize * export.width..][..export.width];
            let product: f64 = vector.iter().zip(&query).map(|(v, q)| v * q).sum();
            let total = predictor.context(mode, &cell).constant + product;
            prop_assert!((total - prediction).abs() < 1e-9 * (1.0 + prediction.abs()));
        }
    }

    #[test]
    fn an_influence_is_what_leaving_the_observation_out_changes(mut problem in problems()) {
        (problem.diagonal, problem.tied) = (false, false);
        (problem.incoherent, problem.perturbed) = (false, false);
        // A penalty that grows with the count would change with what is left out.
        problem.scale = PenaltyScale::Uniform;
        let spec = problem.spec();
        let views = Views::<f64>::new(problem.data());
        let point = problem.point(5);
        let cell: Vec<u32> = (0..problem.sizes.len()).map(|m| problem.data().indices(m)[0]).collect();
        let mut parts = models::Parts::new(&spec, problem.data().modes().to_vec(), point.clone());
        (parts.summary.penalty, parts.summary.observations) = (0.03, problem.observations);
        let all = parts.model().influences(problem.data(), &cell).unwrap();
        prop_assert_eq!(all.len(), cell.len());
        for (mode, found) in all.iter().enumerate() {
            prop_assert_eq!(found.len(), views.all().mode(mode).count(cell[mode] as usize));
            let group = spec.groups[mode];
            let solve = |left_out: Option<&[u32]>| {
                let views = Views::new(without(problem.data(), left_out));
                let objective = problem
                    .objective(&views)
                    .scaled_as(problem.observations, problem.sizes.iter().sum());
                let mut moved = point.clone();
                quadfill::solve::als::update_group(&objective, &mut moved, group);
                // Only the row that is looked at moves.
                let mut solved = point.clone();
                let label = cell[mode] as usize;
                solved.row_mut(group, label).copy_from_slice(moved.row(group, label));
                if spec.biases == quadfill::model::Biases::Modes {
                    solved.set_bias(group, label, moved.bias(group, label));
                }
                Predictor::new(&spec, &solved).cell(&cell)
            };
            if problem.observations < 2 {
                continue;
            }
            let with = solve(None);
            for influence in found.iter().take(3) {
                let effect = with - solve(Some(&influence.cell));
                prop_assert!(
                    (effect - influence.effect).abs() < 1e-6 * (1.0 + effect.abs()),
                    "{effect} {influence:?}"
                );
                prop_assert!((-1e-12..=1.0 + 1e-12).contains(&influence.leverage));
            }
        }
    }
}

/// The data without one cell.
fn without(data: Observations, left_out: Option<&[u32]>) -> Observations {
    let (modes, indices, values, weights) = data.into_parts();
    let keep: Vec<usize> = (0..values.len())
        .filter(|&row| {
            left_out.is_none_or(|cell| indices.iter().zip(cell).any(|(c, l)| c[row] != *l))
        })
        .collect();
    let indices = indices.iter().map(|c| keep.iter().map(|&row| c[row]).collect()).collect();
    let pick = |column: &Vec<f64>| keep.iter().map(|&row| column[row]).collect::<Vec<f64>>();
    let weights = weights.as_ref().map(pick);
    Observations::new(modes, indices, pick(&values), weights, OnDuplicate::Error).unwrap()
}

/// So many labels that most of them are only screened.
#[test]
fn top_of_many_labels_is_brute_force() {
    fn check<T: Real>(spec: &ModelSpec, sizes: &[usize], parameters: &Parameters<T>) {
        let predictor = Predictor::new(spec, parameters);
        let every: Vec<u32> = (0..sizes[1] as u32).collect();
        let given: Vec<Vec<u32>> = (0..sizes[0] as u32).map(|user| vec![user, 0]).collect();
        let excluded: Vec<Vec<u32>> = (0..given.len())
            .map(|query| {
                every.iter().copied().filter(|label| label % 7 == query as u32 % 7).collect()
            })
            .collect();
        for (order, k) in [(Order::Highest, 20), (Order::Lowest, 1), (Order::Highest, 5000)] {
            let batch = Ranker::new(predictor, 1).with_order(order).top_batch(&given, k, &excluded);
            for ((given, excluded), found) in given.iter().zip(&excluded).zip(batch) {
                let mut expected = brute_force(predictor, 1, given, &every, order);
                expected.retain(|(label, _)| excluded.binary_search(label).is_err());
                expected.truncate(k);
                let found: Vec<(u32, f64)> = found.iter().map(|s| (s.label, s.score)).collect();
                assert_eq!(found, expected, "{order:?}, {k} of {}", every.len());
            }
        }
    }
    let sizes = [11, 4000];
    for rank in [3, 32] {
        let specs = [ModelSpec::cp(2, rank), ModelSpec::cp(2, rank).with_biases(Biases::Modes)];
        for spec in specs {
            check(&spec, &sizes, &Parameters::<f32>::random(&spec, &sizes, 1.0, 5));
            check(&spec, &sizes, &Parameters::<f64>::random(&spec, &sizes, 1.0, 5));
            check(&spec, &sizes, &coarse::<f32>(&spec, &sizes, 6));
        }
    }
}
