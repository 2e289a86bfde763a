//! `swath.h`: generated from the crate `capi`, committed, and compared with a new one.
//!
//! ```text
//! crates/capi/src, cbindgen.toml → cbindgen → text → sections → crates/capi/include/swath.h
//! introduction.txt, groups.txt, arrow.txt ──────────────┘       cargo xtask test: as committed?
//! ```

mod groups;
mod items;
mod layout;
mod words;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

pub(crate) use groups::HeaderGroup;

const CRATE: &str = "crates/capi";
const HEADER: &str = "crates/capi/include/swath.h";

/// Writes the header.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let text = generate(workspace)?;
    let path = workspace.root().join(HEADER);
    std::fs::write(&path, text).with_context(|| format!("cannot write {HEADER}"))?;
    println!("{HEADER}");
    Ok(())
}

/// Fails if the committed header differs from the one that the crate generates now.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    compare(&workspace.read(HEADER)?, &generate(workspace)?)
}

fn compare(committed: &str, made: &str) -> Result<()> {
    if committed == made {
        return Ok(());
    }
    let line = committed.lines().zip(made.lines()).take_while(|(a, b)| a == b).count() + 1;
    bail!("{HEADER} differs from the crate from line {line} on; try: run `cargo xtask header`")
}

fn generate(workspace: &Workspace) -> Result<String> {
    let root = workspace.root().join(CRATE);
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml"))
        .map_err(|error| anyhow::anyhow!("{CRATE}/cbindgen.toml: {error}"))?;
    let bindings = cbindgen::Builder::new().with_crate(&root).with_config(config).generate();
    let mut text = Vec::new();
    bindings.with_context(|| format!("cannot make {HEADER}"))?.write(&mut text);
    let introduction = workspace.read(&format!("{CRATE}/introduction.txt"))?;
    let written = tidied(&String::from_utf8(text)?);
    let file = |name: &str| {
        let text = workspace.read(&format!("{CRATE}/{name}"))?;
        if name.ends_with(".rs") { words::comment(&text) } else { Ok(text) }
    };
    let text = layout::arranged(&written, &introduction, &groups(workspace)?, &file)?;
    Ok(tidied(&text))
}

/// The sections of the header, with their examples.
pub(crate) fn groups(workspace: &Workspace) -> Result<Vec<HeaderGroup>> {
    groups::parse(&workspace.read(&format!("{CRATE}/groups.txt"))?)
}

/// Applies the repository's rules for white space.
fn tidied(text: &str) -> String {
    let mut tidied: String = text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    tidied.truncate(tidied.trim_end().len());
    tidied.push('\n');
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_header_is_reported_with_its_first_line_and_how_to_renew_it() {
        compare("a\nb\n", "a\nb\n").expect("the same");
        let error = compare("a\nb\n", "a\nc\n").expect_err("line 2 differs").to_string();
        assert!(
            error.contains("line 2") && error.ends_with("run `cargo xtask header`"),
            "{error}"
        );
        assert!(compare("a\n", "a\nb\n").is_err(), "one line is missing");
    }

    #[test]
    fn white_space_at_the_ends_goes() {
        assert_eq!(tidied("a \n\nb\n\n\n"), "a\n\nb\n");
    }
}
