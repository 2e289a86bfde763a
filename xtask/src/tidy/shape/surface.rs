//! What a crate shows: its public functions, and the public methods of its public types.
//!
//! ```text
//! lib.rs → pub mod x; pub use a::b::{Type, verb}; → files → functions, types → methods
//! ```
//!
//! Names that come from other crates are left out: their own crate has them.

use std::collections::BTreeSet;

use syn::{FnArg, ImplItem, Item, Type, UseTree, Visibility};

use crate::tidy::tree::Tree;

/// One public function or method.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) name: String,
    /// The public module that it is in, without the crate; empty at the root.
    pub(super) module: String,
    /// The type that a method is of.
    pub(super) owner: Option<String>,
    pub(super) inputs: Vec<Input>,
}

/// One parameter, without `self`.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// Its type, without spaces.
    pub(super) kind: String,
}

/// What a crate shows.
#[derive(Debug, Default)]
pub(super) struct Surface {
    pub(super) functions: Vec<Function>,
    /// Names at the root of the crate, modules left out.
    pub(super) root: BTreeSet<String>,
    types: BTreeSet<String>,
    seen: BTreeSet<(String, String, String)>,
    /// The public module that is walked.
    module: Vec<String>,
}

impl Surface {
    /// Walks the crate whose sources are under `folder`.
    pub(super) fn of(tree: &Tree, folder: &str) -> Surface {
        let mut surface = Surface::default();
        let root = format!("{folder}/lib.rs");
        if let Some(items) = parsed(tree, &root) {
            for item in items {
                if let Item::Use(used) = item
                    && is_public(&used.vis)
                {
                    surface.root.extend(
                        leaves(&used.tree).into_iter().filter_map(|it| it.last().cloned()),
                    );
                }
            }
            surface.module(
                tree,
                items,
                &Place { file: root, folder: folder.to_owned(), root: folder.to_owned() },
            );
        }
        surface.methods(tree, folder);
        surface
    }

    /// The public items of one module.
    fn module(&mut self, tree: &Tree, items: &[Item], place: &Place) {
        for item in items {
            match item {
                Item::Mod(module) if is_public(&module.vis) => {
                    self.module.push(module.ident.to_string());
                    let inner = place.child(&module.ident.to_string());
                    match &module.content {
                        Some((_, items)) => self.module(tree, items, place),
                        None => {
                            let items = parsed(tree, &inner.file).unwrap_or_default();
                            self.module(tree, items, &inner);
                        }
                    }
                    self.module.pop();
                }
                Item::Use(used) if is_public(&used.vis) => {
                    for leaf in leaves(&used.tree) {
                        self.used(tree, &leaf, place);
                    }
                }
                _ => self.item(item, None, place),
            }
        }
    }

    /// Keeps a public function or type, the one called `name` if a name is given.
    fn item(&mut self, item: &Item, name: Option<&str>, place: &Place) {
        let is_wanted = |ident: &syn::Ident| name.is_none_or(|name| ident == name);
        match item {
            Item::Fn(it) if is_public(&it.vis) && is_wanted(&it.sig.ident) => {
                let mut found = function(&it.sig, None, place);
                found.module = self.module.join("::");
                self.functions.push(found);
            }
            Item::Struct(it) if is_public(&it.vis) && is_wanted(&it.ident) => {
                self.types.insert(it.ident.to_string());
            }
            Item::Enum(it) if is_public(&it.vis) && is_wanted(&it.ident) => {
                self.types.insert(it.ident.to_string());
            }
            _ => {}
        }
    }

    /// Follows a re-export to what it names.
    fn used(&mut self, tree: &Tree, path: &[String], place: &Place) {
        let [modules @ .., name] = path else { return };
        let Some(home) = place.resolve(modules) else { return };
        if !self.seen.insert((self.module.join("::"), home.file.clone(), name.clone())) {
            return;
        }
        let Some(items) = parsed(tree, &home.file) else { return };
        for item in items {
            self.item(item, Some(name), &home);
            if let Item::Use(used) = item
                && !matches!(used.vis, Visibility::Inherited)
            {
                for leaf in leaves(&used.tree).iter().filter(|it| it.last() == Some(name)) {
                    self.used(tree, leaf, &home);
                }
            }
        }
    }

    /// Public methods of public types, wherever in the crate they stand.
    fn methods(&mut self, tree: &Tree, folder: &str) {
        let files: Vec<String> = tree
            .rust()
            .map(|(path, _)| path.to_owned())
            .filter(|path| path.starts_with(folder) && !path.ends_with("tests.rs"))
            .collect();
        for file in files {
            let place =
                Place { file: file.clone(), folder: String::new(), root: String::new() };
            for item in parsed(tree, &file).unwrap_or_default() {
                let Item::Impl(block) = item else { continue };
                let Some(owner) = name_of(&block.self_ty).filter(|it| self.types.contains(it))
                else {
                    continue;
                };
                if block.trait_.is_some() {
                    continue;
                }
                for method in &block.items {
                    if let ImplItem::Fn(it) = method
                        && is_public(&it.vis)
                    {
                        self.functions.push(function(&it.sig, Some(owner.clone()), &place));
                    }
                }
            }
        }
    }
}

/// A module: its file, the folder of its children, and the root of its crate.
struct Place {
    file: String,
    folder: String,
    root: String,
}

impl Place {
    fn child(&self, name: &str) -> Place {
        Place {
            file: format!("{}/{name}.rs", self.folder),
            folder: format!("{}/{name}", self.folder),
            root: self.root.clone(),
        }
    }

    /// The module at the end of these names; `None` in another crate.
    fn resolve(&self, modules: &[String]) -> Option<Place> {
        let root = Place {
            file: format!("{}/lib.rs", self.root),
            folder: self.root.clone(),
            root: self.root.clone(),
        };
        let here = Place {
            file: self.file.clone(),
            folder: self.folder.clone(),
            root: self.root.clone(),
        };
        let (mut place, rest) = match modules.split_first() {
            Some((first, rest)) if first == "crate" => (root, rest),
            Some((first, rest)) if first == "self" => (here, rest),
            Some((first, _)) if first == "super" || first.starts_with("swath_") => return None,
            _ => (here, modules),
        };
        for name in rest {
            place = place.child(name);
        }
        Some(place)
    }
}

fn parsed<'t>(tree: &'t Tree, file: &str) -> Option<&'t [Item]> {
    Some(&tree.get(file)?.rust.as_ref()?.items)
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The paths that a `use` names.
fn leaves(tree: &UseTree) -> Vec<Vec<String>> {
    match tree {
        UseTree::Path(path) => {
            let mut inner = leaves(&path.tree);
            inner.iter_mut().for_each(|leaf| leaf.insert(0, path.ident.to_string()));
            inner
        }
        UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        UseTree::Rename(name) => vec![vec![name.ident.to_string()]],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}

fn name_of(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

fn function(signature: &syn::Signature, owner: Option<String>, place: &Place) -> Function {
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => {
            let kind = quote::quote!(#typed).to_string();
            let kind = kind.split_once(':').map_or("", |(_, kind)| kind).replace(' ', "");
            Some(Input { kind })
        }
    });
    Function {
        path: place.file.clone(),
        line: signature.ident.span().start().line,
        name: signature.ident.to_string(),
        module: String::new(),
        owner,
        inputs: inputs.collect(),
    }
}
