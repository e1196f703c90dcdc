//! Pages about fits to small generated data.

use quadfill::model::Biases;
use quadfill::solve::{Choice, Effort, NoObserver, Rank, Solver};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_report::{FitStory, KnownCells, Page, Recorder, fit_page};
use quadfill_testkit::{Planted, pairwise_kernel};

/// The labels of each of the three modes.
const LABELS: usize = 15;

/// A fit along the path of penalties.
pub(crate) fn along_the_path() -> FitConfig {
    FitConfig {
        rank: Rank::Fixed(2),
        biases: Choice::Fixed(Biases::None),
        solver: Solver::Path,
        ..FitConfig::default()
    }
}

/// A short race.
pub(crate) fn raced() -> FitConfig {
    FitConfig { effort: Effort::Quick, ..FitConfig::default() }
}

/// The page about a fit to noisy data, with test data or without, and the model.
pub(crate) fn fitted(config: &FitConfig, with_test: bool) -> (Page, Model) {
    let mut planted = Planted::new(&[LABELS; 3], 2, Some(pairwise_kernel(3)), 700, 1);
    planted.add_noise(0.1, 1);
    let modes =
        (1..=3).map(|mode| Mode::new(format!("mode{mode}"), Labels::range(LABELS))).collect();
    let all = Observations::new(modes, planted.train, planted.values, None, OnDuplicate::Error)
        .expect("valid observations");
    let (data, test) = all.split_random(0.3, 1).expect("split");
    let mut nothing = NoObserver;
    let mut recorder = Recorder::new(&mut nothing);
    let model = quadfill::fit_with(data.clone(), config, &mut recorder).expect("fitted");
    let steps = recorder.into_steps();
    let free_parameters = model.spec().degrees_of_freedom(&data.sizes());
    let columns = model.find_columns(&test).expect("the modes of the model");
    let cells = KnownCells { columns: &columns, values: test.values() };
    let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let page = fit_page(&FitStory {
        name: "planted data".to_owned(),
        data: &data,
        summary: &data.summary_for(2, free_parameters),
        model: &model,
        steps: &steps,
        test: with_test.then(|| model.evaluate_cells(&slices, test.values())),
        test_cells: with_test.then_some(cells),
        seconds: 0.1,
    });
    (page, model)
}
