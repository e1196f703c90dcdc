//! The penalties of a path, and when to stop it.

use super::events::PathPoint;

/// The last penalty of a path over its first.
pub(super) const PATH_DEPTH: f64 = 1e-6;

/// Penalties that decrease by a constant factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    pub first: f64,
    pub last: f64,
    pub steps: usize,
}

impl Schedule {
    /// The penalty of a step.
    pub(crate) fn penalty(&self, step: usize) -> f64 {
        if step + 1 >= self.steps {
            return self.last;
        }
        let share = step as f64 / (self.steps - 1) as f64;
        self.first * (self.last / self.first).powf(share)
    }

    /// How many steps one factor of ten takes.
    pub(crate) fn steps_per_decade(&self) -> usize {
        let decades = (self.first / self.last).log10().abs().max(1e-9);
        ((self.steps as f64 / decades).ceil() as usize).max(1)
    }
}

/// Whether the residual has stopped decreasing although the penalty still does: noise.
pub(crate) fn has_levelled_off(path: &[PathPoint], per_decade: usize, deviation: f64) -> bool {
    const LOWEST_FALL: f64 = 0.9;
    let Some(now) = path.last() else { return false };
    if path.len() <= 3 * per_decade || now.train_rmse < 1e-3 * deviation {
        return false;
    }
    let before = &path[path.len() - 1 - per_decade];
    now.train_rmse > LOWEST_FALL * before.train_rmse
}

/// Whether the held-out error has increased for long enough to be past its minimum.
pub(crate) fn is_past_best(path: &[PathPoint], per_decade: usize) -> bool {
    let Some(best) = best_point(path) else {
        return false;
    };
    let patience = per_decade.max(3);
    let worse = path.last().and_then(|p| p.validation_rmse).unwrap_or(0.0);
    path.len() > best + patience && worse > path[best].validation_rmse.unwrap_or(0.0)
}

/// The point with the smallest held-out error.
pub(crate) fn best_point(path: &[PathPoint]) -> Option<usize> {
    path.iter()
        .enumerate()
        .filter_map(|(i, point)| Some((i, point.validation_rmse?)))
        .min_by(|x, y| x.1.total_cmp(&y.1))
        .map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_falls_geometrically_from_first_to_last() {
        let schedule = Schedule { first: 100.0, last: 0.01, steps: 5 };
        let penalties: Vec<f64> = (0..5).map(|i| schedule.penalty(i)).collect();
        for (got, expected) in penalties.iter().zip([100.0, 10.0, 1.0, 0.1, 0.01]) {
            assert!((got / expected - 1.0).abs() < 1e-12);
        }
        assert_eq!(Schedule { first: 1.0, last: 0.5, steps: 1 }.penalty(0), 0.5);
    }

    fn point(train_rmse: f64, validation: f64) -> PathPoint {
        PathPoint { penalty: 1.0, train_rmse, validation_rmse: Some(validation), seconds: 0.0 }
    }

    #[test]
    fn a_level_residual_is_noise_and_a_falling_one_is_not() {
        let level: Vec<_> =
            (0..100).map(|i| point(1.0f64.max(2.0 - 0.1 * f64::from(i)), 0.0)).collect();
        assert!(has_levelled_off(&level, 10, 1.0));
        let falling: Vec<_> = (0..100).map(|i| point(0.9f64.powi(i), 0.0)).collect();
        assert!(!has_levelled_off(&falling, 10, 1.0));
    }

    #[test]
    fn the_best_point_is_left_only_after_some_patience() {
        let errors = |n: u32| {
            (0..n).map(|i| point(1.0, f64::from(i).mul_add(-0.1, 1.0).abs())).collect::<Vec<_>>()
        };
        assert_eq!(best_point(&errors(20)), Some(10));
        assert!(!is_past_best(&errors(14), 5));
        assert!(is_past_best(&errors(17), 5));
    }
}
