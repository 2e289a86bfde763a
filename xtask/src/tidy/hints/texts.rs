//! The texts that an expression may have as its value.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;
use syn::{Block, Expr, Lit, Stmt};

/// A text, up to its first gap if it is put together at run time.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) words: String,
    pub(super) line: usize,
}

/// Constants that are texts, by member and name.
#[derive(Default)]
pub(super) struct Constants(BTreeMap<(String, String), Text>);

impl Constants {
    pub(super) fn keep(&mut self, member: &str, name: &str, value: &Expr) {
        if let Expr::Lit(literal) = value
            && let Lit::Str(text) = &literal.lit
        {
            let text = Text { words: text.value(), line: text.span().start().line };
            self.0.insert((member.to_owned(), name.to_owned()), text);
        }
    }

    /// A constant's text, at the line where it is used: another file may have the constant.
    fn text(&self, member: &str, name: &syn::Ident) -> Option<Text> {
        let text = self.0.get(&(member.to_owned(), name.to_string()))?;
        Some(Text { words: text.words.clone(), line: name.span().start().line })
    }
}

/// The texts of `expression`, in the sources of `member`.
pub(super) fn texts(expression: &Expr, member: &str, constants: &Constants) -> Vec<Text> {
    let inner = |expression: &Expr| texts(expression, member, constants);
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => {
                vec![Text { words: text.value(), line: text.span().start().line }]
            }
            _ => Vec::new(),
        },
        Expr::Path(path) => {
            let name = path.path.segments.last().map(|it| &it.ident);
            name.and_then(|name| constants.text(member, name)).into_iter().collect()
        }
        Expr::If(branches) => {
            let mut found = of_block(&branches.then_branch, member, constants);
            if let Some((_, other)) = &branches.else_branch {
                found.extend(inner(other));
            }
            found
        }
        Expr::Match(arms) => arms.arms.iter().flat_map(|arm| inner(&arm.body)).collect(),
        Expr::Block(block) => of_block(&block.block, member, constants),
        Expr::Paren(group) => inner(&group.expr),
        Expr::Group(group) => inner(&group.expr),
        Expr::Reference(reference) => inner(&reference.expr),
        Expr::Return(returned) => returned.expr.iter().flat_map(|it| inner(it)).collect(),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.is_ident("Some") => {
                call.args.iter().flat_map(inner).collect()
            }
            _ => Vec::new(),
        },
        Expr::Macro(call) if call.mac.path.is_ident("format") => {
            format(&call.mac.tokens).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The texts that a block has as its value.
pub(super) fn of_block(block: &Block, member: &str, constants: &Constants) -> Vec<Text> {
    match block.stmts.last() {
        Some(Stmt::Expr(value, None)) => texts(value, member, constants),
        Some(Stmt::Expr(value @ Expr::Return(_), Some(_))) => texts(value, member, constants),
        _ => Vec::new(),
    }
}

/// Returns the beginning of the text of a `format!`.
fn format(tokens: &proc_macro2::TokenStream) -> Option<Text> {
    let Some(TokenTree::Literal(literal)) = tokens.clone().into_iter().next() else {
        return None;
    };
    let text: syn::LitStr = syn::parse_str(&literal.to_string()).ok()?;
    let words = text.value().split('{').next().unwrap_or_default().to_owned();
    Some(Text { words, line: literal.span().start().line })
}
