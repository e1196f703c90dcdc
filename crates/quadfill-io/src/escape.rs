//! Pieces of a file as they may stand in a message.

/// At most forty characters, without anything that would disturb a terminal.
pub(crate) fn escape(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(200)]);
    let mut escaped: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        escaped.push('…');
    }
    escaped
}

/// At most two hundred characters on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The first twenty of these names, each in quotes.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let mut listed: Vec<String> = names
        .iter()
        .take(20)
        .map(|name| format!("`{}`", escape(name.as_ref().as_bytes())))
        .collect();
    if names.len() > listed.len() {
        listed.push(format!("and {} more", names.len() - listed.len()));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_control_characters_are_escaped() {
        assert_eq!(escape(b"a\x1b[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(escape("é".repeat(50).as_bytes()), format!("{}…", "é".repeat(40)));
    }
}
