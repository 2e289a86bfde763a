//! The targets for which this machine can compile, and the missing library for
//! others.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::part::Made;
use super::release::Release;
use crate::process;

pub(super) const GNU: &str = "x86_64-unknown-linux-gnu";
pub(super) const MUSL: &str = "x86_64-unknown-linux-musl";
pub(super) const ARM: &str = "aarch64-unknown-linux-gnu";

/// The origin of Rust's own library for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Std {
    Installed,
    /// Its source is installed: Cargo compiles it with ours.
    FromSource,
    Missing,
}

/// Looks for the library of `triple`.
pub(super) fn std_of(release: &Release, triple: &str) -> Result<Std> {
    let mut rustc = release.program("rustc");
    let folder = process::output(rustc.args(["--print", "target-libdir", "--target", triple]))?;
    let mut rustc = release.program("rustc");
    let sysroot = process::output(rustc.args(["--print", "sysroot"]))?;
    Ok(found(Path::new(folder.trim()), Path::new(sysroot.trim())))
}

fn found(folder: &Path, sysroot: &Path) -> Std {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    if names.into_iter().any(|it| it.file_name().to_string_lossy().starts_with("libstd-")) {
        return Std::Installed;
    }
    match sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").is_file() {
        true => Std::FromSource,
        false => Std::Missing,
    }
}

impl Std {
    /// Adds the flags that Cargo needs.
    pub(super) fn apply(self, command: &mut Command) {
        if self == Std::FromSource {
            command.arg("-Zbuild-std=std,panic_unwind").env("RUSTC_BOOTSTRAP", "1");
        }
    }
}

/// Reports that the library of `triple` is missing, with the command that
/// installs it.
pub(super) fn missing(triple: &str) -> Made {
    Made::missing(
        format!("Rust's library for {triple}"),
        format!(
            "rustup target add {triple}, or install the source of the library (package rust-src of \
             a distribution whose compiler is 1.89 or newer)"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_library_is_installed_or_compiled_or_missing() {
        let root = std::env::temp_dir().join(format!("swath-target-{}", std::process::id()));
        let folder = root.join("lib/rustlib/t/lib");
        assert_eq!(found(&folder, &root), Std::Missing);
        let source = root.join("lib/rustlib/src/rust/library");
        fs::create_dir_all(&source).expect("the temporary folder is writable");
        fs::write(source.join("Cargo.lock"), "").expect("room");
        assert_eq!(found(&folder, &root), Std::FromSource);
        fs::create_dir_all(&folder).expect("room");
        fs::write(folder.join("libstd-1a.rlib"), "").expect("room");
        assert_eq!(found(&folder, &root), Std::Installed);
        fs::remove_dir_all(&root).expect("it is this test's own");
    }
}
