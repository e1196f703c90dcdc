//! The alternating direction method of multipliers: a step towards the data, a projection onto the
//! positive semidefinite matrices, and multipliers that make the two agree.

use super::data_step::DataStep;
use super::program::Program;
use quadfill_kernels::dense::PsdCone;
use quadfill_kernels::sum::{dot, norm2};

/// How far the data step is overshot.
const OVER_RELAXATION: f64 = 1.6;
/// Iterations between two looks at the balance of the residuals, at first; later ones are further
/// apart, because changes of the balance for ever would not converge.
const FIRST_BALANCE: usize = 10;
/// Residuals that differ by less than this factor are in balance.
const IN_BALANCE: f64 = 2.0;
/// The most that one look changes the weight.
const MOST_CHANGE: f64 = 10.0;

/// Two matrices that are to become one, and what their difference costs.
pub(super) struct Admm {
    /// The one that suits the data.
    suited: Vec<f64>,
    /// The positive semidefinite one.
    pub(super) positive: Vec<f64>,
    /// Scaled multipliers of their difference.
    price: Vec<f64>,
    work: Vec<f64>,
    /// A copy of the diagonal for the terms that see it alone, with its multipliers.
    diagonal: Option<Copied>,
    pub(super) data: DataStep,
    pub(super) cone: PsdCone,
    rho: f64,
    iterations: usize,
    next_balance: usize,
    /// The size of the slope of the data term at zero, below which slopes do not matter.
    slope_size: f64,
    /// The size of the smallest symmetric matrix that suits the data.
    pub(super) first_size: f64,
    /// How far the two matrices differ, relative to their size.
    pub(super) primal_residual: f64,
    /// How far the slope of the Lagrangian is from zero, relative to the multipliers.
    pub(super) dual_residual: f64,
}

struct Copied {
    entries: Vec<f64>,
    price: Vec<f64>,
}

impl Admm {
    /// At zero, with the weight that the sizes of data and costs suggest.
    pub(super) fn new(program: &Program) -> Self {
        let n = program.order();
        let mut data = DataStep::new(program);
        // The smallest matrix that suits the data tells how large the solution is.
        let mut suited = vec![0.0; n * n];
        data.solve(program, 1e-6 * typical_stiffness(program), 1e-6, &mut suited);
        let size = norm2(&suited);
        let slopes = program.data_slopes(&program.sensing.values);
        let mut work = vec![0.0; n * n];
        program.sensing.add_slope(&slopes, &mut work);
        let slope_size = norm2(&work);
        let cost = norm2(&program.rows);
        let price = if cost > 0.0 { cost } else { 1e-3 * slope_size };
        let rho = if size > 0.0 && price > 0.0 { price / size } else { 1.0 };
        data.multipliers.fill(0.0);
        Self {
            suited,
            positive: vec![0.0; n * n],
            price: vec![0.0; n * n],
            work,
            diagonal: program
                .diagonal
                .is_some()
                .then(|| Copied { entries: vec![0.0; n], price: vec![0.0; n] }),
            data,
            cone: PsdCone::new(n),
            rho,
            iterations: 0,
            next_balance: FIRST_BALANCE,
            slope_size: if program.is_exact() { 0.0 } else { slope_size },
            first_size: size,
            primal_residual: f64::INFINITY,
            dual_residual: f64::INFINITY,
        }
    }

    /// One iteration. Returns whether the projection succeeded.
    pub(super) fn step(&mut self, program: &Program) -> bool {
        let n = program.order();
        self.aim(program);
        // The data step need not be better than what is still to be gained.
        let accuracy = (1e-3 * self.primal_residual).clamp(1e-13, 1e-4);
        self.data.solve(program, self.rho, accuracy, &mut self.suited);
        for ((price, x), z) in self.price.iter_mut().zip(&self.suited).zip(&self.positive) {
            *price += OVER_RELAXATION * x + (1.0 - OVER_RELAXATION) * z;
        }
        self.work.copy_from_slice(&self.price);
        if self.cone.project(&mut self.work).is_none() {
            return false;
        }
        for (price, z) in self.price.iter_mut().zip(&self.work) {
            *price -= z;
        }
        let (mut moved, mut apart) = (0.0, 0.0);
        for row in 0..n {
            let at = row * n..row * n + n;
            let (old, new) = (&self.positive[at.clone()], &self.work[at.clone()]);
            moved += squared_distance(new, old);
            apart += squared_distance(new, &self.suited[at]);
        }
        std::mem::swap(&mut self.positive, &mut self.work);
        let mut prices = dot(&self.price, &self.price);
        if let (Some(copied), Some(term)) = (&mut self.diagonal, &program.diagonal) {
            let before = copied.entries.clone();
            for i in 0..n {
                let suited = self.suited[i * n + i];
                copied.price[i] +=
                    OVER_RELAXATION * suited + (1.0 - OVER_RELAXATION) * copied.entries[i];
            }
            copied.entries.copy_from_slice(&copied.price);
            term.shrink(&mut copied.entries, self.rho);
            for i in 0..n {
                copied.price[i] -= copied.entries[i];
                apart += (copied.entries[i] - self.suited[i * n + i]).powi(2);
            }
            moved += squared_distance(&copied.entries, &before);
            prices += dot(&copied.price, &copied.price);
        }
        // Where zero is optimal only sizes that matter for the data tell small from large.
        let floor = if self.first_size > 0.0 { 1e-3 * self.first_size } else { 1.0 };
        let size = norm2(&self.suited).max(norm2(&self.positive)).max(floor);
        self.primal_residual = apart.sqrt() / size;
        let costs = (self.rho * prices.sqrt()).max(1e-3 * self.slope_size);
        self.dual_residual = self.rho * moved.sqrt() / costs.max(f64::MIN_POSITIVE);
        self.iterations += 1;
        self.balance();
        true
    }

    /// Writes where the data step starts from: the positive matrix less prices and linear costs.
    fn aim(&mut self, program: &Program) {
        let n = program.order();
        for i in 0..n {
            let at = i * n..i * n + n;
            let target = &mut self.suited[at.clone()];
            let (positive, price) = (&self.positive[at.clone()], &self.price[at]);
            for ((t, z), u) in target.iter_mut().zip(positive).zip(price) {
                *t = z - u;
            }
            if let Some(c) = &program.perturbation {
                for (t, c) in target.iter_mut().zip(c.row(i)) {
                    *t -= c / self.rho;
                }
            }
            target[i] -= program.rows[i] / self.rho;
            if let Some(copied) = &self.diagonal {
                target[i] = 0.5 * (target[i] + copied.entries[i] - copied.price[i]);
            }
        }
    }

    /// Changes the weight of the difference so that both residuals fall together.
    fn balance(&mut self) {
        if self.iterations < self.next_balance {
            return;
        }
        self.next_balance = self.iterations + FIRST_BALANCE.max(self.iterations / 4);
        let ratio = self.primal_residual / self.dual_residual;
        if !(ratio.is_finite() && ratio > 0.0) || (1.0 / IN_BALANCE..IN_BALANCE).contains(&ratio) {
            return;
        }
        let change = ratio.sqrt().clamp(1.0 / MOST_CHANGE, MOST_CHANGE);
        self.rho *= change;
        for price in &mut self.price {
            *price /= change;
        }
        if let Some(copied) = &mut self.diagonal {
            for price in &mut copied.price {
                *price /= change;
            }
        }
    }
}

/// How strongly the data pull at an entry, on the whole.
fn typical_stiffness(program: &Program) -> f64 {
    if program.is_exact() {
        return 1.0;
    }
    2.0 * program.sensing.shares.iter().sum::<f64>() / program.sensing.len() as f64
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
