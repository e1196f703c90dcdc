//! What each column of a table is for.

use quadfill::observations::ColumnPlaces;

use crate::bins::BinSize;
use crate::delimited::resolve;
use crate::error::{ReadError, Result};
use crate::options::{ColumnRef, ReadOptions};
use crate::shown::shown;
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
    /// Where modes and values stand.
    pub(crate) fn places(&self) -> Option<ColumnPlaces> {
        let place = |wanted: &dyn Fn(&Role) -> bool| self.of_columns.iter().position(wanted);
        let modes = (0..self.modes.len()).map(|mode| {
            place(&|role| matches!(role, Role::Label(m) | Role::Time(m) if *m == mode))
        });
        Some(ColumnPlaces {
            modes: modes.collect::<Option<_>>()?,
            value: place(&|role| *role == Role::Value)?,
        })
    }

    /// Resolves what the options ask for.
    pub(crate) fn find(columns: Columns<'_>, options: &ReadOptions) -> Result<Self> {
        let mut taken = vec![false; columns.count];
        let asked: Option<Vec<usize>> = options
            .modes
            .as_ref()
            .map(|modes| modes.iter().map(|mode| columns.resolve(mode)).collect())
            .transpose()?;
        let weight = options.weight.as_ref().map(|weight| columns.resolve(weight)).transpose()?;
        columns.take(&mut taken, asked.iter().flatten().copied().chain(weight))?;
        let value = if options.ones { None } else { Some(columns.value(options, &taken)?) };
        columns.take(&mut taken, value)?;
        let modes = asked.unwrap_or_else(|| (0..columns.count).filter(|&c| !taken[c]).collect());
        if !(2..=8).contains(&modes.len()) {
            return Err(ReadError::ModeCount {
                file: columns.file.to_owned(),
                columns: columns.count,
                modes: modes.len(),
                hint: if modes.len() < 2 {
                    "two or more modes and a value are needed, check --delimiter and --modes"
                } else {
                    "choose 2 to 8 of them with --modes"
                },
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
            plan.push(ModePlan { name, bins: None });
        }
        if let Some(value) = value {
            of_columns[value] = Role::Value;
        }
        if let Some(weight) = weight {
            of_columns[weight] = Role::Weight;
        }
        let mut roles = Self { of_columns, modes: plan, weighted: weight.is_some() };
        for bin in &options.bins {
            roles.cut(columns, &bin.column, bin.size)?;
        }
        Ok(roles)
    }

    /// Turns a mode into one of times; it may be named as a column or as a mode.
    fn cut(&mut self, columns: Columns<'_>, column: &ColumnRef, size: BinSize) -> Result<()> {
        let by_mode = self.modes.iter().position(|mode| mode.name == column.text());
        let at = match by_mode {
            Some(mode) => self
                .of_columns
                .iter()
                .position(|role| matches!(role, Role::Label(m) | Role::Time(m) if *m == mode)),
            None => Some(columns.resolve(column)?),
        };
        match at.map(|at| (at, self.of_columns[at])) {
            Some((at, Role::Label(mode))) => {
                self.of_columns[at] = Role::Time(mode);
                self.modes[mode].bins = Some(size);
                Ok(())
            }
            _ => Err(ReadError::Bin(format!(
                "{}: --bin {}: this column is no mode, or is cut twice: give it once, among --modes",
                columns.file,
                shown(column.text().as_bytes())
            ))),
        }
    }
}
