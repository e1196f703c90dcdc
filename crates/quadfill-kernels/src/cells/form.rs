//! The forms on SIMD vectors: predictions, their Jacobians, and directional derivatives of both.

use super::{Form, MAX_OTHERS};
use crate::Real;
use crate::simd::Simd;

/// One SIMD vector of the current row and one of each row that a cell picks (the first `count`).
#[derive(Clone, Copy)]
pub(super) struct Lanes<V> {
    pub(super) own: V,
    pub(super) others: [V; MAX_OTHERS],
}

/// The weights of a quadratic form, each broadcast to all lanes.
#[derive(Clone, Copy)]
pub(super) struct Weights<V> {
    own: V,
    twice_own: V,
    twice_cross: [V; MAX_OTHERS],
    /// The lower triangle. Weights off the diagonal are doubled, as each pair is visited once.
    among: [[V; MAX_OTHERS]; MAX_OTHERS],
}

impl<V: Copy> Weights<V> {
    #[inline(always)]
    pub(super) fn new<T: Real, S: Simd<T, Vector = V>>(
        simd: S,
        form: &Form<T>,
        count: usize,
    ) -> Self {
        let zero = simd.splat(T::ZERO);
        let mut weights = Self {
            own: zero,
            twice_own: zero,
            twice_cross: [zero; MAX_OTHERS],
            among: [[zero; MAX_OTHERS]; MAX_OTHERS],
        };
        if let Form::Quadratic { own, cross, among } = *form {
            weights.own = simd.splat(own);
            weights.twice_own = simd.splat(own + own);
            for b in 0..count {
                weights.twice_cross[b] = simd.splat(cross[b] + cross[b]);
                for c in 0..b {
                    let weight = among[b * count + c];
                    weights.among[b][c] = simd.splat(weight + weight);
                }
                weights.among[b][b] = simd.splat(among[b * count + b]);
            }
        }
        weights
    }
}

/// A form, evaluated lane by lane.
pub(super) trait LaneForm {
    /// The Jacobian, and `sums` plus the terms of the prediction. Two independent sums shorten the
    /// chain of dependent additions.
    fn jacobian<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]);

    /// The derivative of the Jacobian along `direction`, and `sum` plus the derivative of the
    /// prediction.
    fn jacobian_derivative<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        direction: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector);
}

/// [`Form::Product`].
pub(super) struct Product;

impl LaneForm for Product {
    #[inline(always)]
    fn jacobian<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        let mut product = point.others[0];
        for b in 1..count {
            product = simd.mul(product, point.others[b]);
        }
        (product, [simd.mul_add(point.own, product, sums[0]), sums[1]])
    }

    #[inline(always)]
    fn jacobian_derivative<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        direction: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        // The product rule, one factor at a time.
        let (mut product, mut derivative) = (point.others[0], direction.others[0]);
        for b in 1..count {
            derivative =
                simd.mul_add(derivative, point.others[b], simd.mul(product, direction.others[b]));
            product = simd.mul(product, point.others[b]);
        }
        let sum = simd.mul_add(direction.own, product, sum);
        (derivative, simd.mul_add(point.own, derivative, sum))
    }
}

/// [`Form::Quadratic`]. Without `SQUARES` the form has no terms `<u,u>` or `<v_b,v_b>`, as in the
/// pairwise model, and they are skipped.
pub(super) struct Quadratic<const SQUARES: bool>;

impl<const SQUARES: bool> LaneForm for Quadratic<SQUARES> {
    #[inline(always)]
    fn jacobian<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        let (u, v) = (point.own, &point.others);
        let mut cross = simd.mul(weights.twice_cross[0], v[0]);
        for b in 1..count {
            cross = simd.mul_add(weights.twice_cross[b], v[b], cross);
        }
        let (mut jacobian, mut linear) = (cross, cross);
        if SQUARES {
            jacobian = simd.mul_add(weights.twice_own, u, cross);
            linear = simd.mul_add(weights.own, u, cross);
        }
        let own = simd.mul_add(u, linear, sums[0]);
        let mut among = sums[1];
        if SQUARES {
            among = simd.mul_add(v[0], simd.mul(weights.among[0][0], v[0]), among);
        }
        for b in 1..count {
            let mut row_sum = simd.mul(weights.among[b][0], v[0]);
            for c in 1..b + usize::from(SQUARES) {
                row_sum = simd.mul_add(weights.among[b][c], v[c], row_sum);
            }
            among = simd.mul_add(v[b], row_sum, among);
        }
        (jacobian, [own, among])
    }

    #[inline(always)]
    fn jacobian_derivative<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        direction: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        let (v, dv) = (&point.others, &direction.others);
        let mut jacobian = simd.mul(weights.twice_own, point.own);
        let mut cross = simd.mul(weights.twice_cross[0], dv[0]);
        jacobian = simd.mul_add(weights.twice_cross[0], v[0], jacobian);
        for b in 1..count {
            cross = simd.mul_add(weights.twice_cross[b], dv[b], cross);
            jacobian = simd.mul_add(weights.twice_cross[b], v[b], jacobian);
        }
        let mut sum = simd.mul_add(direction.own, jacobian, sum);
        sum = simd.mul_add(point.own, cross, sum);
        for b in 0..count {
            for c in 0..=b {
                let derivative = simd.mul_add(dv[b], v[c], simd.mul(v[b], dv[c]));
                sum = simd.mul_add(weights.among[b][c], derivative, sum);
            }
        }
        (simd.mul_add(weights.twice_own, direction.own, cross), sum)
    }
}

/// [`Form::Quadratic`] with weight one for every pair of different rows and no squares: the
/// pairwise model, which needs additions where other forms need multiplications.
pub(super) struct Pairwise;

impl Pairwise {
    /// Whether `form` is the pairwise model.
    #[inline(always)]
    fn is<T: Real>(form: &Form<T>) -> bool {
        let Form::Quadratic { own, cross, among } = *form else { return false };
        let count = cross.len();
        let is_one = |weight: T| weight + weight == T::ONE;
        let is_expected = |(at, &weight): (usize, &T)| {
            if at % (count + 1) == 0 { weight == T::ZERO } else { is_one(weight) }
        };
        own == T::ZERO
            && cross.iter().all(|&weight| is_one(weight))
            && among.iter().enumerate().all(is_expected)
    }
}

impl LaneForm for Pairwise {
    #[inline(always)]
    fn jacobian<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        // Each row is multiplied by the sum of the rows before it.
        let (mut jacobian, mut among) = (point.others[0], sums[1]);
        for b in 1..count {
            among = simd.mul_add(point.others[b], jacobian, among);
            jacobian = simd.add(jacobian, point.others[b]);
        }
        (jacobian, [simd.mul_add(point.own, jacobian, sums[0]), among])
    }

    #[inline(always)]
    fn jacobian_derivative<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        point: &Lanes<S::Vector>,
        direction: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        let (mut jacobian, mut derivative, mut sum) = (point.others[0], direction.others[0], sum);
        for b in 1..count {
            sum = simd.mul_add(direction.others[b], jacobian, sum);
            sum = simd.mul_add(point.others[b], derivative, sum);
            jacobian = simd.add(jacobian, point.others[b]);
            derivative = simd.add(derivative, direction.others[b]);
        }
        let sum = simd.mul_add(direction.own, jacobian, sum);
        (derivative, simd.mul_add(point.own, derivative, sum))
    }
}

/// An operation compiled for a form and a number of other modes (0: any number).
pub(super) trait PerForm<T: Real> {
    /// Runs the operation.
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S);
}

/// Runs `then` specialised to the form and, where it is common, to the number of other modes.
#[inline(always)]
pub(super) fn per_form<T: Real, S: Simd<T>>(
    simd: S,
    form: &Form<T>,
    count: usize,
    then: impl PerForm<T>,
) {
    match *form {
        Form::Product => per_count::<T, S, Product>(simd, count, then),
        _ if Pairwise::is(form) => per_count::<T, S, Pairwise>(simd, count, then),
        Form::Quadratic { own, among, .. } => {
            let squares = own != T::ZERO || among.iter().step_by(count + 1).any(|&x| x != T::ZERO);
            if squares {
                per_count::<T, S, Quadratic<true>>(simd, count, then);
            } else {
                per_count::<T, S, Quadratic<false>>(simd, count, then);
            }
        }
    }
}

#[inline(always)]
fn per_count<T: Real, S: Simd<T>, F: LaneForm>(simd: S, count: usize, then: impl PerForm<T>) {
    match count {
        1 => then.with::<S, F, 1>(simd),
        2 => then.with::<S, F, 2>(simd),
        3 => then.with::<S, F, 3>(simd),
        _ => then.with::<S, F, 0>(simd),
    }
}
