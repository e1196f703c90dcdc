//! What the first rows of a Parquet file say about its columns.

use super::fields::{Fields, ParquetFile};
use crate::number::trim;
use crate::recognise::{ColumnFacts, SAMPLE};

impl ParquetFile<'_> {
    /// Facts about each column, from the first group of rows. What cannot be read says nothing, and is
    /// complained about when it is used.
    pub(crate) fn sample(&self) -> Vec<ColumnFacts> {
        (0..self.names.len()).map(|column| self.column_facts(column)).collect()
    }

    fn column_facts(&self, column: usize) -> ColumnFacts {
        let mut facts = ColumnFacts::default();
        if self.seconds_per_unit(column).is_some() {
            facts.set_typed();
        }
        if self.groups() > 0 {
            let _ = self.read_first(0, column, SAMPLE, |fields, _| {
                match fields {
                    Fields::Integers(fields) => {
                        for field in fields {
                            facts.push(field.to_string().as_bytes());
                        }
                    }
                    Fields::Reals(fields) => {
                        for field in fields {
                            facts.push(field.to_string().as_bytes());
                        }
                    }
                    Fields::Texts(fields) => {
                        for field in fields {
                            facts.push(trim(field.data()));
                        }
                    }
                }
                Ok(())
            });
        }
        facts
    }
}
