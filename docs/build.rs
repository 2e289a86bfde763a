//! Writes the Rust blocks of every page as tests, each on the line where its page has it.
//!
//! An error of the compiler therefore names page and line: `out/docs/guide/reading.md:14`.

#[allow(dead_code, unreachable_pub, reason = "the library uses the rest")]
#[path = "src/blocks.rs"]
mod blocks;
#[allow(dead_code, unreachable_pub, reason = "the library uses the rest")]
#[path = "src/pages.rs"]
mod pages;

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Blocks are written to be read: they may leave a result unused.
const ALLOWED: &str = "unused_variables, unused_mut, unused_imports, unused_assignments, dead_code, \
     redundant_semicolons, unreachable_code, missing_docs, unreachable_pub, rust_2018_idioms, \
     clippy::all, clippy::unwrap_used, clippy::missing_errors_doc, \
     clippy::undocumented_unsafe_blocks, clippy::cast_possible_truncation, \
     clippy::cast_possible_wrap, clippy::cast_sign_loss";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("no folder")?);
    let root = root.parent().ok_or("no root")?;
    for watched in ["README.md", "docs"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let mut modules = String::new();
    for page in pages::all(root)? {
        if page.of(blocks::Language::Rust).next().is_none() {
            continue;
        }
        let path = out.join(&page.path);
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        std::fs::write(&path, page.rust())?;
        let name = page.module();
        writeln!(modules, "#[allow({ALLOWED})]\n#[path = {path:?}]\nmod {name};")?;
    }
    std::fs::write(out.join("pages.rs"), modules)?;
    Ok(())
}
