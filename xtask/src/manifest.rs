//! Reads the parts of `Cargo.toml` that the checks need: its sections and their keys.
//!
//! This is not a TOML parser: of a value that spans lines it keeps only the first. Section heads,
//! keys and one-line strings suffice, and Cargo itself rejects invalid files.

/// One `[head]` or `[[head]]` and the entries under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) head: String,
    pub(crate) line: usize,
    pub(crate) entries: Vec<Entry>,
}

/// `key = value`, with its line, counted from 1.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) line: usize,
}

impl Section {
    /// Returns the value of `key` if it is a string.
    pub(crate) fn string(&self, key: &str) -> Option<&str> {
        quoted(&self.entries.iter().find(|entry| entry.key == key)?.value)
    }
}

/// Returns the sections of a manifest, in order.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            let end = line.rfind(']').unwrap_or(line.len());
            let head = line[..end].trim_matches(|sign| "[] ".contains(sign)).to_owned();
            sections.push(Section { head, line: index + 1, entries: Vec::new() });
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            if let Some(section) = sections.last_mut() {
                section.entries.push(Entry { key, value, line: index + 1 });
            }
        }
    }
    sections
}

/// Returns the text between the first two double quotes.
pub(crate) fn quoted(value: &str) -> Option<&str> {
    value.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_keys_and_lines_are_found() {
        let text = "[package]\nname = \"a\" # b\n\n[[example]]\nname = \"first\"\n\
                    [[example]] # two\nname = \"second\"\npath = \"second.rs\"\n";
        let sections = sections(text);
        let named: Vec<_> =
            sections.iter().map(|it| (it.head.as_str(), it.line, it.string("name"))).collect();
        let expected = [
            ("", 0, None),
            ("package", 1, Some("a")),
            ("example", 4, Some("first")),
            ("example", 6, Some("second")),
        ];
        assert_eq!(named, expected);
        assert_eq!(sections[3].string("path"), Some("second.rs"));
    }

    #[test]
    fn a_target_section_is_a_head_although_it_holds_an_equals_sign() {
        let sections = sections("[target.'cfg(target_os = \"linux\")'.dependencies]\na = 1\n");
        assert_eq!(sections[1].entries[0].key, "a");
    }
}
