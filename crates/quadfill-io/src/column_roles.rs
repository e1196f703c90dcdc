//! What each column of a file was taken for, so that its reader can be told.

use quadfill::{Mode, Setting};
use serde::Serialize;

/// What the columns of a file were taken for. Columns without names go by their numbers from 1.
///
/// ```
/// use quadfill_io::{ReadOptions, read_bytes_with_roles};
/// let mut text = String::from("userId,movieId,rating,timestamp\n");
/// for day in 0..300 {
///     text += &format!("{},{},{},{}\n", day % 7, day % 11, day % 5, 881_250_949 + 86_400 * day);
/// }
/// let (data, roles) = read_bytes_with_roles("r.csv", text.as_bytes(), &ReadOptions::default())?;
/// let roles = roles.expect("a file of rows has columns");
/// assert_eq!(roles.value.as_deref(), Some("rating"));
/// assert_eq!(roles.modes[2].column, "timestamp");
/// assert_eq!(roles.modes[2].bins.as_deref(), Some("4 weeks"));
/// assert_eq!(data.sizes(), [7, 11, 11]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnRoles {
    /// The modes in their order.
    pub modes: Vec<ModeRole>,
    /// The column of values; none if each row counts 1.
    pub value: Option<String>,
    /// The column of weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Columns that are not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<String>,
    /// What speaks against these roles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ColumnWarning>,
}

/// A column that is a mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeRole {
    /// Its name or number.
    pub column: String,
    /// How wide its bins are, if it is one of times: `4 weeks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<String>,
}

/// A column that is probably not what it was taken for. The text names settings in backticks, last.
///
/// ```
/// use quadfill_io::ColumnWarning;
/// let warning = ColumnWarning::ValueIsTime { column: "created".to_owned() };
/// assert_eq!(
///     warning.to_string(),
///     "the values are those of column `created`, which looks like a time: choose another column with `value`"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColumnWarning {
    /// The values look like times.
    #[error(
        "the values are those of column `{column}`, which looks like a time: choose another column with `value`"
    )]
    ValueIsTime {
        /// The column.
        column: String,
    },
    /// The values look like identifiers.
    #[error(
        "the values are those of column `{column}`, which looks like an identifier: choose another column with `value`"
    )]
    ValueIsIdentifier {
        /// The column.
        column: String,
    },
}

impl ColumnWarning {
    /// The settings that the message mentions.
    pub fn settings(&self) -> Vec<Setting> {
        vec![Setting::Value]
    }
}

impl ModeRole {
    /// A column and the bins that it was cut into as a mode.
    pub(crate) fn new(column: String, mode: &Mode) -> Self {
        Self { column, bins: mode.bins.map(|bins| bins.span()) }
    }
}
