//! Messages of the library know nothing of the program.

use std::path::Path;

fn check(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            check(&path);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for (number, line) in text.lines().enumerate() {
            let names_a_flag = line
                .split("--")
                .skip(1)
                .any(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()));
            assert!(!names_a_flag, "{}, line {}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn no_message_names_a_flag() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
