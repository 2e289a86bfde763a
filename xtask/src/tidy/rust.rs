//! Splits Rust into tokens, well enough for the rules: not a parser.
//!
//! Comments and the insides of literals are blanked first, so that no rule mistakes a word
//! in a sentence for code. A token is a word (an identifier, keyword or number) or one sign.

use std::ops::{Range, RangeInclusive};

/// A word or one sign, on `line`, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// The tokens of one file.
#[derive(Debug)]
pub(super) struct Rust {
    /// Everything.
    pub(super) all: Vec<Token>,
    /// Without what `#[cfg(test)]` guards.
    pub(super) shipped: Vec<Token>,
    /// Files that a `#[cfg(test)] mod name;` brings in.
    pub(super) test_modules: Vec<String>,
    /// The lines of what `#[cfg(test)]` guards, counted from 1.
    pub(super) guarded: Vec<RangeInclusive<usize>>,
    /// Lines, without the tests module at the end.
    pub(super) lines: usize,
}

impl Rust {
    pub(super) fn parse(text: &str) -> Rust {
        let all = tokens(text);
        let guarded = guarded_by_test(&all);
        let mut lines_guarded = Vec::new();
        let mut shipped = Vec::new();
        let mut test_modules = Vec::new();
        let mut kept_from = 0;
        for range in &guarded {
            shipped.extend_from_slice(&all[kept_from..range.start]);
            kept_from = range.end;
            lines_guarded.push(all[range.start].line..=all[range.end - 1].line);
            test_modules.extend(modules(&all[range.clone()]).map(str::to_owned));
        }
        shipped.extend_from_slice(&all[kept_from..]);
        let lines = match guarded.last() {
            Some(range) if range.end == all.len() => all[range.start].line - 1,
            _ => text.lines().count(),
        };
        Rust { all, shipped, test_modules, guarded: lines_guarded, lines }
    }
}

/// Names in `mod name;`.
pub(super) fn modules(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens
        .windows(3)
        .filter(|it| it[0].text == "mod" && it[2].text == ";")
        .map(|it| it[1].text.as_str())
}

/// Whether `tokens` begins with these texts.
pub(super) fn begins(tokens: &[Token], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(it, text)| it.text == *text)
}

/// Whether this is an identifier, a keyword or a number.
pub(super) fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word_sign)
}

/// The index of what closes the bracket at `open`, or of the last token.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len().saturating_sub(1)
}

/// Items under `#[cfg(test)]` or `#[cfg(all(test, …))]`, attribute included.
fn guarded_by_test(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if is_test_guard(&tokens[index..]) {
            let end = item_end(tokens, index);
            ranges.push(index..end);
            index = end;
        } else {
            index += 1;
        }
    }
    ranges
}

fn is_test_guard(tokens: &[Token]) -> bool {
    begins(tokens, &["#", "[", "cfg", "(", "test", ")"])
        || begins(tokens, &["#", "[", "cfg", "(", "all", "(", "test"])
}

/// One past the item whose first attribute is at `start`.
fn item_end(tokens: &[Token], start: usize) -> usize {
    let mut index = start;
    while begins(&tokens[index..], &["#", "["]) {
        index = (closing(tokens, index + 1) + 1).min(tokens.len() - 1);
    }
    let keyword = item_keyword(&tokens[index..]);
    while index < tokens.len() {
        match tokens[index].text.as_str() {
            ";" => return index + 1,
            "," if keyword.is_none() => return index + 1,
            "{" if keyword != Some("use") => return closing(tokens, index) + 1,
            "(" | "[" | "{" => index = closing(tokens, index) + 1,
            // The end of what the item stands in.
            ")" | "]" | "}" => return index,
            _ => index += 1,
        }
    }
    tokens.len()
}

/// The keyword of an item; a field, a variant and an arm have none.
fn item_keyword(tokens: &[Token]) -> Option<&str> {
    let keywords = ["use", "mod", "fn", "impl", "struct", "enum", "trait", "const", "static"];
    tokens
        .iter()
        .map(|it| it.text.as_str())
        .take_while(|text| ![":", ",", "=", "{", "}"].contains(text))
        .find(|text| keywords.contains(text))
}

fn is_word_sign(sign: char) -> bool {
    sign == '_' || sign.is_alphanumeric()
}

/// The tokens of `text`, comments and the insides of literals left out.
fn tokens(text: &str) -> Vec<Token> {
    let code = blanked(text);
    let mut tokens: Vec<Token> = Vec::new();
    let mut line = 1;
    let mut goes_on = false;
    for sign in code.chars() {
        let in_word = is_word_sign(sign);
        match tokens.last_mut() {
            Some(word) if in_word && goes_on => word.text.push(sign),
            _ if !sign.is_whitespace() => tokens.push(Token { text: sign.to_string(), line }),
            _ => {}
        }
        goes_on = in_word;
        line += usize::from(sign == '\n');
    }
    tokens
}

/// `text` with a space for every character of a comment or inside a literal.
fn blanked(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(sign) = rest.chars().next() {
        let (len, is_kept) = match sign {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => (block_comment(rest), false),
            '"' => (string(rest), false),
            '\'' => match character(rest) {
                Some(len) => (len, false),
                None => (1, true),
            },
            'r' | 'b' | 'c' if !is_word_sign(before) => match raw_string(rest) {
                Some(len) => (len, false),
                None => (1, true),
            },
            _ => (sign.len_utf8(), true),
        };
        let (piece, behind) = rest.split_at(len);
        if is_kept {
            code.push_str(piece);
        } else {
            code.extend(piece.chars().map(|it| if it == '\n' { '\n' } else { ' ' }));
            // A literal is a value: `""` keeps its place between two signs.
            if sign != '/' {
                code.pop();
                code.push('"');
            }
        }
        before = sign;
        rest = behind;
    }
    code
}

/// Bytes of the block comment, which may hold others, at the start of `rest`.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Bytes of the string at the start of `rest`, quotes included.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (index, sign) in rest.char_indices().skip(1) {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Bytes of the character at the start of `rest`; none if it is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut signs = rest.char_indices().skip(1);
    let (_, first) = signs.next()?;
    if first == '\\' {
        signs.next()?;
        return signs.find(|(_, sign)| *sign == '\'').map(|(index, _)| index + 1);
    }
    signs.next().filter(|(_, sign)| *sign == '\'').map(|(index, _)| index + 1)
}

/// Bytes of the raw string, such as `br#"…"#`, at the start of `rest`; none if it is none.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|it| {
        rest.strip_prefix(it).is_some_and(|behind| behind.starts_with(['#', '"']))
    })?;
    let behind = &rest[prefix.len()..];
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let inside = behind[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(prefix.len() + hashes + 1 + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tokens: &[Token]) -> Vec<&str> {
        tokens.iter().map(|it| it.text.as_str()).collect()
    }

    #[test]
    fn comments_and_literals_hold_no_words() {
        let text =
            "// a\n/* b /* c */ d */ e \"f \\\" g\" r#\"h \" i\"# b'j' '\\'' 'k' br\"l\" m";
        let found = tokens(text);
        assert!(!texts(&found).iter().any(|it| "abcdfghijkl".contains(it) && *it != "b"));
        assert_eq!(texts(&found), ["e", "\"", "\"", "b", "\"", "\"", "\"", "\"", "m"]);
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_no_literals() {
        let found = tokens("fn r#fn<'a>(b: &'a str) -> '_ {}");
        assert_eq!(texts(&found)[..6], ["fn", "r", "#", "fn", "<", "'"]);
        assert!(texts(&found).contains(&"{"));
    }

    #[test]
    fn lines_are_counted_through_strings() {
        let found = tokens("\"a\nb\"\nc 'd' 'é' e");
        assert_eq!(found.last().map(|it| (it.text.as_str(), it.line)), Some(("e", 3)));
    }

    #[test]
    fn what_only_tests_see_is_not_shipped() {
        let text = "use a;\n#[cfg(test)]\nuse crate::{b, c};\nfn d() {}\n\
                    #[cfg(test)]\nmod faults;\n#[cfg(test)]\nimpl<A, B> T for P<A, B> {}\n\
                    struct S {\n#[cfg(test)] e: [u8; 2],\nf: u8 }\n\
                    #[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn g() {}\n}\n";
        let rust = Rust::parse(text);
        let shipped = texts(&rust.shipped).join(" ");
        assert_eq!(shipped, "use a ; fn d ( ) { } struct S { f : u8 }");
        assert_eq!(rust.test_modules, ["faults"]);
        assert_eq!(rust.lines, 11);
    }

    #[test]
    fn a_test_guard_at_the_very_end_is_no_panic() {
        assert!(Rust::parse("fn a() {}\n#[cfg(test)]").test_modules.is_empty());
    }
}
