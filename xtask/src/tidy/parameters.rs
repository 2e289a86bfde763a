//! Parameters have names and are few: no tuples, and a limit.

use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, ImplItemFn, ItemFn, ItemImpl, Signature, TraitItemFn, Type};

use super::Violation;
use super::tree::Tree;

/// Besides `self`.
const MOST: usize = 6;

/// Finds functions with a tuple among their parameters, or with too many, outside tests. A method
/// that a trait requires is checked once, in the trait; Python's keyword arguments are exempt.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        if path.contains("/tests/") || path.ends_with("/tests.rs") {
            continue;
        }
        let mut walk = ParametersWalk { path, violations: &mut violations };
        rust.items.iter().for_each(|item| walk.visit_item(item));
    }
    violations
}

struct ParametersWalk<'w> {
    path: &'w str,
    violations: &'w mut Vec<Violation>,
}

impl ParametersWalk<'_> {
    fn look(&mut self, attributes: &[Attribute], signature: &Signature) {
        let (name, line) = (&signature.ident, signature.ident.span().start().line);
        let mut add =
            |text: String| self.violations.push(Violation::new(self.path, line, text));
        let typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(typed) => Some(&*typed.ty),
        });
        for kind in typed.clone().filter(|kind| is_tuple(kind)) {
            let kind = quote::quote!(#kind);
            add(format!("`{name}` takes the tuple `{kind}`: name its parts"));
        }
        let count = typed.count();
        if count > MOST && !attributes.iter().any(|it| it.path().is_ident("pyo3")) {
            add(format!(
                "`{name}` takes {count} parameters, at most {MOST}: make a struct of some"
            ));
        }
    }
}

impl<'a> Visit<'a> for ParametersWalk<'_> {
    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        if block.trait_.is_none() {
            visit::visit_item_impl(self, block);
        }
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.look(&function.attrs, &function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.look(&function.attrs, &function.sig);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        self.look(&function.attrs, &function.sig);
        visit::visit_trait_item_fn(self, function);
    }
}

fn is_tuple(kind: &Type) -> bool {
    match kind {
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(reference) => is_tuple(&reference.elem),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/plan/src/extent.rs";

    #[test]
    fn tuples_and_many_parameters_are_found() {
        for (text, expected) in [
            ("fn a((b, c): (u8, u8)) {}", "`a` takes the tuple `(u8 , u8)`: name its parts"),
            ("impl A { fn a(&self, b: &mut (u8, u8)) {} }", "`a` takes the tuple"),
            ("trait A { fn a(b: (u8, u8)); }", "`a` takes the tuple"),
            ("fn a() { fn b(c: (u8, u8)) {} }", "`b` takes the tuple"),
            (
                "fn a(b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) {}",
                "`a` takes 7 parameters, at most 6: make a struct of some",
            ),
        ] {
            let planted = Planted::clean();
            planted.put(PATH, text);
            planted.finds(check, &format!("{PATH}:1: {expected}"));
        }
    }

    #[test]
    fn what_others_ask_for_is_not_found() {
        let planted = Planted::clean();
        planted.put(
            PATH,
            "impl A for B { fn a(b: (u8, u8)) {} }\nfn c(d: (), e: impl Fn((u8, u8))) {}\n\
             #[pyo3(signature = (*, b))]\nfn f(b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) {}\n\
             #[cfg(test)]\nmod tests { fn g(b: (u8, u8)) {} }\n",
        );
        let found = planted.found(check);
        assert!(found.is_empty(), "{found:?}");
    }
}
