//! The sections of the header: `crates/capi/groups.txt`.
//!
//! ```text
//! == Buffers                          the title
//! swath_buffer swath_buffer_*         the names in it, in this order
//! @arrow.txt                          a file of `crates/capi` whose text comes before them, if any
//!
//! Who frees what.                     text, if any
//!
//!     swath_buffer *buffer = NULL;    an example, which the step `c` compiles and runs
//! ```

use anyhow::{Context, Result, ensure};

/// The most lines of an example, to be read at a glance.
const MOST_LINES: usize = 12;

/// One section.
#[derive(Debug)]
pub(crate) struct HeaderGroup {
    pub(crate) title: String,
    names: Vec<String>,
    /// A file with declarations that are not generated.
    pub(super) file: Option<String>,
    text: Vec<String>,
    /// Without the indentation.
    pub(crate) example: Vec<String>,
}

/// The place of a name: its group, then the position in the group's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamePlace {
    pub(super) group: usize,
    pub(super) pattern: usize,
}

/// Reads the file.
pub(super) fn parse(text: &str) -> Result<Vec<HeaderGroup>> {
    let mut groups = Vec::new();
    for part in text.split("\n== ").skip(1) {
        let (title, rest) = part.split_once('\n').context("a group without names")?;
        let (names, rest) = rest.split_once('\n').context("a group without an example")?;
        let (file, rest) = match rest.strip_prefix('@') {
            Some(rest) => {
                let (file, rest) =
                    rest.split_once('\n').context("a group without an example")?;
                (Some(file.trim().to_owned()), rest)
            }
            None => (None, rest),
        };
        let (example, text): (Vec<&str>, Vec<&str>) =
            rest.lines().partition(|line| line.starts_with("    "));
        let text = text.join("\n").trim().lines().map(str::to_owned).collect();
        let example = example.iter().map(|line| line[4..].to_owned()).collect::<Vec<_>>();
        ensure!(
            (1..=MOST_LINES).contains(&example.len()),
            "the example of `{title}` has {} lines, not 1 to {MOST_LINES}",
            example.len()
        );
        let names = names.split_whitespace().map(str::to_owned).collect();
        groups.push(HeaderGroup { title: title.to_owned(), names, file, text, example });
    }
    Ok(groups)
}

/// Returns the place of `name`: that of the longest entry that matches it.
pub(super) fn place(groups: &[HeaderGroup], name: &str) -> Option<NamePlace> {
    let mut best: Option<(usize, NamePlace)> = None;
    for (group, it) in groups.iter().enumerate() {
        for (pattern, entry) in it.names.iter().enumerate() {
            let len = matched(entry, name);
            if len > best.map_or(0, |(longest, _)| longest) {
                best = Some((len, NamePlace { group, pattern }));
            }
        }
    }
    best.map(|(_, place)| place)
}

/// Returns how much of `name` an entry spells out; 0 if it does not match.
fn matched(entry: &str, name: &str) -> usize {
    match entry.strip_suffix('*') {
        Some(start) if name.starts_with(start) => start.len(),
        // A whole name counts more than any prefix of it.
        None if entry == name => name.len() + 1,
        _ => 0,
    }
}

impl HeaderGroup {
    /// Returns the comment at the head of section `number`.
    pub(super) fn heading(&self, number: usize) -> String {
        let rule = "=".repeat(90);
        let mut lines = vec![format!("/* {rule}"), format!(" * [{number}] {}", self.title)];
        for paragraph in [self.text.clone(), indented(&self.example)] {
            if !paragraph.is_empty() {
                lines.push(" *".into());
                lines.extend(paragraph.iter().map(|line| format!(" * {line}")));
            }
        }
        lines.push(format!(" * {rule} */"));
        lines.join("\n")
    }

    /// Returns the example as a program: functions first, the rest in `main`.
    pub(crate) fn program(&self, functions: &[String]) -> String {
        let (own, body) = parted(&self.example);
        let mut lines: Vec<String> = ["stdio.h", "stdlib.h", "string.h", "swath.h"]
            .map(|name| format!("#include <{name}>"))
            .to_vec();
        lines.extend(functions.iter().chain(&own).cloned());
        lines.push("int main(void) {".into());
        lines.push("    (void)check;".into());
        lines.extend(indented(&body));
        lines.push("    return 0;\n}\n".into());
        lines.join("\n")
    }

    /// Returns the functions of the example, which other examples may use.
    pub(crate) fn functions(&self) -> Vec<String> {
        parted(&self.example).0
    }
}

fn indented(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("    {line}")).collect()
}

/// Returns the functions of an example, from `static` to a closing brace at the margin, and the
/// rest.
fn parted(example: &[String]) -> (Vec<String>, Vec<String>) {
    let mut is_inside = false;
    let mut parts = (Vec::new(), Vec::new());
    for line in example {
        is_inside |= line.starts_with("static ");
        if is_inside { &mut parts.0 } else { &mut parts.1 }.push(line.clone());
        is_inside &= line != "}";
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Which\n\n== One\na_x a_*\n\nText\nof it.\n\n    int i;\n\n\
                        == Two\na_y_*\n\n    static void f(void) {\n    }\n    f();\n";

    #[test]
    fn the_longest_entry_decides() {
        let groups = parse(TEXT).expect("two groups");
        let at = |name| place(&groups, name).map(|it| (it.group, it.pattern));
        assert_eq!(at("a_x"), Some((0, 0)));
        assert_eq!(at("a_x_more"), Some((0, 1)));
        assert_eq!(at("a_y_more"), Some((1, 0)));
        assert_eq!(at("b"), None);
    }

    #[test]
    fn a_heading_has_title_text_and_example() {
        let groups = parse(TEXT).expect("two groups");
        let heading = groups[0].heading(7);
        let middle: Vec<&str> = heading.lines().skip(1).take(6).collect();
        assert_eq!(middle, [" * [7] One", " *", " * Text", " * of it.", " *", " *     int i;"]);
    }

    #[test]
    fn a_group_may_have_a_file_of_its_own() {
        let groups = parse("\n== One\na_x a_*\n@a.txt\n\n    int i;\n").expect("a group");
        assert_eq!(groups[0].file.as_deref(), Some("a.txt"));
        assert_eq!(place(&groups, "a.txt"), None);
        assert_eq!(groups[0].example, ["int i;"]);
    }

    #[test]
    fn functions_of_an_example_stand_outside_main() {
        let groups = parse(TEXT).expect("two groups");
        assert_eq!(groups[1].functions(), ["static void f(void) {", "}"]);
        let program = groups[1].program(&["static int g;".into()]);
        assert!(program.contains("static int g;\nstatic void f(void) {\n}\nint main"));
        assert!(program.contains("    f();\n    return 0;\n}\n"), "{program}");
    }

    #[test]
    fn a_long_example_is_refused() {
        let text = format!("\n== One\na\n\n{}", "    x;\n".repeat(MOST_LINES + 1));
        let error = parse(&text).expect_err("one line too many").to_string();
        assert!(error.contains("`One` has 13 lines"), "{error}");
    }
}
