//! Labels as JSON lines, and back.
//!
//! One line per label, `[mode, label]`, modes counted from 0 and labels in the order of the rows of
//! the mode's factor matrix. Whole numbers are written as numbers and anything else as text, so any
//! JSON reader gets every label back exactly, one line at a time.

use std::io::Write;

use serde::{Deserialize, Serialize};

use super::DAMAGED;
use crate::observations::{Labels, Mode, TextLabels};

/// What the labels of a mode are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Whole numbers, ascending.
    Integers,
    /// Text.
    Text,
}

impl Kind {
    pub(super) fn of(labels: &Labels) -> Self {
        match labels {
            Labels::Integers(_) => Self::Integers,
            Labels::Text(_) => Self::Text,
        }
    }
}

/// The lines of all modes.
pub(super) fn to_bytes(modes: &[Mode]) -> Vec<u8> {
    let mut out = Vec::new();
    let written = "writing to memory does not fail";
    for (at, mode) in modes.iter().enumerate() {
        match &mode.labels {
            Labels::Integers(labels) => {
                for label in labels {
                    writeln!(out, "[{at},{label}]").expect(written);
                }
            }
            Labels::Text(text) => {
                for index in 0..text.len() {
                    serde_json::to_writer(&mut out, &(at, text.name(index))).expect(written);
                    out.push(b'\n');
                }
            }
        }
    }
    out
}

/// Reads as many labels as each of the modes is said to have.
pub(super) fn parse(bytes: &[u8], modes: &[(Kind, usize)]) -> Result<Vec<Labels>, String> {
    let mut lines = Lines { rest: bytes, number: 0 };
    let mut all = Vec::new();
    for (at, &(kind, count)) in modes.iter().enumerate() {
        all.push(match kind {
            Kind::Integers => Labels::Integers(integers(&mut lines, at, count)?),
            Kind::Text => Labels::Text(texts(&mut lines, at, count)?),
        });
    }
    if lines.rest.is_empty() {
        Ok(all)
    } else {
        let expected: usize = modes.iter().map(|&(_, count)| count).sum();
        Err(format!("there are more lines than the {expected} labels of the model: {DAMAGED}"))
    }
}

fn integers(lines: &mut Lines<'_>, mode: usize, count: usize) -> Result<Vec<i64>, String> {
    let mut labels = Vec::new();
    for _ in 0..count {
        let label: i64 = lines.next(mode)?;
        // Labels are found by bisection.
        if labels.last().is_some_and(|&before| before >= label) {
            return Err(lines.damaged(&format!("label {label} is not above the one before it")));
        }
        labels.push(label);
    }
    Ok(labels)
}

fn texts(lines: &mut Lines<'_>, mode: usize, count: usize) -> Result<TextLabels, String> {
    let mut labels = TextLabels::default();
    for index in 0..count {
        let label: String = lines.next(mode)?;
        if labels.intern(&label) as usize != index {
            return Err(lines.damaged(&format!("label {label:?} is there twice")));
        }
    }
    Ok(labels)
}

/// The lines not yet read.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    /// The label on the next line, which must be one of `mode`.
    fn next<L: Deserialize<'a>>(&mut self, mode: usize) -> Result<L, String> {
        self.number += 1;
        if self.rest.is_empty() {
            return Err(self.damaged("the labels end here but the model has more"));
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        match serde_json::from_slice::<(usize, L)>(line) {
            Ok((found, label)) if mode == found => Ok(label),
            Ok(_) => Err(self.damaged(&format!("a label of mode {mode} was expected"))),
            Err(_) => Err(self.damaged("this is not a label of the expected kind")),
        }
    }

    fn damaged(&self, what: &str) -> String {
        format!("line {}: {what}: {DAMAGED}", self.number)
    }
}
