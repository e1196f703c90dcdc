//! The alternating direction method of multipliers: a step towards the data, a projection onto the
//! positive semidefinite matrices, and multipliers that make the two agree.

use super::anderson::Anderson;
use super::data_step::DataStep;
use super::program::Program;
use quadfill_kernels::dense::PsdCone;
use quadfill_kernels::sum::{dot, norm2};

/// The over-relaxation factor of the data step.
const OVER_RELAXATION: f64 = 1.6;
/// Iterations between the first two checks of the balance of the residuals; later ones are further
/// apart, because endless changes of the weight would not converge.
const FIRST_BALANCE: usize = 10;
/// Residuals that differ by less than this factor are in balance.
const IN_BALANCE: f64 = 2.0;
/// The maximum change of the weight in one check.
const MOST_CHANGE: f64 = 10.0;
/// Iterations within which the residuals should have halved. Where they have not, balanced
/// residuals do not show which weight is good, and others are tried in turn.
const PATIENCE: usize = 500;
/// What the weight is changed by, one after the other: three times down, then back above.
const OTHER_WEIGHTS: [f64; 4] = [0.1, 0.1, 0.1, 1e4];

/// Iterations from one extrapolation to the next. The plain ones in between show whether it helped.
const JUMP_EVERY: usize = 5;
/// An extrapolated point is rejected if the next step is longer than before by this factor.
const WORTHWHILE: f64 = 2.0;

/// Two matrices that are to become one, and what their difference costs.
pub(super) struct Admm {
    /// The one that fits the data.
    suited: Vec<f64>,
    /// The positive semidefinite one.
    pub(super) positive: Vec<f64>,
    /// Scaled multipliers of their difference.
    scaled_dual: Vec<f64>,
    work: Vec<f64>,
    /// A copy of the diagonal for the terms that see it alone, with its multipliers.
    diagonal: Option<Copied>,
    pub(super) data: DataStep,
    pub(super) cone: PsdCone,
    anderson: Anderson,
    /// After an extrapolation: where the plain step led, and how far that was.
    jumped: Option<(Vec<f64>, f64)>,
    rho: f64,
    iterations: usize,
    next_balance: usize,
    /// Both residuals together when they were last seen to fall, and how many weights were tried since.
    fallen_to: f64,
    next_look: usize,
    tried: usize,
    /// The size of the gradient of the data term at zero, below which gradients do not matter.
    gradient_size: f64,
    /// The size of the smallest symmetric matrix that fits the data.
    pub(super) first_size: f64,
    /// How far the two matrices differ, relative to their size.
    pub(super) primal_residual: f64,
    /// How far the gradient of the Lagrangian is from zero, relative to the multipliers.
    pub(super) dual_residual: f64,
}

struct Copied {
    entries: Vec<f64>,
    scaled_dual: Vec<f64>,
}

impl Admm {
    /// At zero, with the weight that the sizes of data and costs suggest.
    pub(super) fn new(program: &Program) -> Self {
        let n = program.order();
        let mut data = DataStep::new(program);
        // The smallest matrix that fits the data gives the scale of the solution.
        let mut suited = vec![0.0; n * n];
        data.solve(program, 1e-6 * typical_stiffness(program), 1e-6, &mut suited);
        let size = norm2(&suited);
        let gradients = program.data_gradient(&program.sensing.values);
        let mut work = vec![0.0; n * n];
        program.sensing.add_adjoint(&gradients, &mut work);
        let gradient_size = norm2(&work);
        let cost = norm2(&program.rows);
        let scaled_dual = if cost > 0.0 { cost } else { 1e-3 * gradient_size };
        let rho = if size > 0.0 && scaled_dual > 0.0 { scaled_dual / size } else { 1.0 };
        data.multipliers.fill(0.0);
        Self {
            suited,
            positive: vec![0.0; n * n],
            scaled_dual: vec![0.0; n * n],
            work,
            diagonal: program
                .diagonal
                .is_some()
                .then(|| Copied { entries: vec![0.0; n], scaled_dual: vec![0.0; n] }),
            data,
            cone: PsdCone::new(n),
            anderson: Anderson::default(),
            jumped: None,
            rho,
            iterations: 0,
            next_balance: FIRST_BALANCE,
            fallen_to: f64::INFINITY,
            next_look: PATIENCE,
            tried: 0,
            gradient_size: if program.is_exact() { 0.0 } else { gradient_size },
            first_size: size,
            primal_residual: f64::INFINITY,
            dual_residual: f64::INFINITY,
        }
    }

    /// One iteration. Returns whether the projection succeeded.
    pub(super) fn step(&mut self, program: &Program) -> bool {
        let from = self.state();
        self.aim(program);
        // The data step need not be more accurate than the residuals.
        let accuracy = (1e-3 * self.primal_residual).clamp(1e-13, 1e-4);
        self.data.solve(program, self.rho, accuracy, &mut self.suited);
        let to = self.relaxed();
        let distance = self.anderson.observe(&from, &to);
        self.iterations += 1;
        if let Some((plain, before)) = self.jumped.take()
            && (distance.is_nan() || distance > WORTHWHILE * before)
        {
            self.anderson.clear();
            return self.project_state(program, &plain).is_some();
        }
        if self.iterations % JUMP_EVERY == 1 {
            let mut ahead = vec![0.0; to.len()];
            if self.anderson.extrapolate(&mut ahead) {
                self.jumped = Some((to, distance));
                return self.project_state(program, &ahead).is_some();
            }
        }
        let Some(moved) = self.project_state(program, &to) else { return false };
        self.measure(moved);
        self.balance();
        true
    }

    /// Reverts an extrapolation that has not been checked yet.
    pub(super) fn revert_jump(&mut self, program: &Program) {
        if let Some((plain, _)) = self.jumped.take() {
            self.anderson.clear();
            // A projection that fails leaves the extrapolated point, which is feasible, too.
            let _ = self.project_state(program, &plain);
        }
    }

    /// The point of the iteration as one vector: the matrix before its projection, and the diagonal
    /// before it is shrunk.
    fn state(&self) -> Vec<f64> {
        let mut state: Vec<f64> =
            self.positive.iter().zip(&self.scaled_dual).map(|(z, u)| z + u).collect();
        if let Some(copied) = &self.diagonal {
            state.extend(copied.entries.iter().zip(&copied.scaled_dual).map(|(d, u)| d + u));
        }
        state
    }

    /// Where the data step leads from it.
    fn relaxed(&self) -> Vec<f64> {
        let mix = |x: f64, z: f64| OVER_RELAXATION * x + (1.0 - OVER_RELAXATION) * z;
        let matrices = self.scaled_dual.iter().zip(&self.suited).zip(&self.positive);
        let mut next: Vec<f64> = matrices.map(|((u, &x), &z)| u + mix(x, z)).collect();
        if let Some(copied) = &self.diagonal {
            let n = copied.entries.len();
            next.extend(
                (0..n).map(|i| {
                    copied.scaled_dual[i] + mix(self.suited[i * n + i], copied.entries[i])
                }),
            );
        }
        next
    }

    /// Projects a state. Returns the squared distance that projections have moved.
    fn project_state(&mut self, program: &Program, state: &[f64]) -> Option<f64> {
        let entries = self.positive.len();
        self.work.copy_from_slice(&state[..entries]);
        self.cone.project(&mut self.work)?;
        for ((scaled_dual, w), z) in self.scaled_dual.iter_mut().zip(state).zip(&self.work) {
            *scaled_dual = w - z;
        }
        let mut moved = squared_distance(&self.work, &self.positive);
        std::mem::swap(&mut self.positive, &mut self.work);
        if let (Some(copied), Some(term)) = (&mut self.diagonal, &program.diagonal) {
            let before = std::mem::replace(&mut copied.entries, state[entries..].to_vec());
            term.shrink(&mut copied.entries, self.rho);
            for ((scaled_dual, w), d) in
                copied.scaled_dual.iter_mut().zip(&state[entries..]).zip(&copied.entries)
            {
                *scaled_dual = w - d;
            }
            moved += squared_distance(&copied.entries, &before);
        }
        Some(moved)
    }

    /// The residuals after a step that was not extrapolated.
    fn measure(&mut self, moved: f64) {
        let mut apart = squared_distance(&self.positive, &self.suited);
        let mut scaled_duals = dot(&self.scaled_dual, &self.scaled_dual);
        if let Some(copied) = &self.diagonal {
            let n = copied.entries.len();
            let far = |i: usize| (copied.entries[i] - self.suited[i * n + i]).powi(2);
            apart += (0..n).map(far).sum::<f64>();
            scaled_duals += dot(&copied.scaled_dual, &copied.scaled_dual);
        }
        // Where zero is optimal only sizes that matter for the data tell small from large.
        let floor = if self.first_size > 0.0 { 1e-3 * self.first_size } else { 1.0 };
        let size = norm2(&self.suited).max(norm2(&self.positive)).max(floor);
        self.primal_residual = apart.sqrt() / size;
        let costs = (self.rho * scaled_duals.sqrt()).max(1e-3 * self.gradient_size);
        self.dual_residual = self.rho * moved.sqrt() / costs.max(f64::MIN_POSITIVE);
    }

    /// Writes where the data step starts from: the positive semidefinite matrix minus the scaled duals
    /// and linear costs.
    fn aim(&mut self, program: &Program) {
        let n = program.order();
        for i in 0..n {
            let at = i * n..i * n + n;
            let target = &mut self.suited[at.clone()];
            let (positive, scaled_dual) = (&self.positive[at.clone()], &self.scaled_dual[at]);
            for ((t, z), u) in target.iter_mut().zip(positive).zip(scaled_dual) {
                *t = z - u;
            }
            if let Some(c) = &program.perturbation {
                for (t, c) in target.iter_mut().zip(c.row(i)) {
                    *t -= c / self.rho;
                }
            }
            target[i] -= program.rows[i] / self.rho;
            if let Some(copied) = &self.diagonal {
                target[i] = 0.5 * (target[i] + copied.entries[i] - copied.scaled_dual[i]);
            }
        }
    }

    /// Changes the weight of the difference so that both residuals fall together, or at all.
    fn balance(&mut self) {
        if self.iterations >= self.next_look {
            self.next_look = self.iterations + PATIENCE;
            let both = self.primal_residual + self.dual_residual;
            if both > 0.5 * self.fallen_to {
                self.weigh(OTHER_WEIGHTS[self.tried % OTHER_WEIGHTS.len()]);
                self.tried += 1;
                self.next_balance = self.next_look;
                return;
            }
            self.fallen_to = both;
        }
        if self.iterations < self.next_balance {
            return;
        }
        self.next_balance = self.iterations + FIRST_BALANCE.max(self.iterations / 4);
        // A residual that vanishes altogether is out of balance, unless both do.
        let size = |residual: f64| residual.max(f64::EPSILON);
        let ratio = size(self.primal_residual) / size(self.dual_residual);
        if !ratio.is_finite() || (1.0 / IN_BALANCE..IN_BALANCE).contains(&ratio) {
            return;
        }
        self.weigh(ratio.sqrt().clamp(1.0 / MOST_CHANGE, MOST_CHANGE));
    }

    /// Changes the weight of the difference; multipliers are scaled by it.
    fn weigh(&mut self, change: f64) {
        self.rho *= change;
        self.anderson.clear();
        let of_diagonal = self.diagonal.iter_mut().flat_map(|copied| &mut copied.scaled_dual);
        for scaled_dual in self.scaled_dual.iter_mut().chain(of_diagonal) {
            *scaled_dual /= change;
        }
    }
}

/// The typical curvature of the data term in an entry.
fn typical_stiffness(program: &Program) -> f64 {
    if program.is_exact() {
        return 1.0;
    }
    2.0 * program.sensing.shares.iter().sum::<f64>() / program.sensing.len() as f64
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
