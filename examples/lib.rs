//! Examples of what is done with Quadfill: `cargo run --release -p quadfill-examples --example ratings`.
//!
//! Each one makes its own data, or takes the path of a file.
