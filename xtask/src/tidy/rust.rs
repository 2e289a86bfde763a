//! Rust as the rules see it: split into tokens by `proc-macro2` and parsed by `syn`, once per file.
//!
//! Code under `#[cfg(test)]` is cut out first, since most rules are about what ships. A rule that
//! looks into macros walks [`Token`]s; the others walk [`items`](Rust::items).

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Item;

/// A word, a literal, one sign or one bracket, with its line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// One file.
#[derive(Debug)]
pub(super) struct Rust {
    /// Everything except comments.
    pub(super) all: Vec<Token>,
    /// Without the code under `#[cfg(test)]`.
    pub(super) shipped: Vec<Token>,
    /// The items of the file, parsed.
    pub(super) items: Vec<Item>,
    /// Why it could not be split or parsed.
    pub(super) error: Option<syn::Error>,
    /// Files that a `#[cfg(test)] mod name;` includes.
    pub(super) test_modules: Vec<String>,
    /// Number of lines, without the tests module at the end.
    pub(super) lines: usize,
    /// The lines under `#[cfg(test)]`, counted from 1.
    pub(super) guarded: Vec<RangeInclusive<usize>>,
    pub(super) stream: TokenStream,
}

impl Rust {
    pub(super) fn parse(text: &str) -> Rust {
        let (stream, unsplit) = match text.parse::<TokenStream>() {
            Ok(stream) => (stream, None),
            Err(error) => (TokenStream::new(), Some(error.into())),
        };
        let mut cut = Cut::default();
        let shipped = cut.without_tests(stream.clone());
        let all = flat(stream.clone());
        let end = all.last().map_or(0, |it| it.line);
        let lines = match cut.guarded.last() {
            Some(range) if *range.end() == end => range.start() - 1,
            _ => text.lines().count(),
        };
        let (items, error) = match syn::parse2::<syn::File>(shipped.clone()) {
            Ok(file) => (file.items, unsplit),
            Err(error) => (Vec::new(), Some(error)),
        };
        let Cut { guarded, modules: test_modules } = cut;
        Rust { all, shipped: flat(shipped), items, error, test_modules, lines, guarded, stream }
    }
}

/// Names in `mod name;`.
fn modules(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens
        .windows(3)
        .filter(|it| it[0].text == "mod" && it[2].text == ";")
        .map(|it| it[1].text.as_str())
}

/// Whether `tokens` begins with these texts.
pub(super) fn begins(tokens: &[Token], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(it, text)| it.text == *text)
}

/// Returns the tokens of a stream, including brackets.
pub(super) fn flat(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    add(stream, &mut tokens);
    tokens
}

fn add(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let TokenTree::Group(group) = tree else {
            tokens.push(Token { text: tree.to_string(), line });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        tokens.push(Token { text: open.to_owned(), line });
        add(group.stream(), tokens);
        let line = group.span_close().end().line;
        tokens.push(Token { text: close.to_owned(), line });
    }
}

/// Cuts out tests, and records their lines.
#[derive(Default)]
struct Cut {
    guarded: Vec<RangeInclusive<usize>>,
    modules: Vec<String>,
}

impl Cut {
    fn without_tests(&mut self, stream: TokenStream) -> TokenStream {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut kept = TokenStream::new();
        let mut index = 0;
        while index < trees.len() {
            let attributes = attributes(&trees[index..]);
            if trees[index..index + attributes].iter().any(is_test_guard) {
                let end = item_end(&trees, index + attributes);
                self.keep(&trees[index..end]);
                index = end;
                continue;
            }
            let end = index + attributes.max(1);
            kept.extend(trees[index..end].iter().map(|tree| self.inside(tree)));
            index = end;
        }
        kept
    }

    fn inside(&mut self, tree: &TokenTree) -> TokenTree {
        let TokenTree::Group(group) = tree else { return tree.clone() };
        let mut inner = Group::new(group.delimiter(), self.without_tests(group.stream()));
        inner.set_span(group.span());
        TokenTree::Group(inner)
    }

    fn keep(&mut self, guarded: &[TokenTree]) {
        let tokens = flat(guarded.iter().cloned().collect());
        self.modules.extend(modules(&tokens).map(str::to_owned));
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        self.guarded.push(first.line..=last.line);
    }
}

/// Returns how many of `trees` are attributes of what follows: `#` and `[…]`, in turn.
fn attributes(trees: &[TokenTree]) -> usize {
    let is_one = |pair: &&[TokenTree]| {
        matches!(pair, [TokenTree::Punct(sign), TokenTree::Group(group)]
            if sign.as_char() == '#' && group.delimiter() == Delimiter::Bracket)
    };
    trees.chunks(2).take_while(is_one).count() * 2
}

/// `[cfg(test)]` or `[cfg(all(test, …))]`.
fn is_test_guard(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    let is_cfg = matches!(group.stream().into_iter().next(),
        Some(TokenTree::Ident(name)) if name == "cfg");
    let tokens = if is_cfg { flat(group.stream()) } else { Vec::new() };
    begins(&tokens, &["cfg", "(", "test", ")"])
        || begins(&tokens, &["cfg", "(", "all", "(", "test"])
}

/// Returns the index after the item that begins at `start`, after its attributes.
fn item_end(trees: &[TokenTree], start: usize) -> usize {
    let keyword = item_keyword(&trees[start..]);
    for (index, tree) in trees.iter().enumerate().skip(start) {
        let is_end = match tree {
            TokenTree::Punct(sign) => {
                sign.as_char() == ';' || (sign.as_char() == ',' && keyword.is_none())
            }
            TokenTree::Group(group) => {
                let has_body =
                    !["use", "const", "static"].iter().any(|it| keyword == Some(*it));
                group.delimiter() == Delimiter::Brace && has_body
            }
            _ => false,
        };
        if is_end {
            return index + 1;
        }
    }
    trees.len()
}

/// Returns the keyword of an item; fields, variants and match arms have none.
fn item_keyword(trees: &[TokenTree]) -> Option<&'static str> {
    // `fn` first: it may be `const`.
    let keywords = ["fn", "use", "mod", "impl", "struct", "enum", "trait", "const", "static"];
    let head = trees.iter().take_while(|tree| match tree {
        TokenTree::Punct(sign) => !":,=".contains(sign.as_char()),
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        _ => true,
    });
    let words: Vec<String> = head.map(TokenTree::to_string).collect();
    keywords.into_iter().find(|keyword| words.iter().any(|word| word == keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tokens: &[Token]) -> Vec<&str> {
        tokens.iter().map(|it| it.text.as_str()).collect()
    }

    #[test]
    fn words_of_comments_and_literals_are_no_tokens() {
        let text = "// a\n/* b /* c */ d */ e \"f \\\" g\" r#\"h \" i\"# b'j' '\\'' 'k' m";
        let found = flat(text.parse().expect("tokens"));
        let words: Vec<_> =
            texts(&found).into_iter().filter(|it| !it.contains(['"', '\''])).collect();
        assert_eq!(words, ["e", "m"]);
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn brackets_and_lifetimes_are_tokens_with_their_lines() {
        let found = flat("fn r#fn<'a>(\nb: &'a str\n) {}".parse().expect("tokens"));
        assert_eq!(texts(&found)[..7], ["fn", "r#fn", "<", "'", "a", ">", "("]);
        assert_eq!(found.iter().find(|it| it.text == ")").map(|it| it.line), Some(3));
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
        assert_eq!(rust.items.len(), 3);
    }

    #[test]
    fn a_test_guard_at_the_very_end_is_no_panic() {
        assert!(Rust::parse("fn a() {}\n#[cfg(test)]").test_modules.is_empty());
    }
}
