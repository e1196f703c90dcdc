//! Who takes part in a race: pairs or products, with biases or without, columns independent or not, and what
//! the leader can be changed to. Settings that are given are the same for all.

use super::contender::{Contender, Method};
use crate::model::{Biases, ModelKind, PenaltyScale};
use crate::solve::config::{FitConfig, Rank, Solver};
use crate::solve::gibbs::{NoisePrior, RowPriorKind};

/// The rank at which families are compared.
const PILOT_RANK: usize = 10;
/// Ranks that the leader is moved to.
const LADDER: [usize; 10] = [1, 2, 3, 5, 10, 20, 32, 56, 90, 128];
/// How much a known error counts: as much as the data, a third, or three times as much.
pub(super) const NOISE_SHARES: [f64; 3] = [1.0, 3.0, 0.3];
/// With more modes there are too many pairs to try without each of them.
const MODES_TO_DROP_PAIRS: usize = 4;

/// The contenders that settings allow for data with so many modes.
pub(super) struct Field<'c> {
    config: &'c FitConfig,
    modes: usize,
    /// The prior of rows, where it is given.
    prior: Option<RowPriorKind>,
    /// The prior of the noise, where it is given.
    noise: Option<NoisePrior>,
}

impl<'c> Field<'c> {
    pub(super) fn new(config: &'c FitConfig, modes: usize) -> Self {
        let (prior, noise) = match config.solver {
            Solver::Gibbs(sampling) => (sampling.prior, sampling.noise),
            _ => (None, None),
        };
        Self { config, modes, prior, noise }
    }

    /// The models that are compared.
    pub(super) fn models(&self) -> Vec<ModelKind> {
        match &self.config.model {
            // With two modes pairs and products are the same.
            ModelKind::Auto if self.modes > 2 => vec![ModelKind::Pairwise, ModelKind::Cp],
            ModelKind::Auto => vec![ModelKind::Pairwise],
            given => vec![given.clone()],
        }
    }

    /// The contenders of the short heats, the most promising first.
    pub(super) fn families(&self) -> Vec<Contender> {
        let rank = match self.config.rank {
            Rank::Fixed(rank) => rank,
            Rank::Auto { max } => PILOT_RANK.min(max.unwrap_or(PILOT_RANK)),
        };
        let (full, diagonal) = (RowPriorKind::Wishart, RowPriorKind::Diagonal);
        let biases = self.config.biases.fixed();
        let mut kinds =
            vec![(Biases::Modes, full), (Biases::None, full), (Biases::Modes, diagonal)];
        kinds.retain(|kind| {
            biases.is_none_or(|given| given == kind.0) && self.prior.is_none_or(|p| p == kind.1)
        });
        if kinds.is_empty() {
            kinds.push((biases.unwrap_or(Biases::Modes), self.prior.unwrap_or(full)));
        }
        let models = self.models();
        let of_kind = |(biases, prior): (Biases, RowPriorKind)| {
            let method = Method::Posterior { prior, noise: self.noise };
            models.iter().map(move |model| Contender { model: model.clone(), rank, biases, method })
        };
        kinds.into_iter().flat_map(of_kind).collect()
    }

    /// Paths of the same models.
    pub(super) fn paths<'h>(
        &self,
        contenders: impl Iterator<Item = &'h Contender>,
    ) -> Vec<Contender> {
        let mut paths: Vec<Contender> = Vec::new();
        if matches!(self.config.solver, Solver::Gibbs(_)) || self.modes < 2 {
            return paths;
        }
        for Contender { model, rank, biases, .. } in contenders {
            let centred = *model == ModelKind::Cp;
            // Centred rows have a mean and biases of their own.
            if centred && *biases != Biases::None && self.config.biases.is_auto() {
                continue;
            }
            for penalty_scale in [PenaltyScale::Uniform, PenaltyScale::Count] {
                let given = self.config.penalty_scale.fixed();
                let method = Method::Path { centred, penalty_scale };
                let path = Contender { model: model.clone(), rank: *rank, biases: *biases, method };
                if given.is_none_or(|given| given == penalty_scale) && !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// The leader changed in one respect, in the order in which that is tried.
    pub(super) fn moves(&self, now: &Contender, error: f64) -> Vec<Contender> {
        let mut moves = Vec::new();
        if let Rank::Auto { max } = self.config.rank {
            let most = max.unwrap_or(LADDER[LADDER.len() - 1]);
            let up = LADDER.into_iter().find(|&rank| rank > now.rank && rank <= most);
            let down = LADDER.into_iter().rev().find(|&rank| rank < now.rank);
            moves.extend([up, down].into_iter().flatten().map(|rank| {
                let moved = Contender { rank, ..now.clone() };
                match now.method {
                    Method::Posterior { noise: Some(noise), .. } => {
                        self.with_noise(&moved, error, noise.share)
                    }
                    _ => moved,
                }
            }));
        }
        if self.noise.is_none() {
            moves.insert(moves.len().min(1), changed(now, |_, noise| *noise = None));
        }
        if self.prior.is_none() {
            moves.push(changed(now, |prior, _| {
                *prior = match prior {
                    RowPriorKind::Diagonal => RowPriorKind::Wishart,
                    RowPriorKind::Wishart => RowPriorKind::Diagonal,
                };
            }));
        }
        if self.config.biases.is_auto() {
            let other = if now.biases == Biases::Modes { Biases::None } else { Biases::Modes };
            moves.push(Contender { biases: other, ..now.clone() });
        }
        moves.extend(NOISE_SHARES.map(|share| self.with_noise(now, error, share)));
        if self.config.model == ModelKind::Auto && self.modes <= MODES_TO_DROP_PAIRS {
            moves.extend(fewer_pairs(now, self.modes));
        }
        moves
    }

    /// The same with a prior of the noise that knows an error, unless it is given.
    pub(super) fn with_noise(&self, contender: &Contender, rmse: f64, share: f64) -> Contender {
        let known = NoisePrior { rmse: rmse.max(f64::MIN_POSITIVE), share };
        changed(contender, |_, noise| *noise = Some(self.noise.unwrap_or(known)))
    }
}

/// The same with other priors.
fn changed(
    contender: &Contender,
    change: impl Fn(&mut RowPriorKind, &mut Option<NoisePrior>),
) -> Contender {
    let mut contender = contender.clone();
    if let Method::Posterior { prior, noise } = &mut contender.method {
        change(prior, noise);
    }
    contender
}

/// The same model without one of its pairs.
fn fewer_pairs(now: &Contender, modes: usize) -> Vec<Contender> {
    let pairs: Vec<(usize, usize)> = match &now.model {
        ModelKind::Pairwise => (0..modes).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
        ModelKind::Pairs(pairs) => pairs.clone(),
        _ => return Vec::new(),
    };
    if pairs.len() < 2 {
        return Vec::new();
    }
    let without = |left_out: usize| {
        let kept = pairs.iter().enumerate().filter(|(at, _)| *at != left_out);
        let model = ModelKind::Pairs(kept.map(|(_, &pair)| pair).collect());
        Contender { model, ..now.clone() }
    };
    (0..pairs.len()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::config::Choice;
    use crate::solve::gibbs::Sampling;

    fn priors_of(contenders: &[Contender]) -> Vec<(RowPriorKind, Option<NoisePrior>)> {
        let posterior = |contender: &Contender| match contender.method {
            Method::Posterior { prior, noise } => Some((prior, noise)),
            Method::Path { .. } => None,
        };
        contenders.iter().filter_map(posterior).collect()
    }

    #[test]
    fn a_sampler_keeps_the_priors_that_it_was_given() {
        let noise = Some(NoisePrior { rmse: 0.5, share: 1.0 });
        let prior = Some(RowPriorKind::Diagonal);
        let solver = Solver::Gibbs(Sampling { prior, noise, ..Sampling::default() });
        let biases = Choice::Fixed(Biases::None);
        let config = FitConfig { biases, solver, ..FitConfig::default() };
        let field = Field::new(&config, 3);
        let families = field.families();
        assert_eq!(families.len(), 2, "pairs and products");
        let moves = field.moves(&families[0], 0.3);
        assert!(moves.iter().any(|contender| contender.rank > families[0].rank));
        assert!(moves.iter().all(|contender| contender.biases == Biases::None));
        for found in priors_of(&families).into_iter().chain(priors_of(&moves)) {
            assert_eq!(found, (RowPriorKind::Diagonal, noise));
        }
        assert!(field.paths(families.iter()).is_empty(), "a sampler was asked for");
    }

    #[test]
    fn paths_run_with_both_scales_of_the_penalty() {
        let config = FitConfig::default();
        let field = Field::new(&config, 3);
        let paths = field.paths(field.families().iter());
        let scaled = |model: &ModelKind, centred: bool, penalty_scale: PenaltyScale| {
            let method = Method::Path { centred, penalty_scale };
            paths.iter().filter(|path| path.model == *model && path.method == method).count()
        };
        for scale in [PenaltyScale::Uniform, PenaltyScale::Count] {
            assert_eq!(scaled(&ModelKind::Pairwise, false, scale), 2, "with biases and without");
            assert_eq!(scaled(&ModelKind::Cp, true, scale), 1, "its rows have biases of their own");
        }
    }
}
