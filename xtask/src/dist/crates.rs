//! The packages for the registry of crates.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::part::Made;
use super::release::Release;
use crate::{manifest, process};

/// The crates to publish: each after those that it depends on.
pub(super) const PUBLISHED: [&str; 10] = [
    "swath-plan",
    "swath-simd",
    "swath-os",
    "swath",
    "swath-arrow",
    "swath-formats",
    "swath-profile",
    "swath-study",
    "swath-cli",
    "swath-capi",
];

/// Packs the crates; one that Cargo would refuse to publish is an error.
pub(super) fn make(release: &Release) -> Result<Made> {
    check_versions(&fs::read_to_string(release.staged("Cargo.toml"))?)?;
    process::run_quietly(&mut package(release, &["--no-verify"]))?;
    let mut files = Vec::new();
    for name in PUBLISHED {
        let file = format!("{name}-{}.crate", release.version());
        let from = release.build().join("package").join(&file);
        let to = release.out().join(&file);
        fs::copy(from, &to)?;
        files.push(to);
    }
    Ok(Made::Files { files, notes: Vec::new() })
}

fn package(release: &Release, words: &[&str]) -> std::process::Command {
    let mut cargo = release.cargo();
    cargo.args(["package", "--locked", "--allow-dirty"]).args(words);
    for name in PUBLISHED {
        cargo.args(["--package", name]);
    }
    cargo
}

/// Builds each package from its own archive, with the others as their archives.
pub(super) fn attempt(release: &Release, _: &[PathBuf]) -> Result<Vec<String>> {
    process::run_quietly(&mut package(release, &[]))?;
    Ok(vec![String::from("each is built from its own archive, with those of the others")])
}

/// Checks that packages name each other with the version of the workspace.
fn check_versions(text: &str) -> Result<()> {
    let sections = manifest::sections(text);
    let find = |head: &str| sections.iter().find(|it| it.head == head);
    let version = find("workspace.package").and_then(|it| it.string("version")).unwrap_or("");
    let wanted = format!("version = \"={version}\"");
    let dependencies = find("workspace.dependencies");
    for entry in dependencies.into_iter().flat_map(|it| &it.entries) {
        if PUBLISHED.contains(&entry.key.as_str()) {
            let line = entry.line;
            ensure!(entry.value.contains(&wanted), "Cargo.toml:{line}: not `{wanted}`");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_names_another_version_is_found() {
        let text = |version: &str| {
            format!(
                "[workspace.package]\nversion = \"0.2.0\"\n[workspace.dependencies]\n\
                 swath-plan = {{ path = \"crates/plan\", version = \"={version}\" }}\n\
                 libc = \"0.2\"\n"
            )
        };
        check_versions(&text("0.2.0")).expect("it is the same");
        let error = check_versions(&text("0.1.0")).expect_err("it is another one");
        assert_eq!(error.to_string(), "Cargo.toml:4: not `version = \"=0.2.0\"`");
        check_versions(include_str!("../../../Cargo.toml")).expect("ours agree");
    }
}
