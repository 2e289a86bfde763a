//! Finds the blocks of code in a page and decides what happens to each.
//!
//! A [`Page`] answers two questions: *which blocks are there* and *are they marked as they must be*.
//! It runs nothing. The build script uses this file too, so it needs the standard library only.
//!
//! ````text
//! ```rust             run                     also: python, c, sh
//! ```rust,no_run      compiled, not run       also: c; needs a reason
//! ```sh,ignore        neither; needs a reason
//! ```text             output or data          also: console, json, toml, cmake
//! ````
//!
//! The reason stands on the line before the fence: `<!-- not run: it takes ten minutes -->`.

use std::fmt::Write as _;

/// Programs, which are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Compiled by the tests of this crate.
    Rust,
    /// Run by the interpreter that has the package.
    Python,
    /// Compiled against the installed C library.
    C,
    /// Run by bash, with the command first on the path.
    Shell,
}

impl Language {
    /// Returns the word that the fence of a block has.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::C => "c",
            Language::Shell => "sh",
        }
    }

    fn of(word: &str) -> Option<Language> {
        let all = [Language::Rust, Language::Python, Language::C, Language::Shell];
        all.into_iter().find(|it| it.word() == word)
    }
}

/// Output and data: shown, never run.
const DATA: &[&str] = &["text", "console", "json", "toml", "cmake"];

/// The action on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is compiled and run.
    Run,
    /// It is compiled only.
    Compile,
    /// It is only read.
    Ignore,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// The language that it is written in.
    pub language: Language,
    /// The action on it.
    pub action: Action,
    /// Its lines, without the fences.
    pub text: String,
}

/// A page and its blocks, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// From the root of the repository.
    pub path: String,
    /// Programs only: output and data are left out.
    pub blocks: Vec<Block>,
}

impl Page {
    /// Finds the blocks of `text`.
    ///
    /// # Errors
    ///
    /// `path:line: why` if a fence is not closed, names no language that is known, has a mark that
    /// its language does not have, or has a mark without a reason or a reason without a mark.
    pub fn parse(path: &str, text: &str) -> Result<Page, String> {
        let mut blocks = Vec::new();
        let mut lines = text.lines().enumerate();
        let mut before = "";
        while let Some((index, line)) = lines.next() {
            let Some(fence) = Fence::open(line) else {
                if !line.trim().is_empty() {
                    before = line;
                }
                continue;
            };
            let at = |why: String| format!("{path}:{}: {why}", index + 1);
            let mut body = String::new();
            loop {
                match lines.next() {
                    None => return Err(at("the fence of this block is not closed".to_owned())),
                    Some((_, line)) if fence.is_closed_by(line) => break,
                    Some((_, line)) => {
                        body.push_str(line.get(fence.indent..).unwrap_or(line.trim_start()));
                        body.push('\n');
                    }
                }
            }
            let kind = kind(fence.info, reason(before)).map_err(at)?;
            if let Some((language, action)) = kind {
                blocks.push(Block { line: index + 1, language, action, text: body });
            }
            before = "";
        }
        Ok(Page { path: path.to_owned(), blocks })
    }

    /// Returns the blocks of one language that are run or compiled.
    pub fn of(&self, language: Language) -> impl Iterator<Item = &Block> {
        let wanted = move |it: &&Block| it.language == language && it.action != Action::Ignore;
        self.blocks.iter().filter(wanted)
    }

    /// Returns the name of the module that holds the Rust blocks: `docs_guide_reading_md`.
    #[must_use]
    pub fn module(&self) -> String {
        self.path.to_lowercase().replace(|sign: char| !sign.is_ascii_alphanumeric(), "_")
    }

    /// Returns the Rust blocks as one module: a test for each, on the lines where the page has it.
    #[must_use]
    pub fn rust(&self) -> String {
        let mut source = String::new();
        let mut line = 1;
        for block in self.of(Language::Rust) {
            source.extend(std::iter::repeat_n('\n', block.line - line));
            let name = format!("line_{}", block.line);
            let _ = writeln!(
                source,
                "#[test] fn {name}() {{ \
                 fn block() -> Result<(), Box<dyn std::error::Error>> {{"
            );
            source.push_str(&block.text);
            let end = if block.text.contains("fn main(") {
                "crate::Outcome::outcome(main())"
            } else {
                "; Ok(())"
            };
            let runs = block.action == Action::Run;
            let (path, module) = (&self.path, self.module());
            let _ = writeln!(
                source,
                "{end} }} crate::check({path:?}, {}, \"{module}::{name}\", {runs}, block); }}",
                block.line
            );
            line = block.line + block.text.lines().count() + 2;
        }
        source
    }

    /// Returns all Python blocks as one program, on the lines where the page has them.
    #[must_use]
    pub fn python(&self) -> String {
        let mut source = String::new();
        let mut line = 0;
        for block in self.of(Language::Python) {
            source.extend(std::iter::repeat_n('\n', block.line - line));
            source.push_str(&block.text);
            line = block.line + block.text.lines().count();
        }
        source
    }
}

struct Fence<'t> {
    marks: usize,
    indent: usize,
    info: &'t str,
}

impl<'t> Fence<'t> {
    fn open(line: &'t str) -> Option<Fence<'t>> {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        let info = start.trim_start_matches('`');
        let marks = start.len() - info.len();
        (marks >= 3 && !info.contains('`')).then_some(Fence {
            marks,
            indent,
            info: info.trim(),
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        Fence::open(line).is_some_and(|it| it.marks >= self.marks && it.info.is_empty())
    }
}

/// The reason in a comment of its own.
fn reason(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    inner.trim().strip_prefix("not run:").map(str::trim)
}

/// `None` for output and data.
fn kind(info: &str, reason: Option<&str>) -> Result<Option<(Language, Action)>, String> {
    let (word, mark) = info.split_once(',').unwrap_or((info, ""));
    if word.is_empty() {
        return Err("a block without a language: write ```text for output".to_owned());
    }
    let Some(language) = Language::of(word) else {
        if DATA.contains(&info) {
            return Ok(None);
        }
        let known =
            "rust, python, c and sh are run; text, console, json, toml and cmake are not";
        return Err(format!("unknown language `{info}`: {known}"));
    };
    let action = match (mark, language) {
        ("", _) => Action::Run,
        ("no_run", Language::Rust | Language::C) => Action::Compile,
        ("ignore", _) => Action::Ignore,
        _ => return Err(format!("`{word}` cannot be marked `{mark}`")),
    };
    match (action, reason) {
        (Action::Run, Some(_)) => {
            Err("a reason not to run a block that is run: remove the comment".to_owned())
        }
        (Action::Compile | Action::Ignore, None | Some("")) => Err(format!(
            "marked `{mark}` without a reason: write <!-- not run: why --> before it"
        )),
        _ => Ok(Some((language, action))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Page::parse("a.md", text).expect_err("it is not right")
    }

    #[test]
    fn each_language_is_found_with_its_line_and_what_is_data_is_left_out() {
        let text = "# A\n\n```rust\nlet a = 1;\n```\n```text\nno\n```\n  ```sh\n  ls\n  ```\n";
        let page = Page::parse("a.md", text).expect("it is right");
        let found: Vec<_> = page.blocks.iter().map(|it| (it.line, it.language)).collect();
        assert_eq!(found, [(3, Language::Rust), (9, Language::Shell)]);
        assert_eq!(page.blocks[1].text, "ls\n");
    }

    #[test]
    fn a_block_that_says_nothing_or_something_unknown_is_an_error() {
        assert!(error("\n```\nls\n```\n").starts_with("a.md:2: a block without a language"));
        assert!(error("```rsut\n```\n").starts_with("a.md:1: unknown language `rsut`"));
        assert!(error("```rust,skip\n```\n").contains("cannot be marked `skip`"));
        assert!(error("```sh,no_run\n```\n").contains("cannot be marked `no_run`"));
        assert!(error("```sh\nls\n").contains("not closed"));
    }

    #[test]
    fn a_mark_needs_a_reason_and_a_reason_needs_a_mark() {
        assert!(error("```sh,ignore\n```\n").contains("without a reason"));
        assert!(error("<!-- not run: -->\n```sh,ignore\n```\n").contains("without a reason"));
        assert!(error("<!-- not run: why -->\n```sh\n```\n").contains("that is run"));
        let text = "<!-- not run: it takes minutes -->\n```sh,ignore\nls\n```\n";
        let page = Page::parse("a.md", text).expect("it is right");
        assert_eq!(page.blocks[0].action, Action::Ignore);
        assert_eq!(page.of(Language::Shell).count(), 0);
    }

    #[test]
    fn a_reason_is_for_the_next_block_only() {
        let text = "<!-- not run: why -->\n```sh,ignore\n```\n\n```sh,ignore\n```\n";
        assert!(error(text).starts_with("a.md:5: "));
    }

    #[test]
    fn generated_code_is_on_the_lines_of_the_page() {
        let text =
            "# A\n\n```rust\nlet a = 1;\n```\n\n```rust\nb()\n```\n\n```python\nx\n```\n";
        let page = Page::parse("docs/a.md", text).expect("it is right");
        let line = |source: &str, number: usize| {
            source.lines().nth(number - 1).map(str::to_owned).expect("it has one")
        };
        assert_eq!(line(&page.rust(), 4), "let a = 1;");
        assert_eq!(line(&page.rust(), 8), "b()");
        assert!(line(&page.rust(), 9).starts_with("; Ok(())"), "{}", page.rust());
        assert_eq!(line(&page.python(), 12), "x");
    }
}
