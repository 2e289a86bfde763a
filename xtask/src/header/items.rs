//! The items of a generated header: declarations, each with its comment.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// A declaration with its comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) text: String,
}

/// Splits a header from cbindgen into its declarations, which empty lines separate; drops guards
/// and wrappers.
pub(super) fn split(header: &str) -> Result<Vec<Item>> {
    let is_item = |text: &&str| {
        code(text).next().is_some_and(|line| !line.starts_with("#include"))
            && !text.contains("extern \"C\"")
            && !text.ends_with("/* SWATH_H */")
    };
    let paragraphs = header.split("\n\n").map(str::trim).filter(is_item);
    // The include guard is a `#ifndef` with its `#define`.
    let paragraphs = paragraphs.filter(|text| !text.starts_with("#ifndef SWATH_H\n"));
    paragraphs
        .map(|text| {
            let name = name(text).with_context(|| format!("no name in `{text}`"))?;
            Ok(Item { name, text: text.to_owned() })
        })
        .collect()
}

/// Returns the lines that are not comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with(['/', '*']) && !line.is_empty())
}

/// Returns the name that a declaration declares.
fn name(text: &str) -> Option<String> {
    let mut lines = code(text);
    let first = lines.next()?;
    let word = |text: &str| {
        let is_name = |it: &char| it.is_alphanumeric() || *it == '_';
        text.trim_start_matches([' ', '*']).chars().take_while(is_name).collect::<String>()
    };
    if let Some(rest) = first.strip_prefix("#define ").or(first.strip_prefix("enum ")) {
        return Some(word(rest));
    }
    if let Some((_, rest)) = first.split_once("(*") {
        return Some(word(rest));
    }
    if first.starts_with("typedef") {
        let last = code(text).last()?.trim_end_matches(';');
        return Some(word(last.rsplit(' ').next()?));
    }
    let (before, _) = first.split_once('(')?;
    Some(word(before.rsplit(' ').next()?))
}

/// Returns a line for each handle: the functions that make it, and the one that frees it.
pub(super) fn handles(items: &[Item]) -> Vec<String> {
    let freed: Vec<&str> =
        items.iter().filter_map(|item| item.name.strip_suffix("_free")).collect();
    let mut makers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in items {
        for handle in &freed {
            let is_made = code(&item.text).any(|line| line.contains(&format!("{handle} **")));
            if is_made {
                makers.entry(handle).or_default().push(&item.name);
            }
        }
    }
    let mut lines = vec![row("handle", "made by", "freed by")];
    for handle in freed {
        let made = makers.get(handle).cloned().unwrap_or_default();
        let end = format!("{handle}_free");
        lines.extend(made.iter().enumerate().map(|(index, maker)| match index {
            0 => row(handle, maker, &end),
            _ => row("", maker, ""),
        }));
    }
    lines
}

fn row(handle: &str, made: &str, freed: &str) -> String {
    format!("    {handle:<25}  {made:<29}  {freed}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/* x */\n\n#ifndef SWATH_H\n#define SWATH_H\n\n#include <stdint.h>\n\n\
        /**\n * Of (it).\n */\n#define SWATH_HA 1\n\n\
        typedef enum {\n    SWATH_B = 0,\n} swath_b;\n\n\
        enum swath_c\n  : uint32_t\n {\n    SWATH_C = 0,\n};\ntypedef enum swath_c swath_c;\n\n\
        typedef struct swath_d swath_d;\n\n\
        typedef void (*swath_e)(int x);\n\n\
        #ifdef __cplusplus\nextern \"C\" {\n#endif // __cplusplus\n\n\
        const char *swath_f(void);\n\n\
        swath_b swath_d_new(int x,\n                    swath_d **d);\n\n\
        void swath_d_free(swath_d *d);\n\n\
        #ifdef __cplusplus\n}  // extern \"C\"\n#endif  // __cplusplus\n\n\
        #endif  /* SWATH_H */\n";

    #[test]
    fn declarations_are_found_by_name() {
        let items = split(HEADER).expect("a header");
        let names: Vec<&str> = items.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "SWATH_HA",
                "swath_b",
                "swath_c",
                "swath_d",
                "swath_e",
                "swath_f",
                "swath_d_new",
                "swath_d_free"
            ]
        );
    }

    #[test]
    fn a_handle_has_its_maker_and_its_end() {
        let lines = handles(&split(HEADER).expect("a header"));
        let words: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(words, ["swath_d", "swath_d_new", "swath_d_free"]);
        assert_eq!(lines.len(), 2);
    }
}
