//! The positions of the columns in a table without names.

use serde::{Deserialize, Serialize};

/// Positions, from 0, of the columns that a model was fitted to, where they had no names: other
/// tables of the same layout are read in the same way.
///
/// ```
/// use quadfill::observations::ColumnPositions;
/// // user::film::rating::time
/// let positions = ColumnPositions { modes: vec![0, 1, 3], value: 2 };
/// assert!(positions.fit(4) && !positions.fit(3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnPositions {
    /// One per mode, in their order.
    pub modes: Vec<usize>,
    /// That of the values.
    pub value: usize,
}

impl ColumnPositions {
    /// Whether a table of so many columns has those of the modes.
    pub fn fit(&self, columns: usize) -> bool {
        self.modes.iter().all(|&column| column < columns)
    }
}
