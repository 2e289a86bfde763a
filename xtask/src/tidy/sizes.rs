//! Functions and files that are too long, and a list of exceptions, which only shrinks.

use super::Violation;
use super::rust::{Token, closing};
use super::tables::{ALLOW, FILE_LINES, FUNCTION_LINES};
use super::tree::Tree;

/// A function and its lines, from `fn` to the closing brace.
#[derive(Debug, PartialEq, Eq)]
struct FunctionSize<'t> {
    name: &'t str,
    line: usize,
    lines: usize,
}

/// An exception: `path` or `path::function`, then the reason.
struct Exception<'t> {
    name: &'t str,
    reason: &'t str,
    line: usize,
    is_used: bool,
}

/// Finds whatever exceeds a limit without an exception, and exceptions that are not used.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut exceptions = exceptions(tree.get(ALLOW).map_or("", |it| it.text.as_str()));
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        for it in functions(&rust.all).filter(|it| it.lines > FUNCTION_LINES) {
            if !is_allowed(&mut exceptions, &format!("{path}::{}", it.name)) {
                let text =
                    format!("`{}` has {} lines, above {FUNCTION_LINES}", it.name, it.lines);
                violations.push(Violation::new(path, it.line, text));
            }
        }
        if !is_test(path) && rust.lines > FILE_LINES && !is_allowed(&mut exceptions, path) {
            let text = format!("{} lines without tests, above {FILE_LINES}", rust.lines);
            violations.push(Violation::new(path, 1, text));
        }
    }
    violations.extend(exceptions.iter().filter_map(idle));
    violations
}

fn exceptions(text: &str) -> Vec<Exception<'_>> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, text)| {
            let (name, reason) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            Exception { name, reason: reason.trim(), line, is_used: false }
        })
        .collect()
}

fn is_allowed(exceptions: &mut [Exception<'_>], name: &str) -> bool {
    let found = exceptions.iter_mut().find(|it| it.name == name && !it.reason.is_empty());
    found.map(|it| it.is_used = true).is_some()
}

fn idle(exception: &Exception<'_>) -> Option<Violation> {
    let text = match exception {
        Exception { reason: "", name, .. } => format!("`{name}` has no reason"),
        Exception { is_used: false, name, .. } => format!("`{name}` needs no exception"),
        _ => return None,
    };
    Some(Violation::new(ALLOW, exception.line, text))
}

/// Files that contain only tests.
fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Returns the lines of each function, from `fn` to the closing brace.
pub(super) fn lengths(tokens: &[Token]) -> impl Iterator<Item = usize> {
    functions(tokens).map(|it| it.lines)
}

fn functions(tokens: &[Token]) -> impl Iterator<Item = FunctionSize<'_>> {
    (1..tokens.len()).filter_map(|index| {
        let name = tokens[index].text.as_str();
        let start = &tokens[index - 1];
        // In a function pointer, `fn` is followed by its parameters.
        if start.text != "fn" || name == "(" {
            return None;
        }
        let end = closing(tokens, body(tokens, index)?);
        let lines = tokens[end].line - start.line + 1;
        Some(FunctionSize { name, line: start.line, lines })
    })
}

/// Returns the brace that opens the body of the function whose name is at `index`.
fn body(tokens: &[Token], mut index: usize) -> Option<usize> {
    while index < tokens.len() {
        match tokens[index].text.as_str() {
            "{" => return Some(index),
            ";" => return None,
            "(" | "[" => index = closing(tokens, index) + 1,
            _ => index += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/plan/src/extent.rs";

    fn function(lines: usize) -> String {
        format!("\nfn long(a: [u8; 2]) -> u8 {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_one_line_above_the_limit_is_found() {
        let planted = Planted::clean();
        planted.put(PATH, &function(FUNCTION_LINES));
        assert!(planted.found(check).is_empty());
        planted.put(PATH, &function(FUNCTION_LINES + 1));
        planted.finds(check, "crates/plan/src/extent.rs:2: `long` has 71 lines, above 70");
    }

    #[test]
    fn a_file_one_line_above_the_limit_is_found_its_tests_not_counted() {
        let tests = "#[cfg(test)]\nmod tests {\n    // more\n}\n";
        let planted = Planted::clean();
        planted.put(PATH, &format!("{}{tests}", "//\n".repeat(FILE_LINES)));
        assert!(planted.found(check).is_empty());
        planted.put(PATH, &format!("{}{tests}", "//\n".repeat(FILE_LINES + 1)));
        planted.finds(check, "crates/plan/src/extent.rs:1: 501 lines without tests, above 500");
        planted.put(PATH, "\n");
        planted.put("crates/plan/tests/promise.rs", &"//\n".repeat(FILE_LINES + 1));
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn an_exception_with_a_reason_is_obeyed() {
        let planted = Planted::clean();
        planted.put(PATH, &function(FILE_LINES));
        let allow = format!("# why\n{PATH}::long  a table\n{PATH} one idea\n");
        planted.put(ALLOW, &allow);
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn an_exception_without_a_use_or_a_reason_is_found() {
        let planted = Planted::clean();
        planted.put(ALLOW, "# why\ncrates/plan/src/extent.rs::gone a table\n");
        planted.finds(check, "xtask/tidy.allow:2: `crates/plan/src/extent.rs::gone` needs no");
        planted.put(ALLOW, "crates/plan/src/extent.rs::gone\n");
        planted.finds(check, "xtask/tidy.allow:1: `crates/plan/src/extent.rs::gone` has no");
    }

    #[test]
    fn declarations_and_pointers_are_no_functions_with_bodies() {
        let rust = super::super::rust::Rust::parse("trait A { fn b(); } fn c(d: fn(u8)) {}\n");
        let names: Vec<_> = functions(&rust.all).map(|it| it.name).collect();
        assert_eq!(names, ["c"]);
    }
}
