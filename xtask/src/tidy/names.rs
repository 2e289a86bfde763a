//! The names that the files of a crate use: every `use`, and every path.
//!
//! ```text
//! use crate::{buffer::Buffer, error};    buffer::Buffer, error   from the root
//! super::super::plan::f()  in a/b.rs     plan::f                 from the root
//! Kind::Gzip               in a/b.rs     Kind::Gzip              from a::b
//! ```

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, Macro, MetaList, UseTree, Visibility};

/// Names of modules, possibly followed by an item, relative to a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// Where the names begin: the modules from the root of the crate down to there.
    pub(super) from: Vec<String>,
    pub(super) names: Vec<String>,
    /// Whether the start is explicit: `crate`, `self` or `super`.
    pub(super) is_placed: bool,
    pub(super) line: usize,
    /// `crate::name!`: macros have no module.
    pub(super) is_macro: bool,
}

impl Path {
    /// Returns the path written as `words` in `module`; `None` if it leads out of the crate.
    fn new(module: &[String], words: &[String], line: usize) -> Option<Path> {
        let supers = words.iter().take_while(|it| *it == "super").count();
        let (from, names) = match words.first()?.as_str() {
            "crate" => (&[][..], &words[1..]),
            "self" => (module, &words[1..]),
            "super" => (&module[..module.len().checked_sub(supers)?], &words[supers..]),
            _ => (module, words),
        };
        let is_placed = names.len() < words.len();
        let (from, names) = (from.to_vec(), names.to_vec());
        Some(Path { from, names, is_placed, line, is_macro: false })
    }

    /// Returns the name directly after the root of the crate.
    pub(super) fn at_root(&self) -> Option<&str> {
        let name = self.names.first().map(String::as_str);
        name.filter(|_| self.is_placed && self.from.is_empty())
    }
}

/// A name that a `use` brings into a module; `*` for all names there.
#[derive(Debug)]
pub(super) struct Used {
    pub(super) name: String,
    pub(super) path: Path,
    /// Whether it is re-exported.
    pub(super) is_shown: bool,
}

/// One module: a file, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The modules from the root of the crate down to this one.
    pub(super) module: Vec<String>,
    /// The items that it defines.
    pub(super) items: Vec<String>,
    /// The modules that it declares.
    pub(super) inside: Vec<String>,
    pub(super) used: Vec<Used>,
    /// The paths in its code.
    pub(super) paths: Vec<Path>,
}

/// Returns the names in `items` of `module`, and in the modules inside them.
pub(super) fn of(items: &[Item], module: Vec<String>) -> Vec<Names> {
    let mut walk = NamesWalk { done: Vec::new(), now: Names { module, ..Names::default() } };
    walk.define(items);
    items.iter().for_each(|item| walk.visit_item(item));
    walk.done.push(walk.now);
    walk.done
}

struct NamesWalk {
    done: Vec<Names>,
    now: Names,
}

impl NamesWalk {
    fn define(&mut self, items: &[Item]) {
        self.now.items.extend(items.iter().filter_map(defined));
        self.now.inside.extend(items.iter().filter_map(|item| match item {
            Item::Mod(module) => Some(module.ident.to_string()),
            _ => None,
        }));
    }

    fn path(&mut self, words: &[String], line: usize, is_macro: bool) {
        if let Some(path) = Path::new(&self.now.module, words, line) {
            self.now.paths.push(Path { is_macro, ..path });
        }
    }

    fn leaves(&mut self, tree: &UseTree, before: &[String], is_shown: bool) {
        let mut add = |word: &syn::Ident, name: String| {
            let mut words = before.to_vec();
            // `use a::{self}` brings in `a`.
            if word != "self" || before.is_empty() {
                words.push(word.to_string());
            }
            let name = if name == "self" { words.last().cloned() } else { Some(name) };
            let path = Path::new(&self.now.module, &words, word.span().start().line);
            if let (Some(path), Some(name)) = (path, name) {
                self.now.used.push(Used { name, path, is_shown });
            }
        };
        match tree {
            UseTree::Path(path) => {
                let words = [before, &[path.ident.to_string()]].concat();
                self.leaves(&path.tree, &words, is_shown);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|it| self.leaves(it, before, is_shown));
            }
            UseTree::Name(name) => add(&name.ident, name.ident.to_string()),
            UseTree::Rename(name) => add(&name.ident, name.rename.to_string()),
            UseTree::Glob(glob) => {
                let line = glob.span().start().line;
                if let Some(path) = Path::new(&self.now.module, before, line) {
                    self.now.used.push(Used { name: "*".to_owned(), path, is_shown });
                }
            }
        }
    }

    /// Finds paths in the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut words: Vec<String> = Vec::new();
        // Number of colons since the last word; a name after a dot is a field or a method.
        let (mut colons, mut is_member, mut line) = (0, false, 0);
        for tree in tokens {
            match tree {
                TokenTree::Ident(word) => {
                    if colons != 2 && !words.is_empty() {
                        self.path(&std::mem::take(&mut words), line, false);
                    }
                    if !is_member {
                        line = word.span().start().line;
                        words.push(word.to_string());
                    }
                    (colons, is_member) = (0, false);
                    continue;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' && !words.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Punct(sign) => {
                    is_member = sign.as_char() == '.';
                    let is_macro = sign.as_char() == '!';
                    self.path(&std::mem::take(&mut words), line, is_macro);
                }
                TokenTree::Group(group) => {
                    self.path(&std::mem::take(&mut words), line, false);
                    self.tokens(group.stream());
                    is_member = false;
                }
                TokenTree::Literal(_) => is_member = false,
            }
            colons = 0;
        }
        self.path(&words, line, false);
    }
}

impl<'a> Visit<'a> for NamesWalk {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let Some((_, items)) = &module.content else { return };
        let mut inner = self.now.module.clone();
        inner.push(module.ident.to_string());
        self.done.extend(of(items, inner));
    }

    fn visit_item_use(&mut self, used: &'a ItemUse) {
        let is_shown = !matches!(used.vis, Visibility::Inherited);
        self.leaves(&used.tree, &[], is_shown);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let words: Vec<String> =
                path.segments.iter().map(|it| it.ident.to_string()).collect();
            self.path(&words, path.span().start().line, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        let words: Vec<String> =
            called.path.segments.iter().map(|it| it.ident.to_string()).collect();
        self.path(&words, called.path.span().start().line, true);
        self.tokens(called.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &'a MetaList) {
        self.tokens(list.tokens.clone());
    }

    /// `pub(in …)` does not use what it names.
    fn visit_visibility(&mut self, _: &'a Visibility) {}
}

/// Returns the name that an item gives to its module.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::rust::Rust;
    use super::*;

    #[test]
    fn paths_in_macros_end_where_they_end() {
        let text = "fn a() { b!(c::d, e.f(g: h::i), j) }";
        let names = of(&Rust::parse(text).items, Vec::new());
        let paths: Vec<String> = names[0].paths.iter().map(|it| it.names.join("::")).collect();
        assert_eq!(paths, ["b", "c::d", "e", "g", "h::i", "j"]);
    }
}
