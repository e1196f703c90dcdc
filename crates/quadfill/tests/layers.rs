//! Modules use their own and earlier layers only.

mod sources;

use std::collections::HashMap;

use sources::Source;

/// In the order in which data go through them.
const LAYERS: [&str; 11] = [
    "error",
    "whole_file",
    "observations",
    "views",
    "model",
    "objective",
    "certify",
    "solve",
    "fitted",
    "file",
    "apply",
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|&layer| layer == module)
}

/// The first segments of what follows `::`: one, or several in braces.
fn first_segments(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let path = path.trim_start();
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' if depth == 0 => {
                found.push(name(&group[start..i]));
                start = i + 1;
            }
            '}' if depth == 0 => {
                found.push(name(&group[start..i]));
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The names at the root of the crate that a piece of code uses.
fn root_names(module: &[String], code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, word) in [("crate", 0), ("super", 1)].into_iter().flat_map(|(word, is_super)| {
        code.match_indices(word).map(move |(at, _)| (at, is_super)).collect::<Vec<_>>()
    }) {
        let before = code[..start].chars().next_back().unwrap_or(' ');
        let after = code[start + 5..].chars().next().unwrap_or(' ');
        let in_name = |c: char| c.is_alphanumeric() || c == '_';
        if in_name(before) || in_name(after) {
            continue;
        }
        let mut rest = code[start + 5..].trim_start();
        if word == 0 {
            if let Some(path) = rest.strip_prefix("::") {
                found.extend(first_segments(path));
            }
            continue;
        }
        // Each `super` of a chain is met by itself; the first one counts them.
        if code[..start].trim_end().ends_with("super::") {
            continue;
        }
        let mut ups = 1;
        while let Some(path) = rest.strip_prefix("::") {
            rest = path.trim_start();
            match rest.strip_prefix("super") {
                Some(more) if !more.starts_with(in_name) => {
                    (ups, rest) = (ups + 1, more.trim_start());
                }
                _ => {
                    if ups == module.len() {
                        found.extend(first_segments(rest));
                    }
                    break;
                }
            }
        }
    }
    found
}

/// What the root hands on, and from which layer.
fn handed_on(root: &Source) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for line in root.code.split(';') {
        let Some(path) = line.trim().strip_prefix("pub use ") else { continue };
        let Some((module, items)) = path.split_once("::") else { continue };
        for item in items.trim_matches(|c: char| "{} \n".contains(c)).split(',') {
            names.insert(item.trim().to_owned(), module.trim().to_owned());
        }
    }
    names
}

/// Every use of a later layer.
fn crossings(sources: &[Source]) -> Vec<String> {
    let root = sources.iter().find(|source| source.module().is_empty()).expect("lib.rs");
    let handed_on = handed_on(root);
    let mut found = Vec::new();
    for source in sources {
        let module = source.module();
        let Some(first) = module.first() else { continue };
        let own = layer(first).unwrap_or_else(|| panic!("{first} has no place among the layers"));
        for name in root_names(&module, &source.code) {
            let target = handed_on.get(&name).unwrap_or(&name);
            // What other crates hand on is below all layers.
            if target == "quadfill_kernels" {
                continue;
            }
            match layer(target) {
                Some(used) if used <= own => {}
                Some(_) => found.push(format!("{} uses {name} of {target}", source.path.display())),
                None => found.push(format!("{}: where is {name}?", source.path.display())),
            }
        }
    }
    found
}

#[test]
fn no_module_uses_a_later_layer() {
    let sources = sources::all();
    assert!(sources.len() > 100, "the sources were found");
    let uses = sources.iter().map(|source| root_names(&source.module(), &source.code).len());
    assert!(uses.sum::<usize>() > 200, "and what they use");
    let found = crossings(&sources);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn crossings_are_noticed() {
    let source = |path: &str, code: &str| Source {
        path: path.into(),
        code: code.to_owned(),
        literals: Vec::new(),
    };
    let root = || source("lib.rs", "pub use solve::FitConfig; pub use error::{Error, Result};");
    for (path, code, is_crossing) in [
        ("views/mod.rs", "use crate::observations::Labels;", false),
        ("views/mod.rs", "use crate::objective::Objective;", true),
        ("views/mod.rs", "use super::objective::Objective;", true),
        ("views/plan.rs", "use super::objective;", false),
        ("views/plan.rs", "use super::super::objective::Objective;", true),
        ("views/plan.rs", "use crate::{error::Error, model::{A, B}};", true),
        ("views/plan.rs", "use crate::{error::{Error, Result}, observations::{A, B}};", false),
        ("views/plan.rs", "fn f() { crate::solve::fit(); }", true),
        ("views/plan.rs", "fn f() -> crate::Result<()> { my_crate::solve::fit() }", false),
        ("model/mod.rs", "fn f(config: &crate::FitConfig) {}", true),
        ("apply/mod.rs", "fn f(config: &crate::FitConfig) {}", false),
        ("fitted/mod.rs", "macro_rules! m { () => { $crate::file::x() } }", true),
        ("certify/mod.rs", "pub(in crate::solve) fn f() {}", true),
        ("error.rs", "use super::views::Views;", true),
    ] {
        let found = crossings(&[root(), source(path, code)]);
        assert_eq!(!found.is_empty(), is_crossing, "{path}: {code}: {found:?}");
    }
}
