//! Small random problems that exercise every term of the objective.

use std::sync::Arc;

use proptest::prelude::*;
use quadfill::model::{Biases, Kernel, ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale, Perturbation, RowNormPenalty};
use quadfill::views::Views;
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::streams;
use quadfill_testkit::random_kernel;

/// Everything that makes up a small problem.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each switches one term on")]
pub(crate) struct Problem {
    pub(crate) sizes: Vec<usize>,
    pub(crate) rank: usize,
    pub(crate) product: bool,
    pub(crate) diagonal: bool,
    pub(crate) tied: bool,
    pub(crate) biases: Biases,
    pub(crate) weighted: bool,
    pub(crate) incoherent: bool,
    pub(crate) perturbed: bool,
    pub(crate) centred: bool,
    pub(crate) scale: PenaltyScale,
    pub(crate) observations: usize,
    pub(crate) seed: u64,
}

/// Any small problem.
pub(crate) fn problems() -> impl Strategy<Value = Problem> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let terms = (any::<bool>(), any::<bool>(), any::<bool>(), 0..3usize);
    (prop::collection::vec(2..6usize, 2..=4), 1..5usize, switches, terms, 1..40usize, any::<u64>())
        .prop_map(|(mut sizes, rank, switches, terms, observations, seed)| {
            let (product, diagonal, tied, weighted) = switches;
            if tied {
                let last = sizes.len() - 1;
                sizes[last] = sizes[0];
            }
            let cells: usize = sizes.iter().product();
            Problem {
                rank,
                product,
                diagonal,
                tied,
                biases: [Biases::None, Biases::Mean, Biases::Modes][terms.3],
                weighted,
                incoherent: terms.0,
                // The one is for quadratic models, the other for CP.
                perturbed: terms.1 && !product,
                centred: terms.1 && product,
                scale: if terms.2 { PenaltyScale::Count } else { PenaltyScale::Uniform },
                observations: observations.min(cells),
                seed,
                sizes,
            }
        })
}

impl Problem {
    pub(crate) fn spec(&self) -> ModelSpec {
        let modes = self.sizes.len();
        let spec = if self.product {
            ModelSpec::cp(modes, self.rank)
        } else {
            let mut kernel = random_kernel(modes, self.seed);
            if !self.diagonal {
                (0..modes).for_each(|a| kernel[a * modes + a] = 0.0);
            }
            let rows: Vec<Vec<f64>> = kernel.chunks(modes).map(<[f64]>::to_vec).collect();
            ModelSpec::quadratic(Kernel::new(&rows).unwrap(), self.rank)
        };
        let spec = spec
            .with_biases(self.biases)
            .with_centre(self.product && self.centred)
            .with_penalty_scale(self.scale);
        if self.tied { spec.with_tied(&[0, modes - 1]) } else { spec }
    }

    pub(crate) fn data(&self) -> Observations {
        let mut draws = vec![0.0; 2 * self.observations];
        streams::fill_normal(&mut draws, &mut streams::stream(self.seed, 1, 0));
        let cells: usize = self.sizes.iter().product();
        // Every third, seventh, .. cell: distinct because the step has no factor in common.
        let step = (1..99).map(|k| 2 * k * 7919 + 1).find(|s| gcd(*s, cells) == 1).unwrap();
        let indices = (0..self.sizes.len())
            .map(|mode| {
                let below: usize = self.sizes[..mode].iter().product();
                (0..self.observations)
                    .map(|i| (i * step % cells / below % self.sizes[mode]) as u32)
                    .collect()
            })
            .collect();
        let (values, weights) = draws.split_at(self.observations);
        let weights = self.weighted.then(|| weights.iter().map(|w| w.abs()).collect());
        let modes = self.sizes.iter().enumerate();
        let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
        Observations::new(modes, indices, values.to_vec(), weights, OnDuplicate::Error).unwrap()
    }

    pub(crate) fn objective<'v>(&self, views: &'v Views<f64>) -> Objective<'v, f64> {
        let spec = self.spec();
        let rows = spec.group_sizes(&self.sizes).iter().sum();
        // The perturbation is given for a penalty of 1: its norm is at most 0.02 here.
        Objective::new(views, &spec, 0.03, self.scale)
            .with_row_norm_penalty(self.incoherent.then(|| RowNormPenalty::new(0.5, 0.2).unwrap()))
            .with_perturbation(
                self.perturbed
                    .then(|| Arc::new(Perturbation::random(rows, 0.02 / 0.03, self.seed).unwrap())),
            )
    }

    /// Parameters with every number drawn, biases included.
    pub(crate) fn point(&self, stream: u64) -> Parameters<f64> {
        let spec = self.spec();
        let mut point = Parameters::random(&spec, &self.sizes, 0.9, self.seed ^ stream);
        if self.biases != Biases::None {
            point.mean = 0.3;
        }
        if self.biases == Biases::Modes {
            let mut rng = streams::stream(self.seed, 2, stream);
            for (group, rows) in spec.group_sizes(&self.sizes).into_iter().enumerate() {
                let mut biases = vec![0.0; rows];
                streams::fill_normal(&mut biases, &mut rng);
                for (label, &bias) in biases.iter().enumerate() {
                    point.set_bias(group, label, bias);
                }
            }
        }
        point
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
