//! Dense arrays as `.npy`.

use std::io::{self, Write};
use std::path::Path;

use super::atomic::{WriteError, write_atomically};

/// A number that `NumPy` knows.
pub trait NpyNumber: Copy {
    /// Its dtype, little-endian.
    const DTYPE: &'static str;
    /// Writes its little-endian bytes.
    fn write_to(self, out: &mut dyn Write) -> io::Result<()>;
}

macro_rules! npy_number {
    ($($t:ident $dtype:literal),*) => {$(
        impl NpyNumber for $t {
            const DTYPE: &'static str = $dtype;
            fn write_to(self, out: &mut dyn Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }
    )*};
}

npy_number!(f32 "<f4", f64 "<f8", u32 "<u4", i64 "<i8");

/// Writes an array in C order, the last index running fastest. The cells come one by one, so that
/// a large array never has to be in memory.
///
/// # Errors
/// If the system cannot write, or `cells` does not give as many as the shape has.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-write-{}.npy", std::process::id()));
/// quadfill_io::write_npy(&path, &[2, 3], (0..6).map(|i| i as f32))?;
/// let data = quadfill_io::read(&path, &quadfill_io::ReadOptions::default())?;
/// assert_eq!(data.values(), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npy<N: NpyNumber>(
    path: &Path,
    shape: &[usize],
    cells: impl IntoIterator<Item = N>,
) -> Result<(), WriteError> {
    write_atomically(path, |out| {
        out.write_all(&header(N::DTYPE, shape))?;
        let expected: usize = shape.iter().product();
        let mut got = 0usize;
        for cell in cells {
            cell.write_to(out)?;
            got += 1;
        }
        if got == expected {
            Ok(())
        } else {
            Err(io::Error::other(format!("{got} cells for a shape that has {expected}")))
        }
    })
}

/// Version 1.0, padded so that the numbers begin at a multiple of 64.
fn header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let mut text =
        format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
    let unpadded = 10 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.into_bytes());
    header
}
