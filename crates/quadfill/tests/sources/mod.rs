//! The sources of the library, taken apart: code without comments and literals, and the literals.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// A file of the library, its tests aside.
pub(crate) struct Source {
    /// The path below `src`.
    pub(crate) path: PathBuf,
    /// The code, comments and the contents of literals aside.
    pub(crate) code: String,
    /// The string literals, as they are written.
    pub(crate) literals: Vec<String>,
}

impl Source {
    /// The module that the file is, from the root of the crate.
    pub(crate) fn module(&self) -> Vec<String> {
        let mut parts: Vec<String> = self
            .path
            .with_extension("")
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
            parts.pop();
        }
        parts
    }
}

/// Every file of the library that is not a test.
pub(crate) fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the sources are there") {
            let path = entry.expect("the sources are there").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are text");
                let path = path.strip_prefix(&root).expect("it is below").to_owned();
                found.push((path, text));
            }
        }
    }
    found.sort();
    let mut tests = Vec::new();
    let mut sources = Vec::new();
    for (path, text) in found {
        let (code, literals) = take_apart(&text);
        let (code, literals, test_files) = without_tests(&code, &literals);
        let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib") => path.parent().expect("a folder").to_owned(),
            _ => path.with_extension(""),
        };
        tests.extend(test_files.into_iter().map(|name| folder.join(format!("{name}.rs"))));
        sources.push(Source { path, code, literals });
    }
    sources.retain(|source| !tests.contains(&source.path));
    sources
}

/// The code with comments left out and each literal replaced by `"` and its number and `"`, and the
/// contents of the literals.
fn take_apart(text: &str) -> (String, Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut code, mut literals) = (String::new(), Vec::new());
    let mut i = 0;
    while i < chars.len() {
        let before = if i == 0 { ' ' } else { at(i - 1) };
        if at(i) == '/' && at(i + 1) == '/' {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
        } else if at(i) == '/' && at(i + 1) == '*' {
            let mut depth = 0;
            loop {
                if at(i) == '/' && at(i + 1) == '*' {
                    (depth, i) = (depth + 1, i + 2);
                } else if at(i) == '*' && at(i + 1) == '/' {
                    (depth, i) = (depth - 1, i + 2);
                } else {
                    i += 1;
                }
                if depth == 0 || i >= chars.len() {
                    break;
                }
            }
        } else if at(i) == 'r' && !is_name(before) && is_raw_string(&chars[i + 1..]) {
            let hashes = chars[i + 1..].iter().take_while(|&&c| c == '#').count();
            let end: String = format!("\"{}", "#".repeat(hashes));
            let start = i + hashes + 2;
            let rest: String = chars[start..].iter().collect();
            let length = rest.find(&end).expect("a raw string ends");
            let inside: String = rest[..length].to_owned();
            i = start + inside.chars().count() + hashes + 1;
            code.push_str(&mark(literals.len()));
            literals.push(inside);
        } else if at(i) == '"' {
            let start = i + 1;
            i = start;
            while at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            code.push_str(&mark(literals.len()));
            literals.push(chars[start..i].iter().collect());
            i += 1;
        } else if at(i) == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            // A character and not a lifetime.
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while at(i) != '\'' {
                i += 1;
            }
            i += 1;
            code.push_str("' '");
        } else {
            code.push(at(i));
            i += 1;
        }
    }
    (code, literals)
}

/// What stands for a literal.
fn mark(number: usize) -> String {
    format!("\"{number}\"")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_raw_string(rest: &[char]) -> bool {
    rest.iter().find(|&&c| c != '#') == Some(&'"')
}

/// Leaves out what is only for tests; says which files are.
fn without_tests(code: &str, literals: &[String]) -> (String, Vec<String>, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let (mut kept, mut files) = (String::new(), Vec::new());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        let (mut depth, mut end) = (0usize, rest.len());
        for (i, c) in rest.char_indices() {
            match c {
                '{' | '[' | '(' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == ';' || c == '}') {
                end = i + 1;
                break;
            }
        }
        let item = &rest[..end];
        if let Some(name) = item.trim().strip_suffix(';').and_then(|item| item.split("mod ").nth(1))
        {
            files.push(name.trim().to_owned());
        }
        rest = &rest[end..];
    }
    kept.push_str(rest);
    let numbers: Vec<usize> =
        kept.split('"').skip(1).step_by(2).filter_map(|number| number.parse().ok()).collect();
    let literals = numbers.into_iter().map(|number| literals[number].clone()).collect();
    (kept, literals, files)
}

#[test]
fn sources_are_taken_apart() {
    let text = r##"
        // use crate::solve::x;
        /* crate::file /* nested */ crate::apply */
        fn f<'a>(x: &'a str) -> char { g("a \" -- b"); h(r#"raw " c"#); b"bytes"; '"' }
        #[cfg(test)]
        #[expect(dead_code)]
        mod inner { use crate::apply; const T: &str = "only a test"; }
        #[cfg(test)]
        mod tests;
        use crate::model::X;
    "##;
    let (code, literals) = take_apart(text);
    let (code, literals, files) = without_tests(&code, &literals);
    assert!(!code.contains("solve") && !code.contains("file") && !code.contains("apply"), "{code}");
    assert!(code.contains("use crate::model::X;") && code.contains("<'a>(x: &'a str)"), "{code}");
    assert_eq!(literals, ["a \\\" -- b", "raw \" c", "bytes"]);
    assert_eq!(files, ["tests"]);
}
