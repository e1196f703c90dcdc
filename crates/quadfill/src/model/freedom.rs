//! The number of free parameters of a model.

use super::{Biases, Interaction, Kernel, ModelSpec};

impl ModelSpec {
    /// The number of free parameters for data with `sizes` labels per mode: all parameters minus
    /// the directions that change no prediction.
    ///
    /// For a quadratic model those are, for each connected part of the interacting modes, the
    /// rotations `R (R - 1) / 2` (or all `R^2` linear maps where the part has neither an odd cycle
    /// nor a diagonal entry, as in matrix factorization), and translations by `c_a` with `K c = 0`
    /// (any `c` where fitted biases absorb them). For CP they are the scalings of the columns.
    pub fn degrees_of_freedom(&self, sizes: &[usize]) -> usize {
        let rows = self.group_sizes(sizes);
        let rank = self.rank;
        let biases: usize = if self.biases == Biases::Modes { rows.iter().sum() } else { 0 };
        let mean = usize::from(self.biases != Biases::None);
        let (numbers, gauge) = match &self.interaction {
            Interaction::Cp => {
                let columns = rows.iter().sum::<usize>() * rank;
                (columns, (self.group_count() - 1) * rank)
            }
            Interaction::Quadratic(kernel) => {
                let active: Vec<usize> = (0..self.group_count())
                    .filter(|&g| self.group_modes(g).any(|mode| kernel.involves(mode)))
                    .collect();
                let columns = active.iter().map(|&g| rows[g]).sum::<usize>() * rank;
                let shifts = if self.biases == Biases::Modes {
                    active.len()
                } else {
                    self.shift_nullity(kernel, &active)
                };
                (columns, self.linear_gauge(kernel, &active) + rank * shifts)
            }
        };
        // A constant can move between the mean and each set of biases.
        let constants = if self.biases == Biases::Modes { rows.len() } else { 0 };
        (numbers + biases + mean).saturating_sub(gauge + constants)
    }

    /// The dimension of the linear maps of the rows that preserve all inner products of interacting modes.
    fn linear_gauge(&self, kernel: &Kernel, active: &[usize]) -> usize {
        let rank = self.rank;
        let mut side: Vec<Option<bool>> = vec![None; self.group_count()];
        let mut gauge = 0;
        for &root in active {
            if side[root].is_some() {
                continue;
            }
            // Two-colour the connected part; a clash is an odd cycle.
            let mut bipartite = true;
            side[root] = Some(false);
            let mut stack = vec![root];
            while let Some(group) = stack.pop() {
                for a in self.group_modes(group) {
                    for b in (0..self.modes()).filter(|&b| kernel.get(a, b) != 0.0) {
                        let other = self.groups[b];
                        match side[other] {
                            None => {
                                side[other] = side[group].map(|s| !s);
                                stack.push(other);
                            }
                            Some(s) if Some(s) == side[group] => bipartite = false,
                            Some(_) => {}
                        }
                    }
                }
            }
            gauge += if bipartite { rank * rank } else { rank * (rank - 1) / 2 };
        }
        gauge
    }

    /// The nullity of `K` seen as a map from shifts of the active factor matrices.
    fn shift_nullity(&self, kernel: &Kernel, active: &[usize]) -> usize {
        let modes = self.modes();
        let mut matrix: Vec<Vec<f64>> = (0..modes)
            .map(|b| {
                active
                    .iter()
                    .map(|&g| self.group_modes(g).map(|a| kernel.get(b, a)).sum())
                    .collect()
            })
            .collect();
        active.len() - row_echelon_rank(&mut matrix)
    }
}

fn row_echelon_rank(matrix: &mut [Vec<f64>]) -> usize {
    let columns = matrix.first().map_or(0, Vec::len);
    let largest = matrix.iter().flatten().fold(0.0f64, |max, x| max.max(x.abs()));
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..matrix.len())
            .max_by(|&i, &j| matrix[i][column].abs().total_cmp(&matrix[j][column].abs()))
        else {
            break;
        };
        if matrix[pivot][column].abs() <= 1e-12 * largest {
            continue;
        }
        matrix.swap(rank, pivot);
        for row in rank + 1..matrix.len() {
            let factor = matrix[row][column] / matrix[rank][column];
            for c in column..columns {
                let above = matrix[rank][c];
                matrix[row][c] -= factor * above;
            }
        }
        rank += 1;
    }
    rank
}
