//! A hint is an instruction: it begins with a verb.
//!
//! ```text
//! error.hint("pass --force to replace it")         what a method or a function takes as its `hint`
//! let hint = match kind { NotFound => "check …" }  what a variable or a field of this name holds
//! fn hint(self) -> &'static str { "wait …" }       what a function of this name returns
//! ```
//!
//! Texts are followed through `if`, `match`, blocks, constants and `Some`; one that is put together at
//! run time is looked at up to its first gap.

mod texts;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprCall, ExprMethodCall, FieldValue, FnArg, ImplItemFn, ItemConst, ItemFn, ItemImpl,
    Local, Member, Pat, Signature,
};

use super::Violation;
use super::tree::Tree;
use texts::{Constants, Text, texts};
use verbs::VERBS;

/// Finds hints that do not begin with a verb.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let is_looked_at = |path: &str| {
        ((path.starts_with("crates/") || path.starts_with("lab/study/"))
            && path.contains("/src/")
            || path.starts_with("python/src/"))
            && !path.ends_with("/tests.rs")
    };
    let files: Vec<_> = tree.rust().filter(|(path, _)| is_looked_at(path)).collect();
    let mut known = Known::default();
    for (path, rust) in &files {
        let mut learn = Learn { member: member(path), owner: String::new(), known: &mut known };
        rust.items.iter().for_each(|item| learn.visit_item(item));
    }
    let mut violations = Vec::new();
    for (path, rust) in &files {
        let mut look = Look {
            member: member(path),
            owner: String::new(),
            known: &known,
            found: Vec::new(),
        };
        rust.items.iter().for_each(|item| look.visit_item(item));
        let wrong = look.found.iter().filter(|text| !begins_with_a_verb(&text.words));
        violations.extend(wrong.map(|text| {
            let what = format!(
                "the hint \"{}\" does not begin with a verb: make it an instruction, or add the \
                 verb to xtask/src/tidy/hints/verbs.rs",
                text.words
            );
            Violation::new(path, text.line, what)
        }));
    }
    violations.extend(in_python(tree));
    violations
}

/// Finds hints of the Python package that do not begin with a verb: what follows `try: `, or a variable `hint`.
fn in_python(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts() {
        if !(path.starts_with("python/package/") && path.ends_with(".py")) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let own = ["hint = \"", "hint = f\""];
            let own = own.iter().filter_map(|begin| line.trim_start().strip_prefix(begin));
            let begins = ["; try: ", "\"try: "];
            let hints = begins.iter().flat_map(|begin| line.split(begin).skip(1)).chain(own);
            // One that is put together elsewhere begins with a gap, or on the next line.
            let begun =
                hints.filter(|hint| hint.starts_with(|first: char| first.is_alphabetic()));
            let wrong = begun.filter(|hint| !begins_with_a_verb(hint));
            violations.extend(wrong.map(|hint| {
                let what = format!("the hint \"{hint}\" does not begin with a verb");
                Violation::new(path, index + 1, what)
            }));
        }
    }
    violations
}

/// The member that a file is in: constants and functions are known by their names in it.
fn member(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(member, _)| member)
}

fn begins_with_a_verb(hint: &str) -> bool {
    let first = hint.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    hint.is_empty() || VERBS.contains(&first)
}

fn is_hint(name: &str) -> bool {
    name == "hint" || name.starts_with("hint_") || name.ends_with("_hint")
}

/// The facts about all members before their texts are looked at.
#[derive(Default)]
struct Known {
    constants: Constants,
    /// Functions that take a hint: by member, type and name; how many parameters, and which.
    takers: BTreeMap<(String, String, String), (usize, usize)>,
    /// Methods that take a hint, by member and name: for methods, whose type is not known where they are called.
    methods: BTreeSet<(String, String, usize, usize)>,
}

struct Learn<'k> {
    member: &'k str,
    owner: String,
    known: &'k mut Known,
}

impl Learn<'_> {
    fn signature(&mut self, signature: &Signature) {
        let names: Vec<String> = signature.inputs.iter().filter_map(name_of).collect();
        let Some(at) = names.iter().position(|name| is_hint(name)) else { return };
        let (member, name) = (self.member.to_owned(), signature.ident.to_string());
        if names.len() < signature.inputs.len() {
            self.known.methods.insert((member, name, names.len(), at));
        } else {
            self.known.takers.insert((member, self.owner.clone(), name), (names.len(), at));
        }
    }
}

impl<'a> Visit<'a> for Learn<'_> {
    fn visit_item_const(&mut self, constant: &'a ItemConst) {
        let name = constant.ident.to_string();
        self.known.constants.keep(self.member, &name, &constant.expr);
    }

    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        self.owner = block.self_ty.to_token_stream().to_string();
        visit::visit_item_impl(self, block);
        self.owner.clear();
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.signature(&function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.signature(&function.sig);
        visit::visit_impl_item_fn(self, function);
    }
}

/// The name of a parameter; `None` for `self`.
fn name_of(input: &FnArg) -> Option<String> {
    let FnArg::Typed(typed) = input else { return None };
    match &*typed.pat {
        Pat::Ident(name) => Some(name.ident.to_string()),
        _ => Some(String::new()),
    }
}

struct Look<'k> {
    member: &'k str,
    owner: String,
    known: &'k Known,
    found: Vec<Text>,
}

impl Look<'_> {
    fn keep(&mut self, expression: &Expr) {
        self.found.extend(texts(expression, self.member, &self.known.constants));
    }

    fn function(&mut self, signature: &Signature, block: &syn::Block) {
        let returns_text = signature.output.to_token_stream().to_string().contains("str");
        if is_hint(&signature.ident.to_string()) && returns_text {
            self.found.extend(texts::of_block(block, self.member, &self.known.constants));
        }
    }
}

impl<'a> Visit<'a> for Look<'_> {
    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        self.owner = block.self_ty.to_token_stream().to_string();
        visit::visit_item_impl(self, block);
        self.owner.clear();
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_local(&mut self, local: &'a Local) {
        if let (Pat::Ident(name), Some(value)) = (&local.pat, &local.init)
            && is_hint(&name.ident.to_string())
        {
            self.keep(&value.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_field_value(&mut self, field: &'a FieldValue) {
        if matches!(&field.member, Member::Named(name) if is_hint(&name.to_string())) {
            self.keep(&field.expr);
        }
        visit::visit_field_value(self, field);
    }

    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let names: Vec<String> =
                path.path.segments.iter().rev().map(|it| it.ident.to_string()).collect();
            let owner = match names.get(1).map(String::as_str) {
                Some("Self") => self.owner.clone(),
                Some(name) if name.starts_with(char::is_uppercase) => name.to_owned(),
                _ => String::new(),
            };
            let key = (self.member.to_owned(), owner, names[0].clone());
            let taker = self.known.takers.get(&key).filter(|it| it.0 == call.args.len());
            if let Some(hint) = taker.and_then(|it| call.args.iter().nth(it.1)) {
                self.keep(hint);
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        let name = call.method.to_string();
        let takes = |at: usize| {
            let key = (self.member.to_owned(), name.clone(), call.args.len(), at);
            name == "hint" && at == 0 || self.known.methods.contains(&key)
        };
        let hints: Vec<&Expr> =
            call.args.iter().enumerate().filter(|it| takes(it.0)).map(|it| it.1).collect();
        hints.into_iter().for_each(|hint| self.keep(hint));
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/swath/src/error.rs";

    #[test]
    fn a_hint_of_the_python_package_that_is_no_instruction_is_found() {
        let planted = Planted::clean();
        let path = "python/package/swath/a.py";
        let text = "raise ValueError(f\"{b}; try: pass one\")\nhint = 1\nhint = \"pass one\"\n";
        planted.put(
            path,
            &format!("{text}    hint = \"a number\"\ntext = f\"c; try: {{hint}}\"\n"),
        );
        planted.finds(check, &format!("{path}:4: the hint \"a number"));
        planted.put(path, "raise ValueError(\"b; try: numbers\")\n");
        planted.finds(check, &format!("{path}:1: the hint \"numbers"));
    }

    #[test]
    fn a_hint_that_is_no_instruction_is_found_wherever_it_stands() {
        for wrong in [
            "fn a() { error.hint(\"a smaller number\"); }",
            "fn a() { error.hint(if b { \"use less\" } else { \"a smaller number\" }); }",
            "const C: &str = \"a smaller number\";\nfn a() { error.hint(C); }",
            "fn a() { let hint = match b { 1 => \"use less\", _ => \"a smaller number\" }; }",
            "fn a() { B { hint: \"a smaller number\" } }",
            "fn hint(self) -> &'static str { \"a smaller number\" }",
            "fn hint_for(b: u8) -> Option<&'static str> { b.then_some(c)?; Some(\"a smaller one\") }",
            "impl B { fn new(c: u8, hint: &str) {} }\nfn a() { B::new(1, \"a smaller number\"); }",
            "impl B { fn c(&self, hint: &str) {} }\nfn a() { b.c(\"a smaller number\"); }",
            "fn b(c: u8, hint: &str) {}\nfn a() { b(1, \"a smaller number\"); }",
            "fn a() { let hint = format!(\"a smaller {b}\"); }",
        ] {
            let planted = Planted::clean();
            planted.put(PATH, &format!("{wrong}\n"));
            let found = planted.found(check);
            assert!(
                found.iter().any(|it| it.contains("the hint \"a smaller")),
                "{wrong}: {found:?}"
            );
        }
    }

    #[test]
    fn instructions_and_other_texts_are_not_found() {
        let planted = Planted::clean();
        let right = "const C: &str = \"pass --force to replace it\";\n\
            impl B { fn new(c: &str, hint: &str) {} }\n\
            fn a() { error.hint(C).detail(\"a smaller number\"); B::new(\"it is there\", \"wait\"); }\n\
            fn hint(b: &str) -> &str { match b { \"a b\" => \"use less\", _ => \"\" } }\n\
            fn size_hint(&self) -> (usize, Option<usize>) { (0, None) }\n\
            #[cfg(test)]\nmod tests { fn b() { error.hint(\"h\"); } }\n";
        planted.put(PATH, right);
        let found = planted.found(check);
        assert!(found.is_empty(), "{found:?}");
    }
}
