//! Ranks that are found: by the certificate at a given penalty, by hold-out, or because data are exact.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use quadfill::certify::Outcome;
use quadfill::model::{Kernel, ModelSpec};
use quadfill::solve::{Choice, NoObserver, Rank, Solver, Status, fit};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::streams;
use quadfill_testkit::{Planted, pairwise_kernel};

/// A pairwise tensor, with noise of a given size.
fn data(sizes: &[usize], rank: usize, count: usize, noise: f64, seed: u64) -> Observations {
    let planted = Planted::new(sizes, rank, Some(pairwise_kernel(sizes.len())), count, seed);
    let mut draws = vec![0.0; planted.values.len()];
    streams::fill_normal(&mut draws, &mut streams::stream(seed, 9, 0));
    let values = planted.values.iter().zip(draws).map(|(y, e)| y + noise * e).collect();
    let modes = sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    Observations::new(modes, planted.train, values, None, OnDuplicate::Error).unwrap()
}

fn automatic(modes: usize, most: usize) -> FitConfig {
    let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(modes), most));
    config.rank = Rank::Auto { max: Some(most) };
    config
}

#[test]
fn at_a_penalty_the_staircase_ends_at_the_optimum_over_all_ranks() {
    let data = data(&[20, 15, 10], 2, 400, 0.3, 1);
    let mut ranks = Vec::new();
    for penalty in [0.2, 0.05, 0.01] {
        let mut config = automatic(3, 45);
        config.penalty = Choice::Fixed(penalty);
        let mut objectives = Vec::new();
        for seed in [1, 2, 3] {
            config.seed = seed;
            let found = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap();
            let certificate = found.certificate.unwrap();
            assert_eq!(found.status, Status::Certified);
            assert_eq!(certificate.outcome, Outcome::GloballyOptimal);
            assert!(certificate.relative_gap < 1e-6, "{certificate:?}");
            assert_eq!(certificate.rank, certificate.columns, "no column is in vain");
            objectives.push(certificate.objective);
            ranks.push(found.spec.rank);
        }
        // Another solver with a column for every row comes to the same.
        config.rank = Rank::Fixed(45);
        config.solver = Solver::Lbfgs;
        config.tolerance = 1e-13;
        let wide = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap().certificate.unwrap();
        for objective in objectives {
            assert!(
                (objective - wide.objective).abs() < 1e-6 * wide.objective,
                "{objective} {wide:?}"
            );
        }
    }
    assert!(ranks.first() < ranks.last(), "smaller penalties take more columns: {ranks:?}");
}

#[test]
fn a_staircase_ends_at_the_largest_rank() {
    let mut config = automatic(3, 2);
    config.penalty = Choice::Fixed(0.01);
    let found = fit::<f64>(data(&[20, 15, 10], 4, 400, 0.3, 1), &config, &mut NoObserver).unwrap();
    assert_eq!((found.status, found.spec.rank), (Status::RankLimit, 2));
    assert_ne!(found.certificate.unwrap().outcome, Outcome::GloballyOptimal);
}

#[test]
fn exact_data_tell_their_rank() {
    for (rank, count) in [(1, 300), (3, 700)] {
        let found = fit::<f64>(
            data(&[40, 40, 30], rank, count, 0.0, 4),
            &automatic(3, 64),
            &mut NoObserver,
        );
        let found = found.unwrap();
        assert_eq!((found.status, found.spec.rank), (Status::Exact, rank));
    }
}

/// A single hold-out may be unlucky: about three of four choose 3 or 4 here, some far more. So the
/// median over seeds is judged.
#[test]
fn noisy_data_choose_a_rank_on_what_is_held_out() {
    let data = data(&[30, 30, 30], 3, 2500, 0.3, 5);
    let mut ranks: Vec<usize> = (0..7)
        .map(|seed| {
            let config = FitConfig { seed, ..automatic(3, 64) };
            let found = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap();
            assert_eq!(found.status, Status::Validated);
            found.spec.rank
        })
        .collect();
    ranks.sort_unstable();
    assert!((3..=4).contains(&ranks[3]), "ranks {ranks:?}");
    assert!(ranks[0] >= 3, "ranks {ranks:?}");
}

#[test]
fn the_rank_is_the_same_on_any_number_of_threads() {
    let data = data(&[20, 15, 10], 2, 400, 0.3, 1);
    let mut config = automatic(3, 45);
    config.penalty = Choice::Fixed(0.02);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap());
        (found.parameters, found.certificate)
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(4));
}
