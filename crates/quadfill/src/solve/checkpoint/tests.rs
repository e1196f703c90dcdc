//! States survive the round trip through bytes, and damaged bytes are refused.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::model::{Biases, Kernel};
use crate::observations::{Mode, Observations, OnDuplicate};
use crate::solve::events::PathPoint;
use crate::solve::state::{
    Approach, Beginning, Best, Candidate, Descent, EarlyStopping, ExactAttempt, ExactSearch,
    HoldOutSearch, RankTrial, Refit, Stair, Trace, Trial, TrialResult,
};

const SIZES: [usize; 3] = [6; 3];

fn data() -> Observations {
    let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(6))).to_vec();
    let indices = vec![vec![0, 5, 2], vec![1, 4, 2], vec![2, 3, 2]];
    Observations::new(modes, indices, vec![0.5, -1.0, 2.0], None, OnDuplicate::Error)
        .expect("the data are sound")
}

fn config() -> FitConfig {
    FitConfig::for_spec(&spec())
}

fn spec() -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes)
}

fn fingerprint<T: Real>() -> Fingerprint {
    Fingerprint::new::<T>(&data().into(), &config())
}

fn position() -> Position {
    Position {
        base: spec().with_biases(Biases::None).with_rank(7),
        sweeps: 40,
        seconds: 0.7,
        race: None,
    }
}

fn point(train_rmse: f64) -> PathPoint {
    PathPoint { penalty: 0.1 + 0.2, train_rmse, validation_rmse: Some(1.0 / 3.0), seconds: 0.1 }
}

/// A descent with every field filled.
fn descent<T: Real>(seed: u64) -> Descent<Parameters<T>> {
    let spec = spec();
    let mut parameters = Parameters::random(&spec, &SIZES, 1.0, seed);
    parameters.set_bias(1, 2, T::from_f64(-0.1));
    parameters.mean = 0.1 + 0.2;
    let path = vec![point(2.0_f64.sqrt()), point(f64::INFINITY)];
    let trace = Trace { step: 3, objective: f64::MAX, stalled: 1, path };
    Descent { spec, first_penalty: 2.0_f64.sqrt(), parameters, trace }
}

fn best<T: Real>() -> Best<Parameters<T>> {
    let spec = spec().with_biases(Biases::Mean).with_rank(4);
    let parameters = Parameters::random(&spec, &SIZES, 1.0, 2);
    Best { spec, parameters, penalty: 1.0 / 3.0, rmse: f64::INFINITY }
}

fn trial() -> Trial {
    let beginning = Some(Beginning { quarter: -3, start: 2, rests: true });
    Trial { biases: Biases::Mean, rank: 4, centred: true, beginning }
}

fn candidate() -> Candidate {
    Candidate {
        trial: trial(),
        penalty: 1.0 / 3.0,
        validation_rmse: f64::INFINITY,
        path: vec![point(1e300)],
    }
}

/// Every state but that of the sampler, with every field filled and with those empty that can be.
fn states<T: Real>() -> Vec<State<Parameters<T>>> {
    let trials = vec![
        RankTrial { rank: 3, result: TrialResult::Close },
        RankTrial { rank: 6, result: TrialResult::Exact },
        RankTrial { rank: 1, result: TrialResult::Noisy },
    ];
    let exact = |attempt| {
        State::Exact(ExactSearch {
            trials: trials.clone(),
            smallest: Some(descent(1)),
            attempt: Some(attempt),
        })
    };
    let plain = Trial { biases: Biases::Modes, rank: 2, centred: false, beginning: None };
    let refit = |approach| {
        State::Refit(Refit {
            chosen: candidate(),
            sweep_budget: 17,
            validation_rmse: f64::INFINITY,
            best: best(),
            approach,
        })
    };
    vec![
        State::LearnKernel,
        State::Convex,
        State::Exact(ExactSearch::default()),
        exact(ExactAttempt::Wide(descent(2))),
        exact(ExactAttempt::Trimmed(descent(3))),
        exact(ExactAttempt::Polish(descent(4))),
        State::HoldOut(HoldOutSearch::default()),
        State::HoldOut(HoldOutSearch {
            candidates: vec![candidate(), candidate()],
            best: Some(best()),
            descent: Some((plain, descent(5))),
        }),
        State::EarlyStopping(EarlyStopping {
            chosen: candidate(),
            best: best(),
            descent: descent(6),
        }),
        refit(Approach::Down(descent(7))),
        refit(Approach::AtPenalty(descent(8))),
        State::FixedPenalty(Approach::Down(descent(9))),
        State::FixedPenalty(Approach::AtPenalty(descent(10))),
        State::Staircase(Stair::Sweeps(descent(11))),
        State::Staircase(Stair::Newton(descent(12))),
    ]
}

fn comes_back<T: Real>() {
    for state in states::<T>() {
        let bytes = to_bytes(&fingerprint::<T>(), &position(), state.clone()).expect("written");
        let (found, same) = parse::<T>(&bytes, &fingerprint::<T>(), &SIZES).expect("it is sound");
        assert_eq!((found, same), (position(), state));
    }
}

#[test]
fn every_state_comes_back_as_it_was() {
    comes_back::<f32>();
    comes_back::<f64>();
}

/// The same fingerprint with other sizes cannot occur in practice, but must not panic.
#[test]
fn other_sizes_and_precisions_are_refused() {
    for state in states::<f64>().into_iter().filter(|s| s != &State::LearnKernel) {
        let bytes = to_bytes(&fingerprint::<f64>(), &position(), state.clone()).expect("written");
        for sizes in [&[6, 6, 5][..], &[]] {
            let is_empty = matches!(&state, State::Convex)
                || state == State::Exact(ExactSearch::default())
                || state == State::HoldOut(HoldOutSearch::default());
            let found = parse::<f64>(&bytes, &fingerprint::<f64>(), sizes);
            assert!(found.is_err() || (is_empty && !sizes.is_empty()), "{sizes:?}");
        }
        assert!(parse::<f32>(&bytes, &fingerprint::<f32>(), &SIZES).is_err());
    }
    let many = to_bytes(&fingerprint::<f64>(), &position(), states::<f64>().swap_remove(7));
    let many = many.expect("written");
    assert!(parse::<f32>(&many, &fingerprint::<f64>(), &SIZES).is_err());
}

#[test]
fn precision_is_part_of_the_settings() {
    assert_ne!(fingerprint::<f32>(), fingerprint::<f64>());
    assert_eq!(fingerprint::<f32>().data, fingerprint::<f64>().data);
}

static SOUND: LazyLock<Vec<(State<Parameters<f64>>, Vec<u8>)>> = LazyLock::new(|| {
    let written = |state: &State<_>| to_bytes(&fingerprint::<f64>(), &position(), state.clone());
    states().into_iter().map(|state| (state.clone(), written(&state).expect("written"))).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_it_panic(
        which in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (state, mut bytes) = SOUND[which.index(SOUND.len())].clone();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(keep) = keep {
            bytes.truncate(keep.index(bytes.len()));
        }
        // What is accepted is what was saved: only the way it is written may differ.
        if let Ok(found) = parse::<f64>(&bytes, &fingerprint::<f64>(), &SIZES) {
            prop_assert_eq!(found, (position(), state));
        }
    }
}
