//! The public functions of a crate, and the public methods of its public types.
//!
//! ```text
//! lib.rs → pub mod x; pub use a::b::{Type, verb}; → files → functions, types → methods
//! ```
//!
//! Names from other crates are left out: they are checked in their own crate.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr, FnArg, ImplItem, Item, Lit, Meta, Type, Visibility};

use crate::tidy::modules::{self, Crate};
use crate::tidy::names::{self, Path, Used};
use crate::tidy::tree::Tree;

/// One public function or method.
#[derive(Debug, Clone)]
pub(super) struct PublicFunction {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) name: String,
    /// The public module that contains it, without the crate; empty at the root.
    pub(super) module: String,
    /// The type that a method belongs to.
    pub(super) owner: Option<String>,
    pub(super) inputs: Vec<Input>,
    /// Whether its text has a block of code.
    pub(super) has_example: bool,
}

/// One parameter, without `self`.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// Its type, without spaces.
    pub(super) kind: String,
}

/// The public surface of a crate.
#[derive(Debug, Default)]
pub(super) struct Surface {
    pub(super) functions: Vec<PublicFunction>,
    /// Names at the root of the crate, without modules.
    pub(super) root: BTreeSet<String>,
    types: BTreeSet<String>,
    seen: BTreeSet<(String, String, String)>,
    /// The public module that is being walked.
    module: Vec<String>,
}

impl Surface {
    /// Walks the crate whose sources are under `folder`.
    pub(super) fn of(tree: &Tree, folder: &str) -> Surface {
        let mut surface = Surface::default();
        let root = format!("{folder}/lib.rs");
        for krate in modules::crates(tree).iter().filter(|it| it.root == root) {
            let items = parsed(tree, krate.root);
            let names = shown(items, &[]).into_iter().filter(|it| it.name != "*");
            surface.root = names.map(|it| it.name).collect();
            surface.module(tree, krate, items);
        }
        surface.methods(tree, folder);
        surface
    }

    /// The public items of one module.
    fn module(&mut self, tree: &Tree, krate: &Crate<'_>, items: &[Item]) {
        let Some(file) = krate.modules.get(&self.module).map(|it| it.file) else { return };
        for item in items {
            match item {
                Item::Mod(module) if is_public(&module.vis) => {
                    self.module.push(module.ident.to_string());
                    match (&module.content, krate.modules.get(&self.module)) {
                        (Some((_, items)), _) => self.module(tree, krate, items),
                        (None, Some(inner)) => {
                            self.module(tree, krate, parsed(tree, inner.file))
                        }
                        (None, None) => {}
                    }
                    self.module.pop();
                }
                _ => self.item(item, None, file),
            }
        }
        for used in shown(items, &self.module) {
            self.used(tree, krate, &used.path);
        }
    }

    /// Records a public function or type; only the one named `name`, if a name is given.
    fn item(&mut self, item: &Item, name: Option<&str>, file: &str) {
        let is_wanted = |ident: &syn::Ident| name.is_none_or(|name| ident == name);
        match item {
            Item::Fn(it) if is_public(&it.vis) && is_wanted(&it.sig.ident) => {
                let mut found = function(&it.sig, &it.attrs, file);
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

    /// Follows a re-export to the item that it names.
    fn used(&mut self, tree: &Tree, krate: &Crate<'_>, path: &Path) {
        let (Some(file), Some(name)) = (krate.file_of(path), path.names.last()) else { return };
        if self.seen.insert((self.module.join("::"), file.to_owned(), name.clone())) {
            parsed(tree, file).iter().for_each(|item| self.item(item, Some(name), file));
        }
    }

    /// Records public methods of public types, wherever they are in the crate.
    fn methods(&mut self, tree: &Tree, folder: &str) {
        let files = tree.rust().filter(|(path, _)| path.starts_with(folder));
        for (file, rust) in files.filter(|(path, _)| !path.ends_with("tests.rs")) {
            for item in &rust.items {
                let Item::Impl(block) = item else { continue };
                let owner = name_of(&block.self_ty).filter(|it| self.types.contains(it));
                let Some(owner) = owner.filter(|_| block.trait_.is_none()) else { continue };
                let owned = |it| PublicFunction { owner: Some(owner.clone()), ..it };
                for method in &block.items {
                    match method {
                        ImplItem::Fn(it) if is_public(&it.vis) => {
                            self.functions.push(owned(function(&it.sig, &it.attrs, file)));
                        }
                        ImplItem::Macro(it) if it.mac.path.is_ident("setters") => {
                            let written = setters(it.mac.tokens.clone(), file);
                            self.functions.extend(written.into_iter().map(owned));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn parsed<'t>(tree: &'t Tree, file: &str) -> &'t [Item] {
    tree.get(file).and_then(|it| it.rust.as_ref()).map_or(&[], |rust| &rust.items)
}

/// Returns what the `pub use` of a module re-export.
fn shown(items: &[Item], module: &[String]) -> Vec<Used> {
    let is_shown = |item: &&Item| matches!(item, Item::Use(used) if is_public(&used.vis));
    let items: Vec<Item> = items.iter().filter(is_shown).cloned().collect();
    names::of(&items, module.to_vec()).into_iter().flat_map(|it| it.used).collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn name_of(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// The setters in a table of them: each `fn with_name(field: Type)`.
fn setters(tokens: TokenStream, file: &str) -> Vec<PublicFunction> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let written = tokens.windows(3).filter_map(|three| match three {
        [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(inputs)]
            if word == "fn" =>
        {
            let inputs = inputs.stream();
            syn::parse2(quote::quote!(fn #name(#inputs))).ok()
        }
        _ => None,
    });
    written.map(|signature| function(&signature, &[], file)).collect()
}

fn function(
    signature: &syn::Signature,
    attributes: &[Attribute],
    file: &str,
) -> PublicFunction {
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => {
            let kind = quote::quote!(#typed).to_string();
            let kind = kind.split_once(':').map_or("", |(_, kind)| kind).replace(' ', "");
            Some(Input { kind })
        }
    });
    PublicFunction {
        path: file.to_owned(),
        line: signature.ident.span().start().line,
        name: signature.ident.to_string(),
        module: String::new(),
        owner: None,
        inputs: inputs.collect(),
        has_example: attributes.iter().any(opens_code),
    }
}

/// Whether this is a line of text that opens a block of code.
fn opens_code(attribute: &Attribute) -> bool {
    let Meta::NameValue(pair) = &attribute.meta else { return false };
    let Expr::Lit(literal) = &pair.value else { return false };
    let Lit::Str(text) = &literal.lit else { return false };
    pair.path.is_ident("doc") && text.value().trim_start().starts_with("```")
}
