//! `cargo xtask install-c`: installs the C library where C programs look for it.
//!
//! ```text
//! PREFIX/include/swath.h, swath_mpi.h
//! PREFIX/lib/libswath.so → libswath.so.0 → libswath.so.VERSION, libswath.a
//! PREFIX/lib/pkgconfig/swath.pc           pkg-config --cflags --libs swath
//! PREFIX/lib/cmake/Swath/SwathConfig.cmake   find_package(Swath), Swath::swath
//! ```
//!
//! The prefix may be moved as a whole: the files for `pkg-config` and CMake find it relative to
//! themselves.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{build, manifest, process};

/// The words after `install-c`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallCWish {
    /// Where to
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
    /// The profile of Cargo that it is built with
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

/// Installs the debug build of the tests, which is linked to, not copied.
pub(crate) fn lay_build(workspace: &Workspace, prefix: &Path) -> Result<()> {
    build::all(workspace)?;
    let folder = workspace.target().join("debug");
    let built = Built { folder, sources: workspace.root().to_owned() };
    lay(&built, prefix, &version(workspace)?, true)
}

/// Builds and installs.
pub(crate) fn run(workspace: &Workspace, wish: &InstallCWish) -> Result<()> {
    let prefix = std::path::absolute(&wish.prefix)?;
    if wish.profile == "dev" {
        return lay_build(workspace, &prefix);
    }
    let words = ["build", "--quiet", "--package", "swath-capi", "--profile", &wish.profile];
    process::run(&mut workspace.cargo(&words))?;
    let folder = workspace.target().join(&wish.profile);
    let built = Built { folder, sources: workspace.root().to_owned() };
    lay(&built, &prefix, &version(workspace)?, false)
}

/// A built library.
pub(crate) struct Built {
    /// The folder into which Cargo built it.
    pub(crate) folder: PathBuf,
    /// The root of the tree that it was built from.
    pub(crate) sources: PathBuf,
}

/// Puts the files of a built library into `prefix`.
pub(crate) fn lay(built: &Built, prefix: &Path, version: &str, link: bool) -> Result<()> {
    for header in ["swath.h", "swath_mpi.h"] {
        let from = built.sources.join("crates/capi/include").join(header);
        put(&from, &prefix.join("include").join(header), false)?;
    }
    let lib = prefix.join("lib");
    let shared = format!("libswath.so.{version}");
    put(&built.folder.join("libswath_capi.so"), &lib.join(&shared), link)?;
    point(&lib.join("libswath.so.0"), &shared)?;
    point(&lib.join("libswath.so"), "libswath.so.0")?;
    put(&built.folder.join("libswath_capi.a"), &lib.join("libswath.a"), link)?;
    let texts = [
        ("swath.pc.in", "lib/pkgconfig/swath.pc"),
        ("SwathConfig.cmake.in", "lib/cmake/Swath/SwathConfig.cmake"),
        ("SwathConfigVersion.cmake.in", "lib/cmake/Swath/SwathConfigVersion.cmake"),
    ];
    for (from, to) in texts {
        let from = built.sources.join("crates/capi/install").join(from);
        let text = fs::read_to_string(&from)
            .with_context(|| format!("cannot read {}", from.display()))?;
        let text = text.replace("@VERSION@", version).replace("@LIBRARIES@", LIBRARIES);
        replace(&prefix.join(to), |path| fs::write(path, &text))?;
    }
    Ok(())
}

/// The libraries that a program needs besides the archive: `rustc --print native-static-libs`,
/// without `-lgcc_s`, which every compiler links by itself, and which has another name with
/// `-static`.
const LIBRARIES: &str = "-lutil -lrt -lpthread -lm -ldl -lc";

/// The version of the workspace.
pub(crate) fn version(workspace: &Workspace) -> Result<String> {
    let text = workspace.read("Cargo.toml")?;
    let sections = manifest::sections(&text);
    let package = sections.iter().find(|it| it.head == "workspace.package");
    let version = package.and_then(|it| it.string("version"));
    Ok(version.context("Cargo.toml: no version")?.to_owned())
}

fn put(from: &Path, to: &Path, link: bool) -> Result<()> {
    if !from.is_file() {
        bail!("cannot install {}: there is no such file", from.display());
    }
    replace(to, |path| match link && fs::hard_link(from, path).is_ok() {
        true => Ok(()),
        false => fs::copy(from, path).map(drop),
    })
}

fn point(link: &Path, target: &str) -> Result<()> {
    replace(link, |path| symlink(target, path))
}

/// Writes a new file and gives it its name in one step: running programs keep the older
/// library.
pub(crate) fn replace(
    path: &Path,
    make: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<()> {
    let failed = || format!("cannot install {}", path.display());
    let folder = path.parent().with_context(failed)?;
    let name = path.file_name().with_context(failed)?.to_string_lossy().into_owned();
    fs::create_dir_all(folder).with_context(failed)?;
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    // A killed run with the same process id may have left it.
    let _ = fs::remove_file(&new);
    make(&new).and_then(|()| fs::rename(&new, path)).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_in_use_is_replaced_and_not_written_to() {
        let folder = std::env::temp_dir().join(format!("swath-install-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let path = folder.join("lib");
        fs::write(&path, "old").expect("room");
        let mut open = fs::File::open(&path).expect("it is there");
        replace(&path, |path| fs::write(path, "new")).expect("room");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut open, &mut text).expect("still there");
        assert_eq!(
            (text.as_str(), fs::read_to_string(&path).expect("there").as_str()),
            ("old", "new")
        );
        fs::remove_dir_all(&folder).expect("only this test uses it");
    }
}
