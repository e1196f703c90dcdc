//! The program from outside: what it is given, what it says, what it leaves on disk.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod broken_cases;
mod broken_input;
mod broken_uses;
mod columns;
mod commands;
mod manners;
mod place;
mod same_bits;
mod use_model;
mod words;
