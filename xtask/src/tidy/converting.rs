//! A function that takes `impl Into<…>` only converts, and calls a function with plain types.
//!
//! A generic function is compiled again in each crate that calls it, with everything inside it.
//! That took a quarter of the release build, and a third of the command was there twice or more.

use syn::visit::{self, Visit};
use syn::{Block, FnArg, GenericParam, ImplItemFn, ItemFn, Signature, Type, TypeParamBound};

use super::Violation;
use super::tree::Tree;

/// Limit of lines for a body that only converts.
const MOST: usize = 6;
/// The members that other crates call.
const LIBRARIES: [&str; 2] = ["crates/swath/src/", "crates/formats/src/"];

/// Finds long functions that are generic only because of a conversion.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        if LIBRARIES.iter().any(|library| path.starts_with(library)) {
            let mut walk = ConvertingWalk { path, violations: &mut violations };
            rust.items.iter().for_each(|item| walk.visit_item(item));
        }
    }
    violations
}

struct ConvertingWalk<'w> {
    path: &'w str,
    violations: &'w mut Vec<Violation>,
}

impl ConvertingWalk<'_> {
    fn look(&mut self, signature: &Signature, body: &Block) {
        let is_type = |parameter: &GenericParam| matches!(parameter, GenericParam::Type(_));
        if signature.generics.params.iter().any(is_type) {
            return;
        }
        let names: Vec<String> = signature.inputs.iter().flat_map(asked_for).collect();
        let converts = |name: &String| matches!(name.as_str(), "Into" | "AsRef");
        let braces = body.brace_token.span;
        let (first, last) = (braces.open().start().line, braces.close().start().line);
        let lines = last.saturating_sub(first + 1);
        if !names.is_empty() && names.iter().all(converts) && lines > MOST {
            let (name, line) = (&signature.ident, signature.ident.span().start().line);
            let text = format!(
                "`{name}` takes `impl {}<…>` and has {lines} lines, at most {MOST}: convert, and call \
                 a function with plain types",
                names[0]
            );
            self.violations.push(Violation::new(self.path, line, text));
        }
    }
}

impl<'a> Visit<'a> for ConvertingWalk<'_> {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.look(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.look(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

/// Returns the traits of a parameter of type `impl …`.
fn asked_for(input: &FnArg) -> Vec<String> {
    let FnArg::Typed(typed) = input else { return Vec::new() };
    let Type::ImplTrait(kind) = &*typed.ty else { return Vec::new() };
    let named = kind.bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    });
    named.map(|segment| segment.ident.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/swath/src/copy.rs";

    #[test]
    fn long_functions_that_convert_are_found() {
        for signature in ["fn a(b: impl Into<C>)", "fn a(b: u8, c: impl AsRef<Path>)"] {
            let planted = Planted::clean();
            planted.put(PATH, &format!("{signature} {{\n{}}}\n", "1;\n".repeat(7)));
            planted.finds(check, &format!("{PATH}:1: `a` takes `impl "));
        }
    }

    #[test]
    fn short_ones_and_those_that_are_generic_anyway_are_not_found() {
        let planted = Planted::clean();
        let long = format!("{{\n{}}}\n", "1;\n".repeat(7));
        planted.put(
            PATH,
            &format!(
                "fn a(b: impl Into<C>) {{\n1;\n}}\nfn d(b: impl Into<C>, f: impl Fn()) {long}\
                 fn g<T>(b: impl Into<T>) {long}fn h(b: u8) {long}"
            ),
        );
        let found = planted.found(check);
        assert!(found.is_empty(), "{found:?}");
    }
}
