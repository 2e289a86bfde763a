//! Classifies each line of a source: blank, comment or code.
//!
//! Rust is split by `proc-macro2`; in Python and C, only strings and comments are recognised.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::tidy::tree::Source;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    Comment,
    Code,
}

/// Returns the kinds of the lines of `path`; `None` if its language is not counted.
pub(super) fn of(path: &str, source: &Source) -> Option<Vec<Kind>> {
    let text = &source.text;
    match (&source.rust, path.rsplit_once('.')?.1) {
        (Some(it), _) => Some(rust(text, &it.stream)),
        (None, "py" | "pyi") => Some(python(text)),
        (None, "c" | "h" | "cpp") => Some(c(text)),
        _ => None,
    }
}

/// Blank or code.
fn blank_or(kind: Kind, line: &str) -> Kind {
    if line.trim().is_empty() { Kind::Blank } else { kind }
}

fn rust(text: &str, stream: &TokenStream) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = text.lines().map(|line| blank_or(Kind::Comment, line)).collect();
    mark(stream.clone(), &mut kinds);
    kinds
}

/// Marks comment lines that contain a token as code.
fn mark(tokens: TokenStream, kinds: &mut [Kind]) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                let inner = tokens.next_if(|it| matches!(it, TokenTree::Punct(_)));
                if tokens.next_if(is_doc).is_none() {
                    mark_span(sign.span(), kinds);
                    inner.into_iter().for_each(|it| mark_span(it.span(), kinds));
                }
            }
            TokenTree::Group(group) => {
                mark_span(group.span_open(), kinds);
                mark(group.stream(), kinds);
                mark_span(group.span_close(), kinds);
            }
            other => mark_span(other.span(), kinds),
        }
    }
}

fn mark_span(span: Span, kinds: &mut [Kind]) {
    let lines = span.start().line - 1..span.end().line;
    for kind in kinds.get_mut(lines).into_iter().flatten() {
        if *kind == Kind::Comment {
            *kind = Kind::Code;
        }
    }
}

/// Whether this is the `[doc = "…"]` that a doc comment is split into.
fn is_doc(token: &TokenTree) -> bool {
    let begins = |group: &Group| {
        let mut inside = group.stream().into_iter();
        let is_doc = matches!(inside.next(), Some(TokenTree::Ident(name)) if name == "doc");
        is_doc && matches!(inside.next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=')
    };
    matches!(token, TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket && begins(it))
}

/// A string that spans several lines: what ends it, and the kind of its lines.
type Open = Option<(&'static str, Kind)>;

fn python(text: &str) -> Vec<Kind> {
    let is_comment = |start: &str| start.starts_with('#') || is_docstring(start);
    let marks = Marks { pairs: &[("\"\"\"", "\"\"\""), ("'''", "'''")], comment: "#" };
    lines_of(text, &marks, is_comment, |kind| kind)
}

/// A string that is a statement: documentation only.
fn is_docstring(start: &str) -> bool {
    let start = start.strip_prefix('r').unwrap_or(start);
    start.starts_with("\"\"\"") || start.starts_with("'''")
}

fn c(text: &str) -> Vec<Kind> {
    let is_comment = |start: &str| start.starts_with("//") || start.starts_with("/*");
    let marks = Marks { pairs: &[("/*", "*/")], comment: "//" };
    lines_of(text, &marks, is_comment, |_| Kind::Comment)
}

/// `pairs` enclose text that may span lines; `comment` ends the significant part of a line.
struct Marks {
    pairs: &'static [(&'static str, &'static str)],
    comment: &'static str,
}

/// Classifies lines: those that begin as a comment are comments. For text that spans lines,
/// `inside` decides from its first line.
fn lines_of(
    text: &str,
    marks: &Marks,
    is_comment: impl Fn(&str) -> bool,
    inside: impl Fn(Kind) -> Kind,
) -> Vec<Kind> {
    let mut open: Open = None;
    let of_line = |line: &str| {
        let kind = match open {
            Some((_, kind)) => kind,
            None if is_comment(line.trim_start()) => Kind::Comment,
            None => Kind::Code,
        };
        open = open_after(line, open, inside(kind), marks);
        blank_or(kind, line)
    };
    text.lines().map(of_line).collect()
}

/// Returns the text that is still open at the end of `line`; `kind` is the kind of lines inside
/// text that opens in it.
fn open_after(line: &str, before: Open, kind: Kind, marks: &Marks) -> Open {
    let mut open = before;
    let mut rest = line;
    while let Some(sign) = rest.chars().next() {
        let found = marks.pairs.iter().find(|(begin, _)| rest.starts_with(begin));
        let len = match (open, found) {
            (Some((end, _)), _) if rest.starts_with(end) => {
                open = None;
                end.len()
            }
            (Some(_), _) if sign == '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            (None, Some((begin, end))) => {
                open = Some((end, kind));
                begin.len()
            }
            (None, None) if rest.starts_with(marks.comment) => return None,
            (None, None) if sign == '"' || sign == '\'' => quoted(rest, sign),
            _ => sign.len_utf8(),
        };
        rest = &rest[len..];
    }
    open
}

/// Returns the length in bytes of the one-line string at the start of `rest`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, sign)| {
        let is_end = *sign == quote && !escaped;
        escaped = *sign == '\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rust::Rust;

    fn source(path: &str, text: &str) -> Source {
        let rust = path.ends_with(".rs").then(|| Rust::parse(text));
        Source { text: text.to_owned(), rust }
    }

    /// One letter per line: blank, `#` a comment, `x` code.
    fn kinds(path: &str, text: &str) -> String {
        let sign = |kind| match kind {
            Kind::Blank => ' ',
            Kind::Comment => '#',
            Kind::Code => 'x',
        };
        of(path, &source(path, text))
            .expect("a language that is counted")
            .into_iter()
            .map(sign)
            .collect()
    }

    #[test]
    fn comments_of_rust_are_no_code_and_long_strings_are() {
        let text = "//! a\n\n/// b\n#[must_use] // c\nfn d() { // e\n/* f\ng */\n    \"h\n// i\n\nj\"\n}\n";
        assert_eq!(kinds("a.rs", text), "# #xx##xx xx");
    }

    #[test]
    fn docstrings_of_python_are_comments_and_other_strings_are_code() {
        let text = "\"\"\"a\nb\n\"\"\"\n# c\nd = \"\"\"e\n# f\n\"\"\"\ng = '# \"\"\"'  # \"\"\"\n\ndef h():\n    r'''i'''\n    j\n";
        assert_eq!(kinds("a.py", text), "####xxxx x#x");
        assert_eq!(kinds("a.pyi", "def a(): ...\n"), "x");
    }

    #[test]
    fn comments_of_c_are_no_code() {
        let text = "/* a\n * b */\n// c\nd(\"/*\"); /* e\nf */\ng('\"');\n#if 1\n";
        assert_eq!(kinds("a.c", text), "###x#xx");
        for path in ["a.toml", "Makefile"] {
            assert!(of(path, &source(path, "a\n")).is_none());
        }
    }
}
