//! The whole front door, on a small noisy data set with names, in both precisions.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod sources;

use quadfill::apply::Part;
use quadfill::certify::CertifyOptions;
use quadfill::model::{ModelKind, UNKNOWN};
use quadfill::objective::RowNormPenalty;
use quadfill::solve::{Choice, Precision, Rank, Sampling, SdpForm, Solver, Status};
use quadfill::{Error, FitConfig, Labels, Mode, Model, Observations, OnDuplicate, Setting};
use quadfill_testkit::{Planted, pairwise_kernel};

const SIZES: [usize; 3] = [14, 11, 6];
const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

/// Names that are neither numbers nor in the order of the alphabet.
fn names(mode: usize) -> Vec<String> {
    let letter = ["person", "film", "wéék"][mode];
    (0..SIZES[mode]).map(|label| format!("{letter} {}", (label * 5 + 3) % SIZES[mode])).collect()
}

fn modes() -> Vec<Mode> {
    let name = ["who", "what", "when"];
    (0..3).map(|mode| Mode::new(name[mode], Labels::from_names(names(mode)))).collect()
}

/// Noisy cells of a tensor about a mean of 3, and other cells without noise.
fn data() -> (Observations, Observations) {
    let mut planted = Planted::new(&SIZES, 2, Some(pairwise_kernel(3)), 420, 8);
    planted.add_noise(0.1, 8);
    let shifted = |values: &[f64]| values.iter().map(|value| value + 3.0).collect();
    let make = |columns: &[Vec<u32>], values: &[f64]| {
        let (columns, values) = (columns.to_vec(), shifted(values));
        Observations::new(modes(), columns, values, None, OnDuplicate::Error).unwrap()
    };
    (make(&planted.train, &planted.values), make(&planted.test, &planted.test_values))
}

fn config(precision: Precision) -> FitConfig {
    FitConfig {
        rank: Rank::Auto { max: Some(4) },
        path_steps: Choice::Fixed(40),
        precision: Choice::Fixed(precision),
        ..FitConfig::default()
    }
}

fn fitted(precision: Precision) -> Model {
    quadfill::fit(data().0, &config(precision)).unwrap()
}

/// Labels of every `step`th cell.
fn cells(step: usize) -> Vec<[String; 3]> {
    let all = SIZES.iter().product::<usize>();
    (0..all)
        .step_by(step)
        .map(|i| [i % SIZES[0], i / SIZES[0] % SIZES[1], i / SIZES[0] / SIZES[1]])
        .map(|at| [0, 1, 2].map(|mode| names(mode)[at[mode]].clone()))
        .collect()
}

fn predict(model: &Model, cell: &[String; 3]) -> f64 {
    model.predict(&[&cell[0], &cell[1], &cell[2]]).unwrap()
}

fn assert_same_predictions(one: &Model, other: &Model) {
    for cell in cells(7) {
        assert_eq!(predict(one, &cell).to_bits(), predict(other, &cell).to_bits(), "{cell:?}");
    }
}

#[test]
fn a_fit_predicts_and_is_judged() {
    for precision in PRECISIONS {
        let ((train, test), model) = (data(), fitted(precision));
        let summary = model.summary();
        assert_eq!((summary.precision, summary.observations), (precision, train.len()));
        assert_eq!(summary.status, Status::Validated);
        assert!((2..=4).contains(&model.rank()), "{}", model.rank());
        assert_eq!(model.kind(), ModelKind::Pairwise);
        let judged = model.evaluate(&test).unwrap();
        assert_eq!((judged.count, judged.unknown), (test.len(), 0));
        assert!(judged.relative_error < 0.1, "{judged:?}");
        assert_eq!(model.evaluate(&train).unwrap().rmse, {
            let columns = model.find_columns(&train).unwrap();
            let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            model.evaluate_cells(&columns, train.values()).rmse
        });
        // By name, by index, and many at once.
        for cell in cells(29) {
            let at = model.find_cell(&[&cell[0], &cell[1], &cell[2]]).unwrap();
            assert_eq!(predict(&model, &cell), model.predict_cell(&at));
            let columns = at.iter().map(std::slice::from_ref).collect::<Vec<_>>();
            assert_eq!(model.predict_cells(&columns), [predict(&model, &cell)]);
        }
        // Other labels in another order make no difference; unknown ones count.
        let mut strange = modes();
        strange[0].labels = Labels::from_names(["stranger", "person 1"]);
        strange[1].labels = Labels::from_names(["film 2"]);
        strange[2].labels = Labels::from_names(["wéék 0"]);
        let indices = vec![vec![0, 1], vec![0, 0], vec![0, 0]];
        let strange =
            Observations::new(strange, indices, vec![1.0, 2.0], None, OnDuplicate::Error).unwrap();
        assert_eq!(model.evaluate(&strange).unwrap().unknown, 1);
        let known = model.predict(&["person 1", "film 2", "wéék 0"]).unwrap();
        let (film, week) =
            (model.find_label(1, "film 2").unwrap(), model.find_label(2, "wéék 0").unwrap());
        let unknown = model.predict_cell(&[UNKNOWN, film, week]);
        let mse = 0.5 * ((unknown - 1.0).powi(2) + (known - 2.0).powi(2));
        assert!((model.evaluate(&strange).unwrap().mse - mse).abs() < 1e-12 * mse);
    }
}

#[test]
fn the_best_labels_are_those_with_the_best_predictions() {
    for precision in PRECISIONS {
        let model = fitted(precision);
        let given = [("when", "wéék 4"), ("who", "person 7")];
        let mut all: Vec<(f64, String)> = names(1)
            .into_iter()
            .map(|film| (model.predict(&["person 7", &film, "wéék 4"]).unwrap(), film))
            .collect();
        all.sort_by(|x, y| y.0.total_cmp(&x.0));
        for (k, count) in [(1, 1), (4, 4), (100, SIZES[1])] {
            let best = model.top(&given, "what", k).unwrap();
            assert_eq!(best.len(), count);
            for (found, (score, label)) in best.iter().zip(&all) {
                assert_eq!(&found.label, label);
                assert!((found.score - score).abs() < 1e-5 * (1.0 + score.abs()));
            }
            // Modes have numbers, too.
            assert_eq!(model.top(&given, "2", k).unwrap(), best);
        }
    }
}

#[test]
fn explanations_influences_intervals_and_certificates() {
    for precision in PRECISIONS {
        let ((train, test), model) = (data(), fitted(precision));
        let labels = ["person 2", "film 9", "wéék 1"];
        let cell = model.find_cell(&labels).unwrap();
        let explained = model.explain(&labels).unwrap();
        assert_eq!(explained.prediction, model.predict(&labels).unwrap());
        let sum: f64 = explained.parts.iter().map(Part::value).sum();
        assert!((sum - explained.prediction).abs() < 1e-9);

        let influences = model.influences(train.clone(), &cell).unwrap();
        assert_eq!(influences.len(), 3);
        for (mode, of_mode) in influences.iter().enumerate() {
            let rows = train.indices(mode).iter().filter(|&&label| label == cell[mode]).count();
            assert_eq!(of_mode.len(), rows);
            assert!(of_mode.iter().all(|found| found.cell[mode] == cell[mode]));
            assert!(of_mode.windows(2).all(|pair| pair[0].effect.abs() >= pair[1].effect.abs()));
            assert!(of_mode[0].effect != 0.0);
            assert!(of_mode.iter().all(|found| (0.0..=1.0 + 1e-9).contains(&found.leverage)));
        }

        let columns = model.find_columns(&test).unwrap();
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let widths = |level| model.half_widths(&columns, level, Some(train.clone())).unwrap();
        let (narrow, wide) = (widths(0.5), widths(0.99));
        assert_eq!(narrow.len(), test.len());
        assert!(narrow.iter().zip(&wide).all(|(x, y)| 0.0 < *x && x < y && y.is_finite()));
        let predictions = model.predict_cells(&columns);
        let errors = predictions.iter().zip(test.values()).map(|(p, y)| (p - y).abs());
        let inside = errors.zip(&wide).filter(|(error, width)| error <= width).count();
        assert!(inside as f64 > 0.95 * test.len() as f64, "{inside} of {}", test.len());

        let stored = model.certificate().unwrap();
        let options = CertifyOptions { curvature: false, seed: model.summary().config.seed };
        let anew = model.certify(train.clone(), &options).unwrap();
        // The fit has held-out cells at other places, so its sums are in another order.
        let digits = if precision == Precision::F32 { 1e-6 } else { 1e-13 };
        assert!((anew.objective / stored.objective - 1.0).abs() < digits, "{anew:?} {stored:?}");
        assert!((anew.gap / stored.gap - 1.0).abs() < 10.0 * digits, "{anew:?} {stored:?}");
        assert_eq!((anew.outcome, anew.rank), (stored.outcome, stored.rank));
        assert!(anew.objective > 0.0 && anew.gap >= 0.0 && anew.gap <= anew.objective);
        let options = CertifyOptions { curvature: true, ..options };
        assert!(model.certify(train, &options).unwrap().curvature_min.is_some());
    }
}

/// Observations of one new person: what person 3 would say.
fn newcomer(model: &Model) -> Observations {
    let films = names(1);
    let weeks = names(2);
    let mut new = modes();
    new[0].labels = Labels::from_names(["newcomer"]);
    let count = films.len() * weeks.len();
    let indices = vec![
        vec![0; count],
        (0..count).map(|i| (i % films.len()) as u32).collect(),
        (0..count).map(|i| (i / films.len()) as u32).collect(),
    ];
    let values = (0..count)
        .map(|i| model.predict(&["person 3", &films[i % films.len()], &weeks[i / films.len()]]))
        .collect::<Result<_, _>>()
        .unwrap();
    Observations::new(new, indices, values, None, OnDuplicate::Error).unwrap()
}

#[test]
fn newcomers_and_more_data() {
    for precision in PRECISIONS {
        let ((train, test), model) = (data(), fitted(precision));
        let folded = model.fold_in(newcomer(&model)).unwrap();
        assert_eq!(folded.modes()[0].labels.len(), SIZES[0] + 1);
        assert_same_predictions(&folded, &model);
        for film in ["film 0", "film 8"] {
            let (new, old) = (
                folded.predict(&["newcomer", film, "wéék 2"]),
                model.predict(&["person 3", film, "wéék 2"]),
            );
            let (new, old) = (new.unwrap(), old.unwrap());
            assert!((new - old).abs() < 0.05 * (1.0 + old.abs()), "{new} {old}");
        }
        assert!(matches!(
            model.predict(&["newcomer", "film 0", "wéék 2"]),
            Err(Error::UnknownLabel { mode, label }) if mode == "who" && label == "newcomer"
        ));

        // All data, the newcomer's with them.
        let all = {
            let (extended, new) =
                quadfill::observations::ExtendedModes::new(&modes(), &[0, 1, 2], newcomer(&model))
                    .unwrap();
            let (train, unknown) = train.clone().relabelled(&extended.modes).unwrap();
            assert_eq!(unknown, 0);
            train.join(new)
        };
        let updated = model.update(all.clone()).unwrap();
        assert_eq!(updated.summary().observations, all.len());
        assert_eq!(updated.summary().precision, precision);
        assert_eq!(updated.summary().penalty, model.summary().penalty);
        assert_eq!((updated.rank(), updated.spec().biases), (model.rank(), model.spec().biases));
        assert!(updated.predict(&["newcomer", "film 0", "wéék 2"]).unwrap().is_finite());
        let (before, after) = (model.evaluate(&test).unwrap(), updated.evaluate(&test).unwrap());
        assert!(after.relative_error < 1.2 * before.relative_error, "{before:?} {after:?}");
        // The same data again: a little further down, and no other model.
        let again = model.update(train).unwrap();
        let value = |model: &Model| model.certificate().unwrap().objective;
        assert!(
            value(&again) <= value(&model) * (1.0 + 1e-6),
            "{} {}",
            value(&again),
            value(&model)
        );
        let shift = again.evaluate(&test).unwrap().relative_error / before.relative_error;
        assert!((0.8..1.25).contains(&shift), "{shift}");
    }
}

#[test]
fn models_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    for precision in PRECISIONS {
        let model = fitted(precision);
        let path = folder.path().join(format!("{precision:?}"));
        model.save(&path).unwrap();
        let (saved, bytes) = (Model::load(&path).unwrap(), model.to_bytes().unwrap());
        let parsed = Model::from_bytes(&bytes).unwrap();
        for same in [&saved, &parsed] {
            assert_eq!(same.summary().precision, precision);
            assert_eq!(same.to_bytes().unwrap(), bytes);
            let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
            let stored = file.tensor("factors.1").unwrap().dtype().to_string();
            assert_eq!(stored, format!("{precision:?}"));
            assert_same_predictions(same, &model);
            assert_eq!(same.certificate(), model.certificate());
            // And can be used as the fit itself.
            let (mine, theirs) = (model.fold_in(newcomer(&model)), same.fold_in(newcomer(same)));
            assert_eq!(mine.unwrap().to_bytes().unwrap(), theirs.unwrap().to_bytes().unwrap());
            let (mine, theirs) = (model.update(data().0), same.update(data().0));
            assert_eq!(mine.unwrap().to_bytes().unwrap(), theirs.unwrap().to_bytes().unwrap());
        }
    }
}

/// Data with two modes.
fn flat() -> Observations {
    let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    let indices = vec![vec![0, 1, 1], vec![0, 0, 1]];
    Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error).unwrap()
}

#[test]
fn what_cannot_be_answered_is_a_typed_error() {
    for precision in PRECISIONS {
        let ((train, _), model) = (data(), fitted(precision));
        let sound = ["person 2", "film 9", "wéék 1"];
        for (cell, mode) in
            [(["x", sound[1], sound[2]], "who"), ([sound[0], sound[1], "wéék 01"], "when")]
        {
            let label = cell.iter().find(|label| !sound.contains(label)).unwrap();
            for error in [model.predict(&cell).unwrap_err(), model.explain(&cell).unwrap_err()] {
                let Error::UnknownLabel { mode: named, label: said } = &error else {
                    panic!("{error:?}")
                };
                assert_eq!((named.as_str(), said.as_str()), (mode, *label));
            }
        }
        let missing = |result: Result<(), Error>, name: &str| {
            assert!(matches!(result, Err(Error::MissingLabel { mode }) if mode == name));
        };
        missing(model.predict(&sound[..2]).map(|_| ()), "when");
        missing(model.explain(&[]).map(|_| ()), "who");
        missing(model.top(&[("when", sound[2])], "what", 3).map(|_| ()), "who");
        missing(model.influences(train.clone(), &[0, UNKNOWN, 0]).map(|_| ()), "what");
        let four = [sound[0], sound[1], sound[2], "more"];
        assert!(matches!(model.predict(&four), Err(Error::OtherModes { expected: 3, got: 4 })));
        let given = [("who", sound[0]), ("when", sound[2])];
        assert!(matches!(
            model.top(&given, "whom", 3),
            Err(Error::UnknownMode { name, modes }) if name == "whom" && modes == ["who", "what", "when"]
        ));
        assert!(matches!(model.top(&[("4", "x")], "what", 3), Err(Error::UnknownMode { .. })));
        let twice = [("who", sound[0]), ("1", sound[0]), ("when", sound[2])];
        assert!(matches!(
            model.top(&twice, "what", 3),
            Err(Error::RepeatedMode { mode }) if mode == "who"
        ));
        assert!(matches!(
            model.top(&given, "who", 3),
            Err(Error::RepeatedMode { mode }) if mode == "who"
        ));

        let other =
            |error: Option<Error>| matches!(error, Some(Error::OtherModes { expected: 3, got: 2 }));
        let options = CertifyOptions { curvature: false, seed: 0 };
        assert!(other(model.evaluate(&flat()).err()));
        assert!(other(model.fold_in(flat()).err()));
        assert!(other(model.update(flat()).err()));
        assert!(other(model.certify(flat(), &options).err()));
        assert!(other(model.influences(flat(), &[0, 0, 0]).err()));
        assert!(other(model.half_widths(&[&[0], &[0], &[0]], 0.9, Some(flat())).err()));

        let mut strange = modes();
        strange[1].labels = Labels::from_names((0..11).map(|i| format!("other {i}")));
        let (_, indices, values, _) = train.clone().into_parts();
        let strange =
            Observations::new(strange, indices, values, None, OnDuplicate::Error).unwrap();
        assert!(matches!(model.certify(strange, &options), Err(Error::NothingInCommon)));

        let unsupported = |error: Option<Error>| matches!(error, Some(Error::Unsupported(_)));
        assert!(unsupported(model.fold_in(train.clone()).err()));
        for level in [0.0, 1.0, f64::NAN] {
            let widths = model.half_widths(&[&[0], &[0], &[0]], level, Some(train.clone()));
            assert!(unsupported(widths.err()));
        }
        assert!(unsupported(model.half_widths(&[&[0], &[0], &[0]], 0.9, None).err()));
        assert!(matches!(
            Model::load("/nowhere/at/all"),
            Err(Error::ModelFile { path, .. }) if path.starts_with("/nowhere")
        ));
        assert!(matches!(Model::from_bytes(b"x"), Err(Error::ModelFile { .. })));
    }
    let (modes, indices, mut values, _) = data().0.into_parts();
    values[7] = 1e300;
    let huge = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    assert!(matches!(
        quadfill::fit(huge, &config(Precision::F32)),
        Err(Error::BeyondSingle { number }) if number == 1e300
    ));
}

/// What cannot be fitted, one reason each.
fn refused() -> Vec<(FitConfig, Setting)> {
    let base = FitConfig::default;
    let gibbs = |sampling| Solver::Gibbs(sampling);
    let default = Sampling::default;
    let one = Choice::Fixed(0.1);
    let alpha = RowNormPenalty { alpha: 1.0, weight: 1.0 };
    vec![
        (FitConfig { tolerance: -1.0, ..base() }, Setting::Tolerance),
        (FitConfig { validation: 1.0, ..base() }, Setting::Validation),
        (FitConfig { penalty: Choice::Fixed(-1.0), ..base() }, Setting::Penalty),
        (FitConfig { penalty: Choice::Fixed(0.0), ..base() }, Setting::Penalty),
        (FitConfig { path_steps: Choice::Fixed(0), ..base() }, Setting::PathSteps),
        (FitConfig { time_limit: Some(0.0), ..base() }, Setting::TimeLimit),
        (FitConfig { rank: Rank::Fixed(0), ..base() }, Setting::Rank),
        (FitConfig { rank: Rank::Fixed(5000), ..base() }, Setting::Rank),
        (FitConfig { solver: Solver::Gd(Choice::Fixed(0.0)), ..base() }, Setting::Step),
        (FitConfig { perturb: true, model: ModelKind::Cp, ..base() }, Setting::Perturb),
        (FitConfig { ties: vec![vec!["who".to_owned()]], ..base() }, Setting::Ties),
        (FitConfig { penalty: one, model: ModelKind::Cp, ..base() }, Setting::Rank),
        (FitConfig { implicit: Some(0.1), ..base() }, Setting::Penalty),
        (FitConfig { implicit: Some(-0.1), penalty: one, ..base() }, Setting::Implicit),
        (
            FitConfig { implicit: Some(0.1), penalty: one, model: ModelKind::Transe, ..base() },
            Setting::Negatives,
        ),
        (
            FitConfig {
                implicit: Some(0.1),
                penalty: one,
                row_norm_penalty: Some(alpha),
                ..base()
            },
            Setting::RowNormPenalty,
        ),
        (FitConfig { solver: gibbs(default()), penalty: one, ..base() }, Setting::Penalty),
        (FitConfig { solver: gibbs(default()), sweeps: Some(3), ..base() }, Setting::Samples),
        (
            FitConfig { solver: gibbs(Sampling { chains: 0, ..default() }), ..base() },
            Setting::Chains,
        ),
        (
            FitConfig { solver: gibbs(Sampling { thin: Some(301), ..default() }), ..base() },
            Setting::Thin,
        ),
        (
            FitConfig {
                solver: Solver::Sdp(Choice::Fixed(SdpForm::Penalised)),
                penalty: one,
                ..base()
            },
            Setting::RowNormPenalty,
        ),
        (
            FitConfig { model: ModelKind::Learned, solver: gibbs(default()), ..base() },
            Setting::Solver,
        ),
    ]
}

#[test]
fn messages_name_settings_in_backticks() {
    for (config, setting) in refused() {
        let error = quadfill::fit(data().0, &config).unwrap_err();
        let Error::Setting(inside) = &error else { panic!("{error:?}") };
        let message = error.to_string();
        assert!(inside.settings.contains(&setting), "{setting} in {message}");
        assert_eq!(inside.settings, error.settings());
        for named in error.settings() {
            assert!(message.contains(&named.to_string()), "{named} in {message}");
        }
        for quoted in message.split('`').skip(1).step_by(2) {
            let known = Setting::from_name(quoted);
            assert!(known.is_some_and(|known| error.settings().contains(&known)), "{message}");
        }
    }
    let sampling = Solver::Gibbs(Sampling { burn_in: 1, samples: 2, ..Sampling::default() });
    let rank = Rank::Fixed(1);
    let drawn =
        quadfill::fit(data().0, &FitConfig { solver: sampling, rank, ..FitConfig::default() });
    let drawn = drawn.unwrap();
    let options = CertifyOptions { curvature: false, seed: 0 };
    let repeated = || {
        let (modes, _, _, _) = flat().into_parts();
        let indices = vec![vec![0, 0], vec![1, 1]];
        Observations::new(modes, indices, vec![1.0, 2.0], None, OnDuplicate::Error).unwrap_err()
    };
    for (error, setting) in [
        (drawn.certify(data().0, &options).unwrap_err(), Setting::Solver),
        (drawn.update(data().0).unwrap_err(), Setting::Solver),
        (drawn.influences(data().0, &[0, 0, 0]).unwrap_err(), Setting::Solver),
        (drawn.evaluate(&flat()).unwrap_err(), Setting::Modes),
        (repeated(), Setting::OnDuplicate),
        (Error::BeyondSingle { number: 1e99 }, Setting::Precision),
    ] {
        assert_eq!(error.settings(), [setting], "{error}");
        assert!(error.to_string().contains(&setting.to_string()), "{error}");
    }
    for &setting in Setting::ALL {
        assert_eq!(Setting::from_name(setting.name()), Some(setting));
    }
}

/// A program has flags; the library does not know of them.
#[test]
fn no_message_of_the_library_speaks_of_flags() {
    let mut literals = 0;
    for source in sources::all() {
        for literal in &source.literals {
            let found =
                literal.contains(" --") || literal.contains("`--") || literal.starts_with("--");
            assert!(!found, "{}: {literal}", source.path.display());
            literals += 1;
        }
    }
    assert!(literals > 300, "the literals were found: {literals}");
}
