//! The modules of each crate, followed from its root through every `mod`, and the file that defines
//! each name.
//!
//! ```text
//! lib.rs   mod buffer; mod engine;      a re-exported name belongs to the file that defines it:
//!   buffer.rs   pub use pool::Pool;     `crate::buffer::Pool` belongs to buffer/pool.rs
//!     buffer/pool.rs   struct Pool;
//! ```

use std::collections::BTreeMap;

use syn::{Attribute, Expr, Item, ItemMod, Lit, Meta};

use super::names::{self, Names, Path};
use super::tree::Tree;

/// This many re-exports in a row are followed.
const DEEP: usize = 16;

/// The modules of one root, `lib.rs` or `main.rs`.
pub(super) struct Crate<'t> {
    /// The folder of its package.
    pub(super) folder: &'t str,
    pub(super) root: &'t str,
    /// Each with its file; a file contains several if some are inline.
    pub(super) modules: BTreeMap<Vec<String>, Module<'t>>,
    /// Files that only tests include.
    pub(super) test_only: Vec<&'t str>,
}

pub(super) struct Module<'t> {
    pub(super) file: &'t str,
    pub(super) names: Names,
}

impl Module<'_> {
    /// The module directly below the root that it is, or is part of; empty at the root.
    pub(super) fn top(&self) -> &str {
        self.names.module.first().map_or("", String::as_str)
    }

    /// Returns what it names directly after the root of its crate.
    pub(super) fn names_at_root(&self) -> impl Iterator<Item = (&str, &Path)> {
        let used = self.names.used.iter().map(|it| &it.path);
        used.chain(&self.names.paths).filter_map(|path| Some((path.at_root()?, path)))
    }
}

/// Returns every crate of every package, except tests.
pub(super) fn crates(tree: &Tree) -> Vec<Crate<'_>> {
    let mut crates = Vec::new();
    for folder in tree.packages() {
        let src = format!("{folder}/src/");
        let is_root = |path: &&str| {
            let inner = path.strip_prefix(&src);
            inner.is_some_and(|it| it == "lib.rs" || it == "main.rs" || it.starts_with("bin/"))
        };
        for root in tree.rust().map(|(path, _)| path).filter(is_root) {
            crates.push(Crate::of(tree, folder, root));
        }
    }
    crates
}

/// A file on the way, and the folder of the files that its `mod` include.
struct ModulePlace<'t> {
    file: &'t str,
    folder: String,
    module: Vec<String>,
    is_test: bool,
}

impl<'t> Crate<'t> {
    fn of(tree: &'t Tree, folder: &'t str, root: &'t str) -> Crate<'t> {
        let mut found = Crate { folder, root, modules: BTreeMap::new(), test_only: Vec::new() };
        let (parent, _) = root.rsplit_once('/').unwrap_or_default();
        let place = ModulePlace {
            file: root,
            folder: parent.to_owned(),
            module: Vec::new(),
            is_test: false,
        };
        found.follow(tree, place);
        found
    }

    fn follow(&mut self, tree: &'t Tree, place: ModulePlace<'t>) {
        let Some(rust) = tree.get(place.file).and_then(|it| it.rust.as_ref()) else { return };
        if place.is_test {
            self.test_only.push(place.file);
        } else {
            for names in names::of(&rust.items, place.module.clone()) {
                let module = Module { file: place.file, names };
                self.modules.insert(module.names.module.clone(), module);
            }
        }
        for name in &rust.test_modules {
            let at = ModulePlace { is_test: true, ..place.inner(name) };
            self.child(tree, &at, None);
        }
        self.inside(tree, &rust.items, &place);
    }

    fn inside(&mut self, tree: &'t Tree, items: &[Item], place: &ModulePlace<'t>) {
        let modules = items.iter().filter_map(|item| match item {
            Item::Mod(module) => Some(module),
            _ => None,
        });
        for module in modules {
            let inner = place.inner(&module.ident.to_string());
            match &module.content {
                Some((_, items)) => self.inside(tree, items, &inner),
                None => self.child(tree, &inner, path_attribute(module).as_deref()),
            }
        }
    }

    /// Continues in the file of a `mod name;`.
    fn child(&mut self, tree: &'t Tree, at: &ModulePlace<'t>, by_path: Option<&str>) {
        let (beside, _) = at.file.rsplit_once('/').unwrap_or_default();
        let candidates = match by_path {
            Some(path) => vec![format!("{beside}/{path}")],
            None => vec![format!("{}.rs", at.folder), format!("{}/mod.rs", at.folder)],
        };
        if let Some(file) = candidates.iter().find_map(|path| tree.path(path)) {
            let (folder, module) = (at.folder.clone(), at.module.clone());
            self.follow(tree, ModulePlace { file, folder, module, is_test: at.is_test });
        }
    }

    /// Returns every file that is compiled.
    pub(super) fn files(&self) -> impl Iterator<Item = &'t str> {
        self.modules.values().map(|it| it.file).chain(self.test_only.iter().copied())
    }

    /// Returns the file that defines what `path` names; `None` for a module, and for names from
    /// outside this crate.
    pub(super) fn file_of(&self, path: &Path) -> Option<&'t str> {
        self.find(&path.from, &path.names, path.is_placed && !path.is_macro, DEEP)
    }

    /// `is_sure`: a name that is not found comes from a macro in that module.
    fn find(
        &self,
        from: &[String],
        names: &[String],
        is_sure: bool,
        deep: usize,
    ) -> Option<&'t str> {
        let module = self.modules.get(from).filter(|_| deep > 0)?;
        let (name, rest) = names.split_first()?;
        let child = [from, std::slice::from_ref(name)].concat();
        let is_module = self.modules.contains_key(&child);
        if is_module && !rest.is_empty() {
            return self.find(&child, rest, true, deep);
        }
        if module.names.items.contains(name) {
            return Some(module.file);
        }
        let (globs, used): (Vec<_>, Vec<_>) = (module.names.used.iter())
            .filter(|it| it.name == *name || it.name == "*")
            .partition(|it| it.name == "*");
        let through = |path: &Path, rest: &[String], is_sure: bool| {
            let names = [&path.names, rest].concat();
            self.find(&path.from, &names, is_sure, deep - 1)
        };
        if is_module || !used.is_empty() {
            return used.iter().find_map(|it| through(&it.path, rest, it.path.is_placed));
        }
        let here = || Some(module.file).filter(|_| is_sure);
        globs.iter().find_map(|it| through(&it.path, names, false)).or_else(here)
    }
}

impl<'t> ModulePlace<'t> {
    fn inner(&self, name: &str) -> ModulePlace<'t> {
        let mut module = self.module.clone();
        module.push(name.to_owned());
        let folder = format!("{}/{name}", self.folder);
        ModulePlace { file: self.file, folder, module, is_test: self.is_test }
    }
}

/// Returns the text of `#[path = "…"]`.
fn path_attribute(module: &ItemMod) -> Option<String> {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(it) if it.path.is_ident("path") => match &it.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    module.attrs.iter().find_map(text)
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_name_is_of_the_file_that_defines_it() {
        let planted = Planted::clean();
        planted.put(
            "crates/plan/src/lib.rs",
            "mod a;\nmod b;\npub mod shown { pub use super::a::A; }\n",
        );
        planted.put(
            "crates/plan/src/a.rs",
            "mod deep;\npub use deep::*;\npub use deep::A as Z;\n",
        );
        planted.put("crates/plan/src/a/deep.rs", "pub struct A;\npub fn f() {}\nmade!(M);\n");
        planted.put("crates/plan/src/b.rs", "use crate::a;\nstruct B;\n");
        let tree = planted.tree();
        let crates = crates(&tree);
        let plan = crates.iter().find(|it| it.folder == "crates/plan").expect("planted");
        let file_of = |text: &str| {
            let items = super::super::rust::Rust::parse(&format!("use {text};")).items;
            let names = names::of(&items, vec!["b".to_owned()]);
            plan.file_of(&names[0].used[0].path)
                .map(|it| it.trim_start_matches("crates/plan/src/"))
        };
        for deep in
            ["crate::a::A", "super::a::Z", "a::f", "crate::shown::A", "crate::a::deep::M"]
        {
            assert_eq!(file_of(deep), Some("a/deep.rs"), "{deep}");
        }
        assert_eq!(file_of("self::B"), Some("b.rs"));
        for none in ["crate::a", "std::fs::File", "B2"] {
            assert_eq!(file_of(none), None, "{none}");
        }
    }
}
