//! Vectors for other programs: an index of one mode that serves every context.

use serde::Serialize;

use super::top::Order;
use crate::fitted::{Model, with_numbers};
use crate::model::Interaction;
use crate::model::Predictor;
use quadfill_kernels::Real;

/// How a query vector is computed from the rows of the other modes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Recipe {
    /// The sum of their first `rank` entries, each times its weight.
    Sum {
        /// The weight of each other mode that interacts.
        weights: Vec<(usize, f64)>,
    },
    /// The product of their first `rank` entries, entry by entry.
    Product {
        /// The other modes.
        modes: Vec<usize>,
    },
}

/// The vectors of one mode and how to query them.
///
/// The prediction of a cell is a term that depends on its other labels alone, plus the inner
/// product of the vector with a query vector: the [`recipe`](Self::recipe) of the other rows and, if
/// vectors have one more entry than the rank, a 1 for it. So one index of the vectors for the largest
/// inner product serves every context.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Entries of a vector: the rank, and one more where labels have biases or the kernel a diagonal.
    pub width: usize,
    /// Entries that are factors.
    pub rank: usize,
    /// One vector after the other.
    pub vectors: Vec<f64>,
    /// How to compute a query.
    pub recipe: Recipe,
    /// Whether the largest or the smallest inner product is best.
    pub order: Order,
}

impl<T: Real> Predictor<'_, T> {
    /// The vectors of a mode for an index of inner products.
    ///
    /// ```
    /// use quadfill::apply::Recipe;
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
    /// let parameters = Parameters::<f64>::random(&spec, &[4, 5, 6], 1.0, 7);
    /// let export = Predictor::new(&spec, &parameters).export(1);
    /// assert_eq!((export.width, export.vectors.len()), (2, 10));
    /// assert_eq!(export.recipe, Recipe::Sum { weights: vec![(0, 1.0), (2, 1.0)] });
    /// ```
    pub fn export(&self, mode: usize) -> Export {
        let group = self.spec.groups[mode];
        let rank = self.spec.rank;
        let extended = self.has_row_offsets(mode);
        let labels = self.parameters.layout().rows()[group];
        let mut vectors = Vec::with_capacity(labels * (rank + usize::from(extended)));
        for label in 0..labels {
            vectors.extend(self.parameters.row(group, label).iter().map(|u| u.to_f64()));
            if extended {
                vectors.push(self.row_offset(mode, label as u32));
            }
        }
        let others = (0..self.spec.modes()).filter(|&b| b != mode);
        let recipe = match &self.spec.interaction {
            Interaction::Quadratic(kernel) => Recipe::Sum {
                weights: others
                    .map(|b| (b, 2.0 * kernel.get(mode, b)))
                    .filter(|&(_, weight)| weight != 0.0)
                    .collect(),
            },
            Interaction::Cp => Recipe::Product { modes: others.collect() },
        };
        let order = Order::of(&self.spec.interaction);
        Export { width: rank + usize::from(extended), rank, vectors, recipe, order }
    }
}

impl Model {
    /// The vectors of a mode for an index of inner products.
    pub fn export(&self, mode: usize) -> Export {
        with_numbers!(&self.numbers, fitted => fitted.predictor(&self.spec).export(mode))
    }
}
