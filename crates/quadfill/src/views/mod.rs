//! The observations once per mode, grouped by that mode's labels, ready for the row kernels.
//!
//! Three modes in `f32` take 36 bytes per observation: two 32-bit indices and the value in each of
//! three views. Building them never holds more. Packed views take about a third of that ([`Storage`]) and
//! are unpacked a window at a time; the kernels see the same cells, so results are the same to the bit.
//!
//! Within a label the cells are sorted by their other labels. So views do not depend on the order of
//! the data, and the rows that consecutive cells pick are close together in memory. Cells that are
//! held out come last within each label: training data are a prefix of every row, and splitting off
//! or joining a hold-out moves nothing. A [`Selection`] says which part is read.

mod data;
mod hold_out;
mod memory;
mod packed;
mod packed_data;
mod plain;
mod plan;
mod selection;
mod storage;
mod table;
mod window;

pub use data::Data;
pub use packed_data::{FewNumbers, PackedBuilder, PackedObservations};
pub(crate) use plan::{Plan, Segment};
pub use selection::{ModeSelection, Selection};
pub use storage::Storage;
pub use window::ModeReader;
pub(crate) use window::Reader;

use std::io;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::observations::Observations;
use packed::{Coding, PackedCells, Packing, Place};
use packed_data::{Room, regroup};
use plain::PlainCells;
use quadfill_kernels::Real;
use table::Table;

/// All observations, grouped by the labels of one mode.
#[derive(Debug, Clone)]
struct View<T> {
    /// The position of the first observation of each label, and at the end the number of observations.
    starts: Vec<usize>,
    /// How many observations of each label are not held out, where some are.
    training_counts: Option<Vec<u32>>,
    store: Store<T>,
}

/// The cells of a view.
#[derive(Debug, Clone)]
enum Store<T> {
    Plain(PlainCells<T>),
    Packed(PackedCells<T>),
}

/// A run of observations that share a label.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a, T> {
    /// For each observation the label indices of the other modes, in mode order.
    pub others: &'a [u32],
    /// The values.
    pub values: &'a [T],
    /// The weights, where given.
    pub weights: Option<&'a [T]>,
}

impl<T: Real> View<T> {
    /// How many labels the mode has.
    fn labels(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many labels of other modes a cell has.
    fn width(&self) -> usize {
        match &self.store {
            Store::Plain(cells) => cells.width,
            Store::Packed(cells) => cells.width(),
        }
    }

    fn is_weighted(&self) -> bool {
        match &self.store {
            Store::Plain(cells) => cells.weights.is_some(),
            Store::Packed(cells) => cells.is_weighted(),
        }
    }

    /// Groups observations by `mode`. `visit` passes on every observation in a fixed order; it is called
    /// twice.
    fn build(
        mode: usize,
        labels: usize,
        width: usize,
        len: usize,
        weighted: bool,
        visit: impl Fn(&mut dyn FnMut(&[u32], T, T)),
    ) -> Self {
        let mut starts = vec![0usize; labels + 1];
        visit(&mut |cell, _, _| starts[cell[mode] as usize + 1] += 1);
        for label in 0..labels {
            starts[label + 1] += starts[label];
        }
        let mut next = starts.clone();
        let mut cells = PlainCells::zeros(len, width, weighted);
        visit(&mut |cell, value, weight| {
            let label = cell[mode] as usize;
            let others = (0..width).map(|b| cell[b + usize::from(b >= mode)]);
            cells.set(next[label], others, value, weight);
            next[label] += 1;
        });
        Self { starts, training_counts: None, store: Store::Plain(cells) }
    }

    /// The same view with packed cells.
    fn pack(self, mode: usize, packing: &Packing<T>) -> io::Result<Self> {
        let Store::Plain(cells) = &self.store else {
            return Ok(self);
        };
        let mut writer = packing.writer(Some(mode))?;
        for label in 0..self.labels() {
            writer.push(cells.cells(self.starts[label]..self.starts[label + 1]))?;
        }
        Ok(Self { store: Store::Packed(writer.finish()?), ..self })
    }

    /// Calls `see` with every observation as a full cell with value and weight.
    fn visit(&self, mode: usize, see: &mut dyn FnMut(&[u32], T, T)) {
        let mut reader = ModeReader::new(ModeSelection::all(self));
        for label in 0..self.labels() {
            reader.visit(mode, label, self.starts[label]..self.starts[label + 1], see);
        }
    }
}

/// Passes every observation to a closure, in a fixed order.
type Visit<'a, T> = dyn Fn(&mut dyn FnMut(&[u32], T, T)) + 'a;

/// The observations once per mode, in the precision of the fit.
#[derive(Debug, Clone)]
pub struct Views<T> {
    views: Vec<View<T>>,
    /// How they are packed, where they are.
    packing: Option<Packing<T>>,
}

impl<T: Real> Views<T> {
    /// Groups the observations by each mode in turn and frees the originals.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate, views::Views};
    /// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    /// # let data = Observations::new(modes, vec![vec![0, 1, 1], vec![1, 0, 1]],
    /// #     vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
    /// let views = Views::<f64>::new(data);
    /// assert_eq!(views.all().mode(0).reader().cells(1).values, [2.0, 3.0]);
    /// assert_eq!(views.all().mode(1).reader().cells(1).others, [0, 1]);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn new(data: Observations) -> Self {
        Self::build(data, None).expect("only packing fails")
    }

    /// The same in the given storage, or chosen by the size of the data and the free memory.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate, views::{Storage, Views}};
    /// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    /// # let data = Observations::new(modes, vec![vec![0, 1, 1], vec![1, 0, 1]],
    /// #     vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
    /// let views = Views::<f64>::stored(data, Some(Storage::Packed))?;
    /// assert_eq!(views.all().mode(0).reader().cells(1).values, [2.0, 3.0]);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn stored(data: impl Into<Data>, storage: Option<Storage>) -> Result<Self> {
        let data = match data.into() {
            Data::Observations(data) => data,
            Data::Packed(data) => {
                return Self::unpacked(data, storage).map_err(Error::temporary_files);
            }
        };
        let storage = storage.unwrap_or_else(|| Storage::choose::<T>(&data));
        let place = match storage {
            Storage::Plain => return Ok(Self::new(data)),
            Storage::Packed => Place::Memory,
            Storage::Mapped => Place::File,
        };
        let packing = Packing::of(&data, place);
        Self::build(data, Some(packing)).map_err(Error::temporary_files)
    }

    /// Views of packed data: the first one is there already.
    fn unpacked(data: PackedObservations, storage: Option<Storage>) -> io::Result<Self> {
        let storage = storage.unwrap_or_else(|| Storage::choose_for_packed::<T>(&data));
        let PackedObservations { mut packing, view, counts, .. } = data;
        packing.place = if storage == Storage::Mapped { Place::File } else { Place::Memory };
        let packing = packing.convert::<T>();
        let View { starts, store, .. } = view;
        let Store::Packed(cells) = store else { unreachable!("packed data are packed") };
        let store = Store::Packed(cells.convert(&packing)?);
        let first = View { starts, training_counts: None, store };
        let modes = packing.sizes.len();
        if storage == Storage::Plain {
            let (len, weighted) = (first.starts[first.labels()], first.is_weighted());
            let build = |mode: usize| {
                let labels = packing.sizes[mode];
                View::build(mode, labels, modes - 1, len, weighted, |see| first.visit(0, see))
            };
            return Ok(Self { views: (0..modes).map(build).collect(), packing: None });
        }
        let room = Room::for_cells_of((modes - 1) * size_of::<u32>() + 2 * size_of::<T>());
        let others: io::Result<Vec<View<T>>> =
            (1..modes).map(|mode| regroup(&first, mode, &counts[mode], &packing, room)).collect();
        let views = std::iter::once(first).chain(others?).collect();
        Ok(Self { views, packing: Some(packing) })
    }

    fn build(data: Observations, packing: Option<Packing<T>>) -> io::Result<Self> {
        let sizes = data.sizes();
        let (modes, len) = (sizes.len(), data.len());
        let weighted = data.weights().is_some();
        let build = |mode: usize, visit: &Visit<'_, T>| {
            View::build(mode, sizes[mode], modes - 1, len, weighted, visit)
        };
        let pack = |mode: usize, view: View<T>| match &packing {
            Some(packing) => view.pack(mode, packing),
            None => Ok(view),
        };
        // Grouping keeps the order within a label. So grouping by the last mode first, and by the first
        // mode last, sorts the cells; each step frees the one before it.
        let mut sorted = build(modes - 1, &|see| visit_columns(&data, see));
        drop(data);
        for mode in (0..modes - 1).rev() {
            sorted = build(mode, &|see| sorted.visit(mode + 1, see));
        }
        let mut views = vec![pack(0, sorted)?];
        for mode in 1..modes {
            let view = build(mode, &|see| views[0].visit(0, see));
            views.push(pack(mode, view)?);
        }
        Ok(Self { views, packing })
    }

    /// How many bytes the cells of all views take, in memory or in files.
    pub fn bytes(&self) -> usize {
        let bytes = |view: &View<T>| match &view.store {
            Store::Plain(cells) => {
                let weights = cells.weights.as_ref().map_or(0, |weights| size_of_val(&weights[..]));
                size_of_val(&cells.others[..]) + size_of_val(&cells.values[..]) + weights
            }
            Store::Packed(cells) => cells.bytes(),
        };
        self.views.iter().map(bytes).sum()
    }

    /// All observations.
    pub fn all(&self) -> Selection<'_, T> {
        Selection::all(self)
    }

    /// Those that are not held out.
    pub fn training(&self) -> Selection<'_, T> {
        Selection::training(self)
    }

    /// Those that are held out.
    pub fn held_out(&self) -> Selection<'_, T> {
        Selection::held_out(self)
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.views.iter().map(View::labels).collect()
    }

    /// How many observations there are in all.
    pub fn len(&self) -> usize {
        self.views[0].starts[self.views[0].labels()]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Real> Packing<T> {
    /// The packing of observations: numbers of which few differ get a table.
    fn of(data: &Observations, place: Place) -> Self {
        let coding = |numbers: &[f64]| {
            let table = Table::of(numbers.iter().map(|&number| T::from_f64(number)));
            table.map_or(Coding::Exact, |table| Coding::Table(Arc::new(table)))
        };
        Self {
            sizes: data.sizes(),
            place,
            values: coding(data.values()),
            weights: data.weights().map(coding),
        }
    }
}

fn visit_columns<T: Real>(data: &Observations, see: &mut dyn FnMut(&[u32], T, T)) {
    let modes = data.modes().len();
    let mut cell = [0u32; 8];
    for row in 0..data.len() {
        for mode in 0..modes {
            cell[mode] = data.indices(mode)[row];
        }
        let weight = data.weights().map_or(T::ONE, |w| T::from_f64(w[row]));
        see(&cell[..modes], T::from_f64(data.values()[row]), weight);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::observations::{Labels, Mode, OnDuplicate};

    fn views(order: &[usize]) -> Views<f64> {
        let cells = [[0u32, 1, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]];
        let modes = (0..3).map(|_| Mode::new("m", Labels::range(2))).collect();
        let column = |mode: usize| order.iter().map(|&i| cells[i][mode]).collect();
        let values = order.iter().map(|&i| i as f64).collect();
        let indices = (0..3).map(column).collect();
        Views::new(Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap())
    }

    #[test]
    fn views_are_sorted_whatever_the_order_of_the_data() {
        for order in [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]] {
            let views = views(&order);
            assert_eq!(views.all().mode(0).reader().cells(0).values, [3.0, 1.0, 0.0]);
            assert_eq!(views.all().mode(0).reader().cells(0).others, [0, 0, 0, 1, 1, 1]);
            assert_eq!(views.all().mode(1).reader().cells(0).values, [3.0, 1.0, 4.0]);
            assert_eq!(views.all().mode(2).reader().cells(1).others, [0, 0, 0, 1, 1, 0]);
        }
    }
}
