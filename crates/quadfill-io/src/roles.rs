//! What each column of a table is for.

use quadfill::Mode;
use quadfill::observations::{ColumnPositions, Source, TimeUnit};

use crate::bins::BinSize;
use crate::column_roles::{ColumnRoles, ModeRole};
use crate::delimited::resolve;
use crate::error::{ReadError, Result};
use crate::escape::escape;
use crate::options::{ColumnRef, ReadOptions};
use crate::query::FoundColumns;
use crate::recognise::{ColumnFacts, Evidence};
use crate::table::ModePlan;

/// The use of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Unused,
    Label(usize),
    /// A label that must be a whole number above zero.
    Index(usize),
    Time(usize),
    Value,
    Weight,
}

impl Role {
    /// The mode that a column is.
    pub(crate) fn mode(self) -> Option<usize> {
        match self {
            Self::Label(mode) | Self::Index(mode) | Self::Time(mode) => Some(mode),
            Self::Unused | Self::Value | Self::Weight => None,
        }
    }
}

/// The columns of a table by their use.
#[derive(Debug)]
pub(crate) struct Roles {
    /// One per column of the table.
    pub of_columns: Vec<Role>,
    pub modes: Vec<ModePlan>,
    pub weighted: bool,
}

/// What is known of the columns: how many, and their names if they have any.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub file: &'a str,
    pub names: Option<&'a [String]>,
    pub count: usize,
}

impl Columns<'_> {
    pub(crate) fn resolve(&self, column: &ColumnRef) -> Result<usize> {
        resolve(self.file, column, self.names, self.count)
    }

    /// Its name, or its number from 1.
    fn name(&self, column: usize) -> String {
        self.names
            .and_then(|names| names.get(column).cloned())
            .unwrap_or_else(|| (column + 1).to_string())
    }

    fn used_twice(&self, column: usize) -> ReadError {
        ReadError::ColumnUsedTwice { file: self.file.to_owned(), column: self.name(column) }
    }

    /// Marks columns as taken and refuses those that were before.
    pub(crate) fn take(
        &self,
        taken: &mut [bool],
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        for column in columns {
            if std::mem::replace(&mut taken[column], true) {
                return Err(self.used_twice(column));
            }
        }
        Ok(())
    }

    /// The value: the column asked for, or else the last one that is not taken.
    pub(crate) fn value(&self, options: &ReadOptions, taken: &[bool]) -> Result<usize> {
        match &options.value {
            Some(value) => self.resolve(value),
            None => taken
                .iter()
                .rposition(|taken| !taken)
                .ok_or_else(|| ReadError::NoValueColumn { file: self.file.to_owned() }),
        }
    }
}

impl Roles {
    /// The name of the column of values, and where the columns stand if they have no names.
    pub(crate) fn source(&self, names: Option<&[String]>) -> Source {
        let value = self.position(|role| *role == Role::Value);
        match names {
            Some(names) => {
                value.and_then(|value| names.get(value)).map_or_else(Source::default, |name| {
                    Source { value: name.clone(), positions: None }
                })
            }
            None => Source { positions: self.positions(value), ..Source::default() },
        }
    }

    fn positions(&self, value: Option<usize>) -> Option<ColumnPositions> {
        let modes =
            (0..self.modes.len()).map(|mode| self.position(|role| role.mode() == Some(mode)));
        Some(ColumnPositions { modes: modes.collect::<Option<_>>()?, value: value? })
    }

    fn position(&self, wanted: impl FnMut(&Role) -> bool) -> Option<usize> {
        self.of_columns.iter().position(wanted)
    }

    /// The columns that the rows of a model are in, `columns` of them in all.
    pub(crate) fn for_model(modes: &[Mode], found: &FoundColumns, columns: usize) -> Self {
        let mut of_columns = vec![Role::Unused; columns];
        for (mode, &column) in found.modes.iter().enumerate() {
            of_columns[column] = match modes[mode].bins {
                Some(_) => Role::Time(mode),
                None => Role::Label(mode),
            };
        }
        if let Some(value) = found.value {
            of_columns[value] = Role::Value;
        }
        if let Some(weight) = found.weight {
            of_columns[weight] = Role::Weight;
        }
        Self { of_columns, modes: ModePlan::for_model(modes), weighted: found.weight.is_some() }
    }

    /// Makes labels whole numbers above zero, as `.tns` files have them.
    pub(crate) fn labels_are_indices(&mut self) {
        for role in &mut self.of_columns {
            if let Role::Label(mode) = *role {
                *role = Role::Index(mode);
            }
        }
    }

    /// Resolves what the options ask for; the rest is recognised by the names of the columns and by `facts`
    /// about their fields, if there are any.
    pub(crate) fn find(
        columns: Columns<'_>,
        options: &ReadOptions,
        facts: &[ColumnFacts],
    ) -> Result<Self> {
        let evidence = Evidence { names: columns.names, facts };
        let mut taken = vec![false; columns.count];
        let asked: Option<Vec<usize>> = options
            .modes
            .as_ref()
            .map(|modes| modes.iter().map(|mode| columns.resolve(mode)).collect())
            .transpose()?;
        let weight = options.weight.as_ref().map(|weight| columns.resolve(weight)).transpose()?;
        columns.take(&mut taken, asked.iter().flatten().copied().chain(weight))?;
        let recognised = match options.value {
            None if !options.values_are_ones => evidence.value(|column| !taken[column]),
            _ => None,
        };
        let value = match recognised {
            _ if options.values_are_ones => None,
            Some(value) => Some(value),
            None => Some(columns.value(options, &taken)?),
        };
        columns.take(&mut taken, value)?;
        let is_asked = asked.is_some();
        // Weights are neither values nor labels; they count only where they are asked for.
        let is_mode = |&column: &usize| !taken[column] && !evidence.is_weight(column);
        let modes = asked.unwrap_or_else(|| (0..columns.count).filter(is_mode).collect());
        if !(2..=8).contains(&modes.len()) {
            return Err(ReadError::ModeCount {
                file: columns.file.to_owned(),
                columns: columns.count,
                modes: modes.len(),
            });
        }

        let mut of_columns = vec![Role::Unused; columns.count];
        let mut plan = Vec::with_capacity(modes.len());
        for (mode, &column) in modes.iter().enumerate() {
            of_columns[column] = Role::Label(mode);
            let name = match columns.names {
                Some(_) => columns.name(column),
                None => format!("mode{}", mode + 1),
            };
            plan.push(ModePlan { name, bins: None, unit: TimeUnit::default() });
        }
        if let Some(value) = value {
            of_columns[value] = Role::Value;
        }
        if let Some(weight) = weight {
            of_columns[weight] = Role::Weight;
        }
        let mut roles = Self { of_columns, modes: plan, weighted: weight.is_some() };
        let mut named = Vec::with_capacity(options.bins.len());
        for bin in &options.bins {
            let (column, mode) = roles.mode_to_cut(columns, &bin.column)?;
            if named.contains(&column) {
                return Err(bins_of_no_mode(columns, &bin.column));
            }
            named.push(column);
            if let Some(size) = bin.size {
                roles.cut(column, mode, size, evidence.time_unit(column));
            }
        }
        for (mode, &column) in modes.iter().enumerate() {
            // Times that were asked for as labels stay so, unless hardly two rows would share one.
            let stays = named.contains(&column) || (is_asked && !evidence.hardly_repeats(column));
            if let Some(unit) = evidence.time(column).filter(|_| !stays) {
                roles.cut(column, mode, BinSize::Auto, unit);
            }
        }
        Ok(roles)
    }

    /// The roles in words. `modes` are those that the columns became.
    pub(crate) fn describe(
        &self,
        columns: Columns<'_>,
        options: &ReadOptions,
        facts: &[ColumnFacts],
        modes: &[Mode],
    ) -> ColumnRoles {
        let named = |wanted: Role| self.position(|role| *role == wanted).map(|at| columns.name(at));
        let mode_roles = modes.iter().enumerate().filter_map(|(mode, about)| {
            let at = self.position(|role| role.mode() == Some(mode))?;
            Some(ModeRole::new(columns.name(at), about))
        });
        let unused = (0..columns.count).filter(|&at| self.of_columns[at] == Role::Unused);
        let evidence = Evidence { names: columns.names, facts };
        let doubt = self
            .position(|role| *role == Role::Value)
            .and_then(|at| evidence.doubt(at, columns.name(at), options.value.is_some()));
        ColumnRoles {
            modes: mode_roles.collect(),
            value: named(Role::Value),
            weight: named(Role::Weight),
            unused: unused.map(|at| columns.name(at)).collect(),
            warnings: doubt.into_iter().collect(),
        }
    }

    fn cut(&mut self, column: usize, mode: usize, size: BinSize, unit: TimeUnit) {
        self.of_columns[column] = Role::Time(mode);
        self.modes[mode].bins = Some(size);
        self.modes[mode].unit = unit;
    }

    /// The column and the mode that bins are for; it may be named as a column or as a mode.
    fn mode_to_cut(&self, columns: Columns<'_>, column: &ColumnRef) -> Result<(usize, usize)> {
        let by_mode = self.modes.iter().position(|mode| mode.name == column.text());
        let at = match by_mode {
            Some(mode) => self.of_columns.iter().position(|role| role.mode() == Some(mode)),
            None => Some(columns.resolve(column)?),
        };
        at.and_then(|at| Some((at, self.of_columns[at].mode()?)))
            .ok_or_else(|| bins_of_no_mode(columns, column))
    }
}

fn bins_of_no_mode(columns: Columns<'_>, column: &ColumnRef) -> ReadError {
    ReadError::BinsOfNoMode {
        file: columns.file.to_owned(),
        column: escape(column.text().as_bytes()),
    }
}
