//! Parameters have names and are few, and only small functions convert their arguments.
//!
//! A generic function is compiled again in each crate that calls it, with everything inside it.
//! That took a quarter of the time of the release build, and a third of the command existed twice
//! or more.

use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, FnArg, GenericParam, ImplItemFn, Item, ItemFn, ItemImpl, Signature,
    TraitItemFn, Type, TypeParamBound,
};

use super::Violation;
use super::tables::SHAPED;
use super::tree::Tree;

/// Parameters besides `self`, at most.
const MOST: usize = 6;
/// Lines of a body that only converts, at most.
const CONVERTING: usize = 6;

/// Finds functions with a tuple among their parameters, or with too many, outside tests. A method
/// that a trait requires is checked once, in the trait; Python's keyword arguments are exempt.
pub(super) fn parameters(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    for (path, rust) in tree.rust().filter(|(path, _)| !is_test(path)) {
        each(&rust.items, |function| {
            let Signature { ident: name, inputs, .. } = function.signature;
            let mut add = |text| violations.push(Violation::new(path, line(function), text));
            let typed = inputs.iter().filter_map(|input| match input {
                FnArg::Typed(typed) if !function.is_required => Some(&*typed.ty),
                _ => None,
            });
            for kind in typed.clone().filter(|kind| is_tuple(kind)) {
                let kind = quote::quote!(#kind);
                add(format!("`{name}` takes the tuple `{kind}`: name its parts"));
            }
            let count = typed.count();
            if count > MOST && !function.attributes.iter().any(|it| it.path().is_ident("pyo3"))
            {
                add(format!(
                    "`{name}` takes {count} parameters, at most {MOST}: make a struct of some"
                ));
            }
        });
    }
    violations
}

/// Finds long functions of the libraries that are generic only because of a conversion.
pub(super) fn converting(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let is_shown = |path: &str| SHAPED.iter().any(|library| path.starts_with(library));
    for (path, rust) in tree.rust().filter(|(path, _)| is_shown(path)) {
        each(&rust.items, |function| {
            let Signature { ident: name, inputs, generics, .. } = function.signature;
            let is_type = |it: &GenericParam| matches!(it, GenericParam::Type(_));
            let (Some(body), false) = (function.body, generics.params.iter().any(is_type))
            else {
                return;
            };
            let traits: Vec<String> = inputs.iter().flat_map(traits).collect();
            let converts = |name: &String| matches!(name.as_str(), "Into" | "AsRef");
            let braces = body.brace_token.span;
            let (first, last) = (braces.open().start().line, braces.close().start().line);
            let lines = last.saturating_sub(first + 1);
            if !traits.is_empty() && traits.iter().all(converts) && lines > CONVERTING {
                let text = format!(
                    "`{name}` takes `impl {}<…>` and has {lines} lines, at most {CONVERTING}: \
                     convert, and call a function with plain types",
                    traits[0]
                );
                violations.push(Violation::new(path, line(function), text));
            }
        });
    }
    violations
}

fn line(function: &Function<'_>) -> usize {
    function.signature.ident.span().start().line
}

fn is_tuple(kind: &Type) -> bool {
    match kind {
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(reference) => is_tuple(&reference.elem),
        _ => false,
    }
}

/// Returns the traits of a parameter of type `impl …`.
fn traits(input: &FnArg) -> Vec<String> {
    let FnArg::Typed(typed) = input else { return Vec::new() };
    let Type::ImplTrait(kind) = &*typed.ty else { return Vec::new() };
    let named = kind.bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    });
    named.map(|segment| segment.ident.to_string()).collect()
}

struct Function<'a> {
    attributes: &'a [Attribute],
    signature: &'a Signature,
    body: Option<&'a Block>,
    /// Whether it is in an `impl` of a trait, which decides what it takes.
    is_required: bool,
}

/// Calls `look` for each function, method, and function inside another.
fn each(items: &[Item], look: impl FnMut(&Function<'_>)) {
    let mut walk = FunctionWalk { look, is_required: false };
    items.iter().for_each(|item| walk.visit_item(item));
}

struct FunctionWalk<F> {
    look: F,
    is_required: bool,
}

impl<F: FnMut(&Function<'_>)> FunctionWalk<F> {
    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        body: Option<&Block>,
    ) {
        let is_required = self.is_required;
        (self.look)(&Function { attributes, signature, body, is_required });
    }
}

impl<'a, F: FnMut(&Function<'_>)> Visit<'a> for FunctionWalk<F> {
    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        self.is_required = block.trait_.is_some();
        visit::visit_item_impl(self, block);
        self.is_required = false;
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.function(&function.attrs, &function.sig, Some(&function.block));
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.function(&function.attrs, &function.sig, Some(&function.block));
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        self.function(&function.attrs, &function.sig, None);
        visit::visit_trait_item_fn(self, function);
    }
}
