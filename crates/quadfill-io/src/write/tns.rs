//! `.tns` files: 1-based indices and a value per line.

use std::path::Path;

use quadfill::{Observations, Real};

use super::atomic::{WriteError, write_atomically};

/// Writes the indices of the observations, counted from 1, and their values.
///
/// Labels are not written: entry `i` of a mode becomes `i + 1`. Values are printed with as many
/// digits as it takes to read them back exactly.
///
/// ```
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(3))];
/// let data = Observations::new(
///     modes, vec![vec![0, 1], vec![2, 0]], vec![0.5, 1.0], None, OnDuplicate::Error)?;
/// # let path = std::env::temp_dir().join(format!("quadfill-write-{}.tns", std::process::id()));
/// quadfill_io::write_tns(&path, &data)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "1 3 0.5\n2 1 1\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_tns<T: Real>(path: &Path, data: &Observations<T>) -> Result<(), WriteError> {
    let columns: Vec<&[u32]> = (0..data.modes().len()).map(|mode| data.indices(mode)).collect();
    write_atomically(path, |out| {
        for (row, value) in data.values().iter().enumerate() {
            for column in &columns {
                write!(out, "{} ", u64::from(column[row]) + 1)?;
            }
            writeln!(out, "{value}")?;
        }
        Ok(())
    })
}
