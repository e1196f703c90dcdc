//! Plain fits of noisy data: which model is chosen, and that the choice depends on the data alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "common/keeper.rs"]
mod keeper;

use std::ops::ControlFlow;

use keeper::Keeper;
use quadfill::model::{
    Biases, Interaction, Kernel, ModelKind, ModelSpec, Parameters, Predictor, UNKNOWN,
};
use quadfill::solve::{
    Choice, Effort, Event, NoObserver, Observer, Rank, Sampling, Solver, Stage, fit, resume,
};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_kernels::streams::{fill_normal, stream};
use rand::RngExt;

const SIZES: [usize; 3] = [30, 25, 20];

fn modes() -> Vec<Mode> {
    ["a", "b", "c"].iter().zip(SIZES).map(|(n, size)| Mode::new(*n, Labels::range(size))).collect()
}

/// Noisy cells of a planted model, and other cells of it.
struct Planted {
    data: Observations,
    test: Observations,
}

fn planted(spec: &ModelSpec, count: usize, noise: f64, seed: u64) -> Planted {
    let mut truth = Parameters::<f64>::random(spec, &SIZES, 0.8, seed);
    truth.mean = 3.0;
    let predictor = Predictor::new(spec, &truth);
    let mut rng = stream(seed, 78, 0);
    let mut order: Vec<usize> = (0..SIZES.iter().product::<usize>()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut errors = vec![0.0; 2 * count];
    fill_normal(&mut errors, &mut rng);
    let (mut cells, mut values) = (vec![Vec::new(); 3], Vec::new());
    for (&at, error) in order.iter().zip(&errors) {
        let labels = [at / SIZES[2] / SIZES[1], at / SIZES[2] % SIZES[1], at % SIZES[2]];
        let labels = labels.map(|label| label as u32);
        cells.iter_mut().zip(labels).for_each(|(column, label)| column.push(label));
        values.push(predictor.cell(&labels) + noise * error);
    }
    let part = |rows: std::ops::Range<usize>| {
        let columns = cells.iter().map(|column| column[rows.clone()].to_vec()).collect();
        let values = values[rows].to_vec();
        Observations::new(modes(), columns, values, None, OnDuplicate::Error).unwrap()
    };
    Planted { data: part(0..count), test: part(count..2 * count) }
}

fn pairwise() -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 2)
}

fn quick() -> FitConfig {
    FitConfig { effort: Effort::Quick, ..FitConfig::default() }
}

#[test]
fn the_model_of_the_data_wins_and_its_error_is_told_honestly() {
    for (spec, kind, noise) in
        [(pairwise(), ModelKind::Pairwise, 0.5), (ModelSpec::cp(3, 2), ModelKind::Cp, 0.2)]
    {
        let Planted { data, test } = planted(&spec, 1500, noise, 4);
        let model = quadfill::fit(data, &quick()).unwrap();
        assert_eq!(model.kind(), kind);
        let race = model.summary().race.clone().unwrap();
        let found = model.evaluate(&test).unwrap().rmse;
        assert!(found < 1.25 * noise, "{found}");
        assert!(race.baselines.biases > 1.3 * found && race.baselines.mean > 1.3 * found);
        // The told error is that of less data, so it may be a little larger.
        let told = race.held_out;
        let distance = (told.rmse - found).abs();
        assert!(distance < 4.0 * told.standard_error + 0.1 * found, "{told:?}, test {found}");
        assert_eq!(race.winner().contender.model, kind);
        assert!(race.heats.iter().filter(|heat| heat.is_pilot).count() >= 2);
    }
}

#[test]
fn what_is_given_stays_given() {
    let Planted { data, .. } = planted(&pairwise(), 900, 0.3, 1);
    let config = FitConfig {
        model: ModelKind::Cp,
        rank: Rank::Fixed(3),
        biases: Choice::Fixed(Biases::Modes),
        keep_draws: true,
        ..quick()
    };
    let model = quadfill::fit(data, &config).unwrap();
    let race = model.summary().race.as_ref().unwrap();
    for heat in &race.heats {
        assert_eq!((&heat.contender.model, heat.contender.rank), (&ModelKind::Cp, 3));
        assert_eq!(heat.contender.biases, Biases::Modes);
    }
    assert_eq!(model.rank(), 3);
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn threads_make_no_difference() {
    let run = |threads| {
        let data = planted(&pairwise(), 700, 0.3, 2).data;
        on_threads(threads, || quadfill::fit(data, &quick()).unwrap().to_bytes().unwrap())
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}

/// The stages of the checkpoints that a fit resumes from to the same bits.
fn resumes(config: &FitConfig) -> Vec<Stage> {
    let data = planted(&pairwise(), 500, 0.3, 3).data;
    let mut keeper = Keeper::every(97);
    let whole = fit::<f64>(data.clone(), config, &mut keeper).unwrap();
    assert!(whole.race.is_some());
    for (_, bytes) in keeper.kept.iter().step_by(keeper.kept.len().div_ceil(6)) {
        let resumed = resume::<f64>(data.clone(), config, bytes, &mut NoObserver).unwrap();
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!((resumed.posterior, resumed.sweeps), (whole.posterior.clone(), whole.sweeps));
        assert_eq!(resumed.race, whole.race);
    }
    keeper.kept.into_iter().map(|(stage, _)| stage).collect()
}

#[test]
fn a_race_resumes_to_the_same_bits() {
    let sampling = Sampling { burn_in: 40, samples: 160, ..Sampling::default() };
    for solver in [Solver::Auto, Solver::Gibbs(sampling)] {
        let stages = resumes(&FitConfig { solver, ..quick() });
        let in_race = stages.iter().filter(|stage| matches!(stage, Stage::Race(_))).count();
        let sampling = stages.iter().filter(|stage| **stage == Stage::Sample).count();
        assert!(in_race > 1 && sampling > 0, "{in_race} and {sampling}");
    }
}

#[test]
fn a_sampler_without_a_rank_chooses_its_model() {
    let Planted { data, test } = planted(&ModelSpec::cp(3, 2), 1500, 0.2, 4);
    let sampling = Sampling { burn_in: 20, samples: 60, chains: 2, ..Sampling::default() };
    let config = FitConfig { solver: Solver::Gibbs(sampling), ..quick() };
    let found = fit::<f64>(data, &config, &mut NoObserver).unwrap();
    assert_eq!(found.spec.interaction, Interaction::Cp);
    assert_eq!(found.posterior.as_ref().unwrap().draws().len(), 120);
    let race = found.race.as_ref().unwrap();
    assert!(race.heats.iter().all(|heat| !heat.contender.is_path()), "draws were asked for");
    assert_eq!(race.winner().contender.rank, found.rank());
    let predictions = found.predictor().cells(&test.columns());
    let squares = predictions.iter().zip(test.values()).map(|(x, y)| (x - y).powi(2));
    let rmse = (squares.sum::<f64>() / test.len() as f64).sqrt();
    assert!(rmse < 0.25, "{rmse}");
}

#[test]
fn limits_leave_a_model_that_can_be_used() {
    struct Stop(usize);
    impl Observer for Stop {
        fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
            self.0 = self.0.saturating_sub(usize::from(matches!(event, Event::Step { .. })));
            if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    for steps in [1, 60, 180, 400] {
        let data = planted(&pairwise(), 500, 0.3, 3).data;
        let model = quadfill::fit_with(data, &quick(), &mut Stop(steps)).unwrap();
        assert!(model.predict(&["1", "2", "3"]).unwrap().is_finite());
    }
}

/// The share of new observations within their interval of 90 %.
fn coverage(model: &Model, data: Observations, test: &Observations) -> f64 {
    let columns = test.columns();
    // Where a path won, its intervals come from the data.
    let widths = model.half_widths(&columns, 0.9, Some(data)).unwrap();
    let predictions = model.predict_cells(&columns);
    let inside = widths.iter().zip(predictions).zip(test.values());
    let inside =
        inside.filter(|((width, prediction), value)| (*value - prediction).abs() <= **width);
    inside.count() as f64 / test.len() as f64
}

#[test]
fn intervals_cover_what_they_say_distilled_and_from_draws() {
    for keep_draws in [false, true] {
        let (mut sum, seeds) = (0.0, 3);
        for seed in 0..seeds {
            let Planted { data, test } = planted(&pairwise(), 2000, 0.5, 20 + seed);
            let config = FitConfig { keep_draws, ..quick() };
            let model = quadfill::fit(data.clone(), &config).unwrap();
            sum += coverage(&model, data, &test);
        }
        let share = sum / seeds as f64;
        assert!((0.86..=0.94).contains(&share), "{share}, keep_draws {keep_draws}");
    }
}

#[test]
fn a_distilled_mean_is_small_and_learns_new_labels() {
    let Planted { data, test } = planted(&pairwise(), 2000, 0.3, 6);
    // Without the last label of the first mode.
    let last = (SIZES[0] - 1) as u32;
    let rows = |is_last: bool| -> Vec<usize> {
        (0..data.len()).filter(|&row| (data.indices(0)[row] == last) == is_last).collect()
    };
    let part = |rows: &[usize]| {
        let column = |mode: usize| rows.iter().map(|&row| data.indices(mode)[row]).collect();
        let values = rows.iter().map(|&row| data.values()[row]).collect();
        let columns = (0..3).map(column).collect();
        Observations::new(modes(), columns, values, None, OnDuplicate::Error).unwrap()
    };
    let with_used_labels = |data: Observations| {
        let names: Vec<Vec<String>> = (0..3)
            .map(|mode| {
                let used = data.indices(mode).iter();
                let mut used: Vec<u32> = used.copied().collect();
                used.sort_unstable();
                used.dedup();
                used.into_iter().map(|label| label.to_string()).collect()
            })
            .collect();
        let columns = (0..3)
            .map(|mode| {
                let find = |label: &u32| {
                    names[mode].iter().position(|name| *name == label.to_string()).unwrap() as u32
                };
                data.indices(mode).iter().map(find).collect()
            })
            .collect();
        let modes = ["a", "b", "c"].iter().zip(&names);
        let modes =
            modes.map(|(name, names)| Mode::new(*name, Labels::from_names(names))).collect();
        Observations::new(modes, columns, data.values().to_vec(), None, OnDuplicate::Error).unwrap()
    };
    for keep_draws in [false, true] {
        let learned = with_used_labels(part(&rows(false)));
        let config = FitConfig { keep_draws, ..quick() };
        let model = quadfill::fit(learned.clone(), &config).unwrap();
        if !keep_draws && model.is_sampled() {
            // A distilled mean, or the few draws that are kept where that would lose too much.
            let rank = model.summary().race.as_ref().unwrap().winner().contender.rank;
            assert!(model.spec().rank <= 16 * rank, "{} columns", model.spec().rank);
        }
        let widths = |cell: [u32; 3]| {
            let columns: [&[u32]; 3] = [&cell[..1], &cell[1..2], &cell[2..]];
            model.half_widths(&columns, 0.9, Some(learned.clone())).unwrap()[0]
        };
        // A label of which nothing is known has an interval, too.
        let (unknown, known) = (widths([UNKNOWN, 1, 2]), widths([0, 1, 2]));
        assert!(unknown > known, "{unknown} and {known}");
        let folded = model.fold_in(with_used_labels(part(&rows(true)))).unwrap();
        assert_eq!(
            folded.predict(&["0", "1", "2"]).unwrap(),
            model.predict(&["0", "1", "2"]).unwrap()
        );
        let (mut squares, mut variance, mut count) = (0.0, 0.0, 0.0);
        for row in (0..test.len()).filter(|&row| test.indices(0)[row] == last) {
            let labels: Vec<String> = (0..3).map(|m| test.indices(m)[row].to_string()).collect();
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let value = test.values()[row];
            squares += (folded.predict(&labels).unwrap() - value).powi(2);
            variance += (value - 3.0).powi(2);
            count += 1.0;
        }
        assert!(count > 20.0 && squares < 0.3 * variance, "{squares} of {variance}");
    }
}
