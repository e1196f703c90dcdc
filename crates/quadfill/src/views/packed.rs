//! Cells in few bits: labels in as many as they need, numbers by their place in a table where few differ.
//!
//! Nothing is lost. Each mode and each kind of number is a column of its own (`quadfill_kernels::bits`),
//! in memory or in a file that is mapped. Kernels read windows of cells that are unpacked before.

use std::fs::File;
use std::io::{self, Write};
use std::ops::{Deref, Range};
use std::sync::Arc;

use rayon::prelude::*;

use super::window::Window;
use super::{Cells, table::Table};
use quadfill_kernels::bits::{GROUP, Packer, bits_for};
use quadfill_kernels::mapped::{MappedFile, map_file};
use quadfill_kernels::{Backend, Real};

/// The cells of a view, packed.
#[derive(Debug, Clone)]
pub(super) struct PackedCells<T> {
    len: usize,
    others: Vec<Column>,
    values: Numbers<T>,
    weights: Option<Numbers<T>>,
}

/// Whole numbers in a fixed number of bits.
#[derive(Debug, Clone)]
struct Column {
    bits: u32,
    bytes: Bytes,
}

#[derive(Debug, Clone)]
enum Numbers<T> {
    /// Places in a table.
    Coded { codes: Column, table: Arc<Table<T>> },
    /// The numbers themselves.
    Exact(Bytes),
}

/// The bytes of a column.
#[derive(Debug, Clone)]
enum Bytes {
    Memory(Vec<u8>),
    Mapped(Arc<MappedFile>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

/// Where columns are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In memory.
    Memory,
    /// In temporary files that have no name, so that they vanish with the process.
    File,
}

impl<T: Real> PackedCells<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many columns of labels there are.
    pub(super) fn width(&self) -> usize {
        self.others.len()
    }

    pub(super) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// How many bytes the columns have.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [Some(&self.values), self.weights.as_ref()];
        let numbers = numbers.into_iter().flatten().map(|numbers| match numbers {
            Numbers::Coded { codes, .. } => codes.bytes.len(),
            Numbers::Exact(bytes) => bytes.len(),
        });
        self.others.iter().map(|column| column.bytes.len()).chain(numbers).sum()
    }

    /// Unpacks the cells from a multiple of [`GROUP`] on.
    pub(super) fn unpack(&self, range: Range<usize>, into: &mut Window<T>) {
        let backend = Backend::detect();
        let count = range.len();
        let width = self.others.len();
        into.others.resize(count * width, 0);
        into.codes.resize(count, 0);
        for (b, column) in self.others.iter().enumerate() {
            if width == 1 {
                column.unpack(backend, range.start, &mut into.others);
                continue;
            }
            if width == 2 && b == 0 {
                // Both columns at once, so that every pair is written once.
                into.second.resize(count, 0);
                column.unpack(backend, range.start, &mut into.codes);
                self.others[1].unpack(backend, range.start, &mut into.second);
                let (pairs, _) = into.others.as_chunks_mut::<2>();
                for ((pair, &x), &y) in pairs.iter_mut().zip(&into.codes).zip(&into.second) {
                    *pair = [x, y];
                }
                break;
            }
            column.unpack(backend, range.start, &mut into.codes);
            for (cell, &label) in into.others.chunks_exact_mut(width).zip(&into.codes) {
                cell[b] = label;
            }
        }
        into.values.resize(count, T::ZERO);
        self.values.unpack(backend, range.start, &mut into.codes, &mut into.values);
        if let Some(weights) = &self.weights {
            into.weights.resize(count, T::ZERO);
            weights.unpack(backend, range.start, &mut into.codes, &mut into.weights);
        }
    }
}

impl PackedCells<f64> {
    /// The same cells in the precision of a packing. Only numbers without a table are written again.
    pub(super) fn convert<T: Real>(self, packing: &Packing<T>) -> io::Result<PackedCells<T>> {
        let weights = self.weights.zip(packing.weights.as_ref());
        Ok(PackedCells {
            len: self.len,
            others: self.others,
            values: self.values.convert(&packing.values, packing.place)?,
            weights: weights
                .map(|(weights, coding)| weights.convert(coding, packing.place))
                .transpose()?,
        })
    }
}

impl Numbers<f64> {
    fn convert<T: Real>(self, coding: &Coding<T>, place: Place) -> io::Result<Numbers<T>> {
        Ok(match (self, coding) {
            (Self::Coded { codes, .. }, Coding::Table(table)) => {
                Numbers::Coded { codes, table: Arc::clone(table) }
            }
            (Self::Exact(bytes), _) if size_of::<T>() == size_of::<f64>() => Numbers::Exact(bytes),
            (Self::Exact(bytes), _) => {
                let mut sink = Sink::new(place)?;
                for number in bytes.as_chunks().0 {
                    T::from_f64(f64::from_le_bytes(*number)).append_le_bytes(&mut sink.bytes);
                    sink.flush_if_full()?;
                }
                Numbers::Exact(sink.finish()?)
            }
            (Self::Coded { .. }, Coding::Exact) => unreachable!("tables stay tables"),
        })
    }
}

impl Packing<f64> {
    /// Whether a value and a weight can be written.
    pub(super) fn has(&self, value: f64, weight: f64) -> bool {
        let has = |coding: &Coding<f64>, number: f64| match coding {
            Coding::Table(table) => table.has(number),
            Coding::Exact => true,
        };
        has(&self.values, value) && self.weights.as_ref().is_none_or(|weights| has(weights, weight))
    }

    /// The same without tables.
    pub(super) fn exact(self) -> Self {
        Self { values: Coding::Exact, weights: self.weights.map(|_| Coding::Exact), ..self }
    }

    /// The same in another precision.
    pub(super) fn convert<T: Real>(&self) -> Packing<T> {
        let coding = |coding: &Coding<f64>| match coding {
            Coding::Table(table) => Coding::Table(Arc::new(table.convert())),
            Coding::Exact => Coding::Exact,
        };
        Packing {
            sizes: self.sizes.clone(),
            place: self.place,
            values: coding(&self.values),
            weights: self.weights.as_ref().map(coding),
        }
    }
}

impl Column {
    fn unpack(&self, backend: Backend, first: usize, out: &mut [u32]) {
        backend.unpack(&self.bytes, self.bits, first, out);
    }
}

impl<T: Real> Numbers<T> {
    fn unpack(&self, backend: Backend, first: usize, codes: &mut [u32], out: &mut [T]) {
        match self {
            Self::Coded { codes: column, table } => {
                column.unpack(backend, first, codes);
                table.look_up(codes, out);
            }
            Self::Exact(bytes) => {
                let bytes = &bytes[first * size_of::<T>()..][..size_of_val(out)];
                for (number, bytes) in out.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
                    *number = T::from_le_bytes(bytes);
                }
            }
        }
    }
}

/// What is the same in all views: sizes, tables, and where columns are kept.
#[derive(Debug, Clone)]
pub(super) struct Packing<T> {
    pub(super) sizes: Vec<usize>,
    pub(super) place: Place,
    pub(super) values: Coding<T>,
    /// Of weighted data.
    pub(super) weights: Option<Coding<T>>,
}

/// How numbers are written.
#[derive(Debug, Clone)]
pub(super) enum Coding<T> {
    /// By their place in a table.
    Table(Arc<Table<T>>),
    /// As they are.
    Exact,
}

/// Packs the cells of a view one after the other.
#[derive(Debug)]
pub(super) struct PackedWriter<T> {
    len: usize,
    others: Vec<ColumnWriter>,
    values: NumbersWriter<T>,
    weights: Option<NumbersWriter<T>>,
}

impl<T: Real> Packing<T> {
    /// How many bits the numbers of a cell take in the precision of a fit.
    pub(super) fn bits_of_numbers<U: Real>(&self) -> u32 {
        let bits = |coding: &Coding<T>| match coding {
            Coding::Table(table) => table.bits(),
            Coding::Exact => 8 * size_of::<U>() as u32,
        };
        bits(&self.values) + self.weights.as_ref().map_or(0, bits)
    }

    /// A writer of cells that are grouped by the labels of a mode, which are not stored then.
    pub(super) fn writer(&self, grouped_by: Option<usize>) -> io::Result<PackedWriter<T>> {
        let others = self.sizes.iter().enumerate().filter(|&(mode, _)| Some(mode) != grouped_by);
        let others: io::Result<Vec<ColumnWriter>> =
            others.map(|(_, &labels)| ColumnWriter::new(bits_for(labels), self.place)).collect();
        let numbers = |coding: &Coding<T>| NumbersWriter::new(coding.clone(), self.place);
        Ok(PackedWriter {
            len: 0,
            others: others?,
            values: numbers(&self.values)?,
            weights: self.weights.as_ref().map(numbers).transpose()?,
        })
    }
}

impl<T: Real> PackedWriter<T> {
    /// Appends cells.
    pub(super) fn push(&mut self, cells: Cells<'_, T>) -> io::Result<()> {
        let width = self.others.len();
        for (b, column) in self.others.iter_mut().enumerate() {
            column.push(cells.others.iter().skip(b).step_by(width).copied())?;
        }
        self.values.push(cells.values)?;
        if let (Some(writer), Some(weights)) = (&mut self.weights, cells.weights) {
            writer.push(weights)?;
        }
        self.len += cells.values.len();
        Ok(())
    }

    /// Appends cells, given by columns.
    pub(super) fn push_columns(
        &mut self,
        columns: &[Vec<u32>],
        values: &[T],
        weights: Option<&[T]>,
    ) -> io::Result<()> {
        self.others
            .par_iter_mut()
            .zip(columns)
            .try_for_each(|(writer, column)| writer.push(column.iter().copied()))?;
        self.values.push(values)?;
        if let (Some(writer), Some(weights)) = (&mut self.weights, weights) {
            writer.push(weights)?;
        }
        self.len += values.len();
        Ok(())
    }

    /// The packed cells.
    pub(super) fn finish(self) -> io::Result<PackedCells<T>> {
        let others: io::Result<Vec<Column>> =
            self.others.into_iter().map(ColumnWriter::finish).collect();
        Ok(PackedCells {
            len: self.len,
            others: others?,
            values: self.values.finish()?,
            weights: self.weights.map(NumbersWriter::finish).transpose()?,
        })
    }
}

#[derive(Debug)]
struct ColumnWriter {
    bits: u32,
    packer: Packer,
    sink: Sink,
}

impl ColumnWriter {
    fn new(bits: u32, place: Place) -> io::Result<Self> {
        Ok(Self { bits, packer: Packer::new(bits), sink: Sink::new(place)? })
    }

    fn push(&mut self, numbers: impl Iterator<Item = u32>) -> io::Result<()> {
        for number in numbers {
            self.packer.push(number, &mut self.sink.bytes);
        }
        self.sink.flush_if_full()
    }

    fn finish(mut self) -> io::Result<Column> {
        self.packer.finish(&mut self.sink.bytes);
        Ok(Column { bits: self.bits, bytes: self.sink.finish()? })
    }
}

#[derive(Debug)]
enum NumbersWriter<T> {
    Coded { codes: ColumnWriter, table: Arc<Table<T>> },
    Exact(Sink),
}

impl<T: Real> NumbersWriter<T> {
    fn new(coding: Coding<T>, place: Place) -> io::Result<Self> {
        Ok(match coding {
            Coding::Table(table) => {
                Self::Coded { codes: ColumnWriter::new(table.bits(), place)?, table }
            }
            Coding::Exact => Self::Exact(Sink::new(place)?),
        })
    }

    fn push(&mut self, numbers: &[T]) -> io::Result<()> {
        match self {
            Self::Coded { codes, table } => {
                codes.push(numbers.iter().map(|&number| table.code(number)))
            }
            Self::Exact(sink) => {
                for number in numbers {
                    number.append_le_bytes(&mut sink.bytes);
                }
                sink.flush_if_full()
            }
        }
    }

    fn finish(self) -> io::Result<Numbers<T>> {
        Ok(match self {
            Self::Coded { codes, table } => Numbers::Coded { codes: codes.finish()?, table },
            Self::Exact(sink) => Numbers::Exact(sink.finish()?),
        })
    }
}

/// Bytes on their way to memory or to a file.
#[derive(Debug)]
struct Sink {
    bytes: Vec<u8>,
    file: Option<File>,
}

/// Bytes that are collected before they are written to a file.
const FLUSH: usize = 1 << 20;

impl Sink {
    fn new(place: Place) -> io::Result<Self> {
        let file = match place {
            Place::Memory => None,
            Place::File => Some(tempfile::tempfile()?),
        };
        Ok(Self { bytes: Vec::new(), file })
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.as_mut().filter(|_| self.bytes.len() >= FLUSH) {
            file.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Bytes> {
        let Some(mut file) = self.file else {
            self.bytes.shrink_to_fit();
            return Ok(Bytes::Memory(self.bytes));
        };
        file.write_all(&self.bytes)?;
        if file.metadata()?.len() == 0 {
            return Ok(Bytes::Memory(Vec::new()));
        }
        Ok(Bytes::Mapped(Arc::new(map_file(&file)?)))
    }
}

/// Where unpacking may begin so that it includes a cell.
pub(super) fn group_start(at: usize) -> usize {
    at / GROUP * GROUP
}
