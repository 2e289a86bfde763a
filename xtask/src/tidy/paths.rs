//! Which top-level modules of its own crate a file names, and where.
//!
//! ```text
//! use crate::{buffer::Buffer, error};    names buffer, error
//! super::super::plan::f()  in a/b.rs     names plan
//! ```

use super::rust::{Token, begins, closing, is_word};
use super::tree::Tree;

/// A name that stands directly behind the root of the crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) line: usize,
    /// `crate::name!`: macros have no module.
    pub(super) is_macro: bool,
}

/// One file of a crate that is compiled into what ships.
pub(super) struct File<'t> {
    pub(super) path: &'t str,
    /// The top-level module that it is, or is part of.
    pub(super) module: &'t str,
    pub(super) tokens: &'t [Token],
    pub(super) names: Vec<Named>,
}

/// The files of the crate at `folder`, without its roots and what only tests see.
pub(super) fn files<'t>(tree: &'t Tree, folder: &str) -> Vec<File<'t>> {
    let src = format!("{folder}/src/");
    let hidden = test_files(tree, &src);
    tree.rust()
        .filter_map(|(path, rust)| {
            let inner = path.strip_prefix(&src)?.strip_suffix(".rs")?;
            let inner = inner.strip_suffix("/mod").unwrap_or(inner);
            let module = inner.split('/').next()?;
            if is_hidden(&hidden, inner) || ["lib", "main", "bin"].contains(&module) {
                return None;
            }
            let tokens = &rust.shipped;
            let names = names(tokens, inner.split('/').count());
            Some(File { path, module, tokens, names })
        })
        .collect()
}

/// The top-level modules that `lib.rs` and `main.rs` of `folder` declare.
pub(super) fn top_level<'t>(tree: &'t Tree, folder: &str) -> Vec<&'t str> {
    ["lib.rs", "main.rs"]
        .iter()
        .filter_map(|root| tree.get(&format!("{folder}/src/{root}"))?.rust.as_ref())
        .flat_map(|rust| rust.all.windows(2).filter(|it| it[0].text == "mod"))
        .map(|pair| pair[1].text.as_str())
        .collect()
}

/// Files of packages that only tests bring in.
pub(super) fn test_only(tree: &Tree) -> Vec<&str> {
    let mut found = Vec::new();
    for folder in tree.packages() {
        let src = format!("{folder}/src/");
        let hidden = test_files(tree, &src);
        found.extend(tree.paths().filter(|path| {
            let inner = path.strip_prefix(&src).and_then(|it| it.strip_suffix(".rs"));
            inner.is_some_and(|inner| is_hidden(&hidden, inner))
        }));
    }
    found
}

/// Whether the module `inner`, or one that it is in, is among `hidden`.
fn is_hidden(hidden: &[String], inner: &str) -> bool {
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    hidden.iter().any(|it| inner == it || inner.starts_with(&format!("{it}/")))
}

/// Modules, as `a/b`, that a `#[cfg(test)] mod b;` in `a` brings in.
fn test_files(tree: &Tree, src: &str) -> Vec<String> {
    let mut hidden = Vec::new();
    for (path, rust) in tree.rust() {
        let Some(inner) = path.strip_prefix(src).and_then(|it| it.strip_suffix(".rs")) else {
            continue;
        };
        let is_root = ["lib", "main", "mod"].iter().find_map(|it| inner.strip_suffix(it));
        let folder = match is_root {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.to_owned(),
            _ => format!("{inner}/"),
        };
        hidden.extend(rust.test_modules.iter().map(|name| format!("{folder}{name}")));
    }
    hidden
}

/// What `tokens`, `depth` modules below the root, name at the root.
fn names(tokens: &[Token], depth: usize) -> Vec<Named> {
    let inline = inline_depths(tokens);
    let mut names = Vec::new();
    for index in 0..tokens.len() {
        let behind_path = index > 1 && begins(&tokens[index - 2..], &[":", ":"]);
        let behind = match tokens[index].text.as_str() {
            "crate" => 1,
            "super" if !behind_path => supers(&tokens[index..], depth + inline[index]),
            _ => 0,
        };
        if behind > 0 && begins(&tokens[index + behind..], &[":", ":"]) {
            heads(tokens, index + behind + 2, &mut names);
        }
    }
    names
}

/// Tokens in `super::super…` if it climbs `depth` times, to the root; else 0.
fn supers(tokens: &[Token], depth: usize) -> usize {
    let count = tokens
        .chunks(3)
        .take_while(|it| it[0].text == "super")
        .take_while(|it| begins(&it[1..], &[":", ":"]))
        .count();
    if count == depth { count * 3 - 2 } else { 0 }
}

/// How many `mod name { … }` each token stands in.
fn inline_depths(tokens: &[Token]) -> Vec<usize> {
    let mut depths = vec![0; tokens.len()];
    for index in 0..tokens.len().saturating_sub(2) {
        if tokens[index].text == "mod" && tokens[index + 2].text == "{" {
            let end = closing(tokens, index + 2);
            depths[index + 2..end].iter_mut().for_each(|it| *it += 1);
        }
    }
    depths
}

/// The first name of each path that begins at `start`: one, or those of a `{…}`.
fn heads(tokens: &[Token], start: usize, names: &mut Vec<Named>) {
    let Some(first) = tokens.get(start) else { return };
    if first.text != "{" {
        names.push(named(tokens, start));
        return;
    }
    let end = closing(tokens, start);
    let mut index = start + 1;
    let mut at_head = true;
    while index < end {
        match tokens[index].text.as_str() {
            "," => at_head = true,
            "{" => index = closing(tokens, index),
            text if at_head && (is_word(text) || text == "*") => {
                names.push(named(tokens, index));
                at_head = false;
            }
            _ => {}
        }
        index += 1;
    }
}

fn named(tokens: &[Token], index: usize) -> Named {
    let Token { text, line } = &tokens[index];
    let is_macro = begins(&tokens[index + 1..], &["!"]);
    Named { name: text.clone(), line: *line, is_macro }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::super::rust::Rust;
    use super::*;

    fn found(text: &str, depth: usize) -> Vec<String> {
        names(&Rust::parse(text).all, depth).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn every_way_to_name_a_module_is_seen() {
        assert_eq!(found("use crate::engine::Pool;", 1), ["engine"]);
        assert_eq!(found("pub use crate::{a::{B, c::D}, e, f as g};", 1), ["a", "e", "f"]);
        assert_eq!(found("fn a() { crate::sink::write(crate::read::x) }", 1), ["sink", "read"]);
        assert_eq!(found("use crate::*;", 1), ["*"]);
        assert!(names(&Rust::parse("crate::trace!()").all, 1)[0].is_macro);
    }

    #[test]
    fn super_counts_when_it_climbs_to_the_root() {
        assert_eq!(found("use super::buffer;", 1), ["buffer"]);
        assert!(found("use super::buffer;", 2).is_empty());
        assert_eq!(found("use super::super::buffer::X;", 2), ["buffer"]);
        assert_eq!(found("mod a { use super::super::buffer; use super::x; }", 1), ["buffer"]);
        assert_eq!(found("use super::{a, b::C};", 1), ["a", "b"]);
    }

    #[test]
    fn visibility_and_other_crates_name_nothing() {
        assert!(
            found("pub(crate) fn a(b: swath_os::C) {} pub(super) use self::d;", 1).is_empty()
        );
    }

    #[test]
    fn files_that_only_tests_see_are_left_out() {
        let planted = Planted::clean();
        planted.put("crates/swath/src/engine.rs", "mod pool;\n#[cfg(test)]\nmod faults;\n");
        planted.put("crates/swath/src/engine/faults.rs", "use crate::sink;\n");
        planted.put("crates/swath/src/engine/faults/deep.rs", "use crate::sink;\n");
        let tree = planted.tree();
        let paths: Vec<_> = files(&tree, "crates/swath").iter().map(|it| it.path).collect();
        assert!(paths.contains(&"crates/swath/src/engine/pool.rs"));
        assert!(!paths.iter().any(|it| it.contains("faults")), "{paths:?}");
    }
}
