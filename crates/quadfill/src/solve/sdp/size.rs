//! How large a convex program may be.

use super::anderson::MEMORY;
use crate::error::{Error, Result};
use quadfill_kernels::dense::PsdCone;

/// Above this order an iteration takes minutes.
const LARGEST_ORDER: usize = 6000;
/// Dense matrices that are held besides the projection's own: the iteration's, and those that
/// extrapolation looks back on.
const MATRICES: usize = 14 + 2 * MEMORY;

/// Refuses matrices of an order that would take too long or more than half of the memory there is.
/// `labels` is the number of labels of all modes.
pub(in crate::solve) fn check_size(order: usize, labels: usize) -> Result<()> {
    let bytes = bytes(order);
    let memory = machine_memory();
    let too_much = memory.is_some_and(|memory| bytes > memory as f64 / 2.0);
    if order <= LARGEST_ORDER && !too_much {
        return Ok(());
    }
    let limit = match memory {
        Some(memory) if too_much => {
            format!("half of this machine's memory is {}", gigabytes(memory as f64 / 2.0))
        }
        _ => format!("it is for at most {LARGEST_ORDER} rows"),
    };
    Err(Error::setting(format!(
        "the solver sdp works on dense {order} x {order} matrices for the {labels} labels of all modes, \
         which would take {}, and {limit}: set `solver` to path, or to als or lbfgs with a `penalty`",
        gigabytes(bytes)
    )))
}

fn bytes(order: usize) -> f64 {
    let own = MATRICES as f64 * (order as f64).powi(2) * size_of::<f64>() as f64;
    // The projection counts in whole numbers, which must not overflow.
    let cone = if order <= 100_000 { PsdCone::bytes(order) as f64 } else { own };
    own + cone
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

/// Bytes of memory that the machine has, where it says so.
fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_problems_pass_and_large_ones_are_told_their_memory() {
        assert!(check_size(150, 150).is_ok());
        let said = check_size(82_285, 82_285).expect_err("too large").to_string();
        assert!(said.contains("82285 x 82285") && said.contains("GB"), "{said}");
        assert!(check_size(5_000_000, 5_000_000).is_err());
    }
}
