//! The damping of a step: the smallest that lowers the objective.

const MAX_TRIES: usize = 10;
const FIRST: f64 = 1e-6;
const LEAST: f64 = 1e-12;

/// The damping that the last step needed; initially zero.
#[derive(Debug, Default)]
pub(super) struct Damping(f64);

impl Damping {
    /// Tries steps, each damped more than the last, until one succeeds.
    pub(super) fn until_down<S>(&mut self, mut attempt: impl FnMut(f64) -> Option<S>) -> Option<S> {
        for _ in 0..MAX_TRIES {
            if let Some(step) = attempt(self.0) {
                self.0 = if self.0 > LEAST { self.0 / 10.0 } else { 0.0 };
                return Some(step);
            }
            self.0 = if self.0 == 0.0 { FIRST } else { self.0 * 10.0 };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damping_grows_until_a_step_succeeds_and_falls_after_it() {
        let mut damping = Damping::default();
        let mut tried = Vec::new();
        let found = damping.until_down(|strength| {
            tried.push(strength);
            (strength > 5e-6).then_some(strength)
        });
        assert_eq!(tried[..2], [0.0, FIRST]);
        assert_eq!((found, tried.len()), (Some(FIRST * 10.0), 3));
        assert_eq!(damping.until_down(Some), Some(FIRST * 10.0 / 10.0));
        assert_eq!(damping.until_down(|_| None::<()>), None);
    }
}
