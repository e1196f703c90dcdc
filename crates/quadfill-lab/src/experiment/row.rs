//! Flat rows of named values, in order of insertion.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Settings and results by name.
///
/// ```
/// use quadfill_lab::experiment::Row;
/// let row = Row::new().with("method", "path").with("d", 50).with("test_error", 1e-3);
/// assert_eq!(row.text("method"), "path");
/// assert_eq!(row.count("d"), 50);
/// assert_eq!(row.key(), r#"{"method":"path","d":50,"test_error":0.001}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row(Vec<(String, Value)>);

impl Row {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Adds or replaces a value.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// A value, if present.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// A number; infinity if absent, as JSON cannot represent numbers that are not finite.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).and_then(Value::as_f64).unwrap_or(f64::INFINITY)
    }

    /// A nonnegative integer; 0 if absent.
    pub fn count(&self, name: &str) -> usize {
        self.get(name).and_then(Value::as_u64).unwrap_or(0) as usize
    }

    /// A text; empty if absent.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// A flag; `false` if absent.
    pub fn is(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The row as JSON; equal rows have equal keys.
    pub fn key(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The row without durations, which differ from run to run.
    #[must_use]
    pub fn without_times(&self) -> Self {
        Self(self.0.iter().filter(|(name, _)| !name.ends_with("seconds")).cloned().collect())
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Row;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a flat object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut row = Row::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    row.0.push((name, value));
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Rows as CSV, with a column for every name that occurs.
pub(super) fn csv(rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Row::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut text = names.join(",");
    text.push('\n');
    for row in rows {
        let cells: Vec<String> = names
            .iter()
            .map(|name| match row.get(name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(words)) if words.contains([',', '"', '\n']) => {
                    format!("\"{}\"", words.replace('"', "\"\""))
                }
                Some(Value::String(words)) => words.clone(),
                Some(other) => other.to_string(),
            })
            .collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_json_in_order() {
        let row = Row::new().with("z", 1).with("a", "x").with("ok", true).with("seconds", 0.1);
        let back: Row = serde_json::from_str(&row.key()).expect("valid JSON");
        assert_eq!(back, row);
        assert_eq!(back.names().collect::<Vec<_>>(), ["z", "a", "ok", "seconds"]);
        assert_eq!(back.without_times().names().count(), 3);
    }

    #[test]
    fn csv_has_every_name_and_quotes_what_needs_it() {
        let rows = [Row::new().with("a", "x,y").with("b", 1), Row::new().with("c", 2.5)];
        assert_eq!(csv(&rows), "a,b,c\n\"x,y\",1,\n,,2.5\n");
    }
}
