//! The forms on vectors: a prediction's products and its slope, and their derivatives.

use super::{Form, MAX_OTHERS};
use crate::Real;
use crate::simd::Simd;

/// Some lanes of the row worked on and of the rows a cell picks (the first `count` of them).
#[derive(Clone, Copy)]
pub(super) struct Lanes<V> {
    pub(super) own: V,
    pub(super) others: [V; MAX_OTHERS],
}

/// The weights of a quadratic form, each in all lanes.
#[derive(Clone, Copy)]
pub(super) struct Weights<V> {
    own: V,
    twice_own: V,
    twice_cross: [V; MAX_OTHERS],
    /// Row `b` up to the diagonal; twice the weight off the diagonal, as each pair is met once.
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

/// A form, lane by lane.
pub(super) trait LaneForm {
    /// The slope, and `sums` plus the products that make up the prediction: two sums, so that
    /// additions wait less for one another.
    fn slope<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]);

    /// The derivative along `d` of the slope, and `sum` plus the derivative of the products.
    fn turn<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        d: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector);
}

/// [`Form::Product`].
pub(super) struct Product;

impl LaneForm for Product {
    #[inline(always)]
    fn slope<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        let mut product = at.others[0];
        for b in 1..count {
            product = simd.mul(product, at.others[b]);
        }
        (product, [simd.mul_add(at.own, product, sums[0]), sums[1]])
    }

    #[inline(always)]
    fn turn<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        d: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        // The product rule, one factor at a time.
        let (mut product, mut turn) = (at.others[0], d.others[0]);
        for b in 1..count {
            turn = simd.mul_add(turn, at.others[b], simd.mul(product, d.others[b]));
            product = simd.mul(product, at.others[b]);
        }
        let sum = simd.mul_add(d.own, product, sum);
        (turn, simd.mul_add(at.own, turn, sum))
    }
}

/// [`Form::Quadratic`]. Without `SQUARES` no row meets itself, as in the pairwise model, and
/// those terms are left out.
pub(super) struct Quadratic<const SQUARES: bool>;

impl<const SQUARES: bool> LaneForm for Quadratic<SQUARES> {
    #[inline(always)]
    fn slope<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        let (u, v) = (at.own, &at.others);
        let mut cross = simd.mul(weights.twice_cross[0], v[0]);
        for b in 1..count {
            cross = simd.mul_add(weights.twice_cross[b], v[b], cross);
        }
        let (mut slope, mut half) = (cross, cross);
        if SQUARES {
            slope = simd.mul_add(weights.twice_own, u, cross);
            half = simd.mul_add(weights.own, u, cross);
        }
        let own = simd.mul_add(u, half, sums[0]);
        let mut among = sums[1];
        if SQUARES {
            among = simd.mul_add(v[0], simd.mul(weights.among[0][0], v[0]), among);
        }
        for b in 1..count {
            let mut met = simd.mul(weights.among[b][0], v[0]);
            for c in 1..b + usize::from(SQUARES) {
                met = simd.mul_add(weights.among[b][c], v[c], met);
            }
            among = simd.mul_add(v[b], met, among);
        }
        (slope, [own, among])
    }

    #[inline(always)]
    fn turn<T: Real, S: Simd<T>>(
        simd: S,
        weights: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        d: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        let (v, dv) = (&at.others, &d.others);
        let mut slope = simd.mul(weights.twice_own, at.own);
        let mut cross = simd.mul(weights.twice_cross[0], dv[0]);
        slope = simd.mul_add(weights.twice_cross[0], v[0], slope);
        for b in 1..count {
            cross = simd.mul_add(weights.twice_cross[b], dv[b], cross);
            slope = simd.mul_add(weights.twice_cross[b], v[b], slope);
        }
        let mut sum = simd.mul_add(d.own, slope, sum);
        sum = simd.mul_add(at.own, cross, sum);
        for b in 0..count {
            for c in 0..=b {
                let both = simd.mul_add(dv[b], v[c], simd.mul(v[b], dv[c]));
                sum = simd.mul_add(weights.among[b][c], both, sum);
            }
        }
        (simd.mul_add(weights.twice_own, d.own, cross), sum)
    }
}

/// [`Form::Quadratic`] where every two rows meet with weight one and none meets itself: the pairwise
/// model itself, which needs additions where others need products.
pub(super) struct Pairwise;

impl Pairwise {
    /// Whether a form is this one.
    #[inline(always)]
    fn is<T: Real>(form: &Form<T>) -> bool {
        let Form::Quadratic { own, cross, among } = *form else { return false };
        let count = cross.len();
        let is_one = |weight: T| weight + weight == T::ONE;
        let is_met = |(at, &weight): (usize, &T)| {
            if at % (count + 1) == 0 { weight == T::ZERO } else { is_one(weight) }
        };
        own == T::ZERO
            && cross.iter().all(|&weight| is_one(weight))
            && among.iter().enumerate().all(is_met)
    }
}

impl LaneForm for Pairwise {
    #[inline(always)]
    fn slope<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        count: usize,
        sums: [S::Vector; 2],
    ) -> (S::Vector, [S::Vector; 2]) {
        // Each row meets the sum of those before it.
        let (mut slope, mut among) = (at.others[0], sums[1]);
        for b in 1..count {
            among = simd.mul_add(at.others[b], slope, among);
            slope = simd.add(slope, at.others[b]);
        }
        (slope, [simd.mul_add(at.own, slope, sums[0]), among])
    }

    #[inline(always)]
    fn turn<T: Real, S: Simd<T>>(
        simd: S,
        _: &Weights<S::Vector>,
        at: &Lanes<S::Vector>,
        d: &Lanes<S::Vector>,
        count: usize,
        sum: S::Vector,
    ) -> (S::Vector, S::Vector) {
        let (mut slope, mut turn, mut sum) = (at.others[0], d.others[0], sum);
        for b in 1..count {
            sum = simd.mul_add(d.others[b], slope, sum);
            sum = simd.mul_add(at.others[b], turn, sum);
            slope = simd.add(slope, at.others[b]);
            turn = simd.add(turn, d.others[b]);
        }
        let sum = simd.mul_add(d.own, slope, sum);
        (turn, simd.mul_add(at.own, turn, sum))
    }
}

/// Something to do with a form and a number of other modes (0: any) known to the compiler.
pub(super) trait PerForm<T: Real> {
    /// Does it.
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S);
}

/// Does `then` with the form and number of other modes, the common numbers compiled for.
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
