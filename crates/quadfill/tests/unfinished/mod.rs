//! What tests of fits that did not come to their end have in common.

use quadfill::model::{Kernel, ModelSpec};
use quadfill::solve::Fit;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate, Real};
use quadfill_testkit::{Planted, pairwise_kernel};

/// Two thirds of a 6 x 6 x 6 tensor of rank 3, with noise of a given size.
pub(crate) fn noisy(size: f64) -> Observations {
    let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(6)));
    let mut indices = vec![Vec::new(); 3];
    let mut values = Vec::new();
    for cell in (0..216u32).filter(|cell| cell % 3 != 1) {
        let labels = [cell / 36, cell / 6 % 6, cell % 6];
        for (column, label) in indices.iter_mut().zip(labels) {
            column.push(label);
        }
        let [a, b, c] = labels.map(|label| f64::from(label) - 2.3);
        let noise = f64::from(cell * 7919 % 101) / 300.0;
        values.push(a * b + 0.5 * b * c - a * c + size * noise);
    }
    Observations::new(modes.to_vec(), indices, values, None, OnDuplicate::Error)
        .expect("the data are sound")
}

/// Twice as many cells of another tensor as it has free parameters, without noise. Its rank is 2.
pub(crate) fn exact() -> Observations {
    let planted = Planted::new(&[6; 3], 2, Some(pairwise_kernel(3)), 70, 3);
    let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(6)));
    let (indices, values) = (planted.train, planted.values);
    Observations::new(modes.to_vec(), indices, values, None, OnDuplicate::Error)
        .expect("the data are sound")
}

/// The defaults for a pairwise model of rank 2.
pub(crate) fn config() -> FitConfig {
    FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(3), 2))
}

/// Everything about a fit but the seconds that it took.
pub(crate) fn assert_same<T: Real>(found: &Fit<T>, expected: &Fit<T>, context: &str) {
    assert_eq!(found.spec, expected.spec, "{context}");
    assert_eq!(found.parameters, expected.parameters, "{context}");
    assert_eq!(found.penalty.to_bits(), expected.penalty.to_bits(), "{context}");
    assert_eq!((found.status, found.sweeps), (expected.status, expected.sweeps), "{context}");
    assert_eq!(found.train_rmse.to_bits(), expected.train_rmse.to_bits(), "{context}");
    assert_eq!(found.validation_rmse, expected.validation_rmse, "{context}");
    let path = |fit: &Fit<T>| -> Vec<_> {
        let points = fit.path.iter();
        points.map(|p| (p.penalty, p.train_rmse, p.validation_rmse)).collect()
    };
    assert_eq!(path(found), path(expected), "{context}");
    assert_eq!(found.certificate, expected.certificate, "{context}");
    assert_eq!(found.posterior, expected.posterior, "{context}");
}
