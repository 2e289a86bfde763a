//! The oldest compiler: the claim of `rust-version` must be true.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::binary::Version;
use super::part::Made;
use super::release::Release;
use crate::{manifest, process};

/// Compiles everything with the oldest compiler if it is installed; otherwise checks by lint.
///
/// Without it, clippy's lint `incompatible_msrv` is denied in every crate: it finds functions of `std`
/// that are newer. The `rust-version` of each dependency is checked either way.
pub(super) fn check(release: &Release) -> Result<Made> {
    let text = fs::read_to_string(release.staged("Cargo.toml"))?;
    let sections = manifest::sections(&text);
    let package = sections.iter().find(|it| it.head == "workspace.package");
    let wanted = package.and_then(|it| it.string("rust-version")).context("no rust-version")?;
    let mut cargo = release.cargo();
    cargo.args(["metadata", "--locked", "--format-version", "1"]);
    let metadata = serde_json::from_str(&process::output(&mut cargo)?)?;
    let newer = newer(&metadata, Version::parse(wanted).context("rust-version has no point")?);
    ensure!(newer.is_empty(), "these need a newer compiler than {wanted}: {newer:?}");
    let mut notes = vec![format!("no dependency needs more than Rust {wanted}")];
    notes.push(match installed(release, wanted)? {
        Some(toolchain) => {
            with(release, &toolchain)?;
            format!("`cargo +{toolchain} check --workspace --all-targets`")
        }
        None => {
            lints(release)?;
            format!(
                "not with that compiler: it is not installed (try: rustup toolchain install \
                 {wanted}); by `cargo clippy` with `incompatible_msrv`"
            )
        }
    });
    Ok(Made::Checked(notes))
}

/// Returns the packages whose `rust-version` is above `wanted`.
fn newer(metadata: &Value, wanted: Version) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let is_newer = |value: &&Value| {
        value["rust_version"].as_str().and_then(Version::parse).is_some_and(|it| it > wanted)
    };
    packages.filter(is_newer).filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
}

/// Returns rustup's name of a toolchain of this version, if it is installed.
fn installed(release: &Release, wanted: &str) -> Result<Option<String>> {
    if !release.workspace().has("rustup") {
        return Ok(None);
    }
    let mut rustup = release.program("rustup");
    let list = process::output(rustup.args(["toolchain", "list"]))?;
    Ok(toolchain(&list, wanted))
}

fn toolchain(list: &str, wanted: &str) -> Option<String> {
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let mut fitting = names.filter(|name| {
        let rest = name.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    });
    fitting.next().map(str::to_owned)
}

fn with(release: &Release, toolchain: &str) -> Result<()> {
    let mut cargo = release.program("cargo");
    cargo.arg(format!("+{toolchain}")).env("CARGO_TARGET_DIR", release.scratch("build-msrv"));
    // Variables that `cargo run` has set belong to the toolchain that built this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        cargo.env_remove(name);
    }
    process::run(cargo.args(["check", "--locked", "--workspace", "--all-targets"]))
}

fn lints(release: &Release) -> Result<()> {
    let mut cargo =
        release.workspace().cargo(&["clippy", "--workspace", "--locked", "--quiet"]);
    cargo.args(["--", "--deny", "clippy::incompatible_msrv"]);
    process::run(&mut cargo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_needs_more_is_found() {
        let metadata = serde_json::json!({"packages": [
            {"name": "old", "rust_version": "1.56"},
            {"name": "same", "rust_version": "1.89.0"},
            {"name": "new", "rust_version": "1.90"},
            {"name": "silent", "rust_version": null},
        ]});
        let wanted = Version::parse("1.89").expect("two numbers");
        assert_eq!(newer(&metadata, wanted), ["new"]);
    }

    #[test]
    fn a_toolchain_of_another_version_is_not_taken() {
        let list = "stable-x86_64 (default)\n1.8.0-x86_64\n1.890.0-x86_64\n1.89.0-x86_64\n";
        assert_eq!(toolchain(list, "1.89").as_deref(), Some("1.89.0-x86_64"));
        assert_eq!(toolchain("1.95.0-x86_64\n", "1.89"), None);
    }
}
