//! The Debian package: command, man pages, completions, licences.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::binary::{self, Version};
use super::clean::Root;
use super::command::{self, Product};
use super::licences::Libc;
use super::part::Made;
use super::release::Release;
use super::target::GNU;
use super::tools;
use crate::{install, process};

/// Debian has another package `swath`, a segmenter of Thai words, with a program of that name.
const PACKAGE: &str = "swath-io";

/// The newest glibc that the shared builds may need.
pub(super) const GLIBC: Version = Version { major: 2, minor: 28 };

/// Builds the command against an old glibc and packs it.
pub(super) fn make(release: &Release) -> Result<Made> {
    if !release.workspace().has("dpkg-deb") {
        return Ok(Made::missing("dpkg-deb", "apt-get install dpkg"));
    }
    let built = shared(release, "swath-cli")?.join("swath");
    let glibc = binary::assert_glibc(&built, GLIBC)?;
    release.names_no_folder(&built)?;
    let root = release.empty_folder("deb")?.join("root");
    lay(release, &built, &root)?;
    control(release, &root, glibc)?;
    let file = release.out().join(format!("{PACKAGE}_{}_amd64.deb", release.version()));
    let mut dpkg = release.program("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&file);
    process::run_quietly(&mut dpkg)?;
    let size = release.assert_small(&built, binary::COMMAND_LIMIT)?;
    let notes = vec![format!("needs glibc {glibc}; the stripped command has {size}")];
    Ok(Made::Files { files: vec![file], notes })
}

/// Compiles `package` so that it runs with [`GLIBC`] and newer; returns the folder of the results.
pub(super) fn shared(release: &Release, package: &str) -> Result<PathBuf> {
    let tools = tools::Tools::new(release)?;
    let mut cargo = tools.command(release, "cargo-zigbuild")?;
    cargo.args(["zigbuild", "--release", "--locked", "--package", package]);
    cargo.args(["--target", &format!("{GNU}.{GLIBC}")]);
    process::run(&mut cargo)?;
    Ok(release.build().join(GNU).join("release"))
}

fn lay(release: &Release, built: &Path, root: &Path) -> Result<()> {
    let programs = root.join("usr/bin");
    fs::create_dir_all(&programs)?;
    fs::copy(built, programs.join("swath"))?;
    install::describe(built, &root.join("usr/share"), command::DEBIAN_ZSH)?;
    let papers = root.join("usr/share/doc").join(PACKAGE);
    fs::create_dir_all(&papers)?;
    let product = Product { folder: &papers, triple: GNU, libc: Libc::Shared };
    command::papers(release, "swath-cli", &product)?;
    fs::write(papers.join("copyright"), copyright(release)?)?;
    let mut gzip = release.program("sh");
    gzip.args(["-c", "gzip -n9 \"$0\"/*.1 \"$1\"/CHANGELOG.md"]);
    gzip.arg(root.join("usr/share/man/man1")).arg(&papers);
    process::run_quietly(&mut gzip)?;
    fs::rename(papers.join("CHANGELOG.md.gz"), papers.join("changelog.gz"))?;
    Ok(())
}

/// Returns the copyright file in Debian's form: the holders, their terms, and where the full texts
/// are.
fn copyright(release: &Release) -> Result<String> {
    let mit = fs::read_to_string(release.staged("LICENSE-MIT"))?;
    let mut text = String::from(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: swath\n\nFiles: *\nCopyright: The Swath developers\n\
         License: MIT or Apache-2.0\nComment:\n The works of others that the command is linked \
         from are listed, with their\n texts, in THIRD-PARTY-LICENSES.txt beside this file. The \
         text of Apache-2.0 is\n in /usr/share/common-licenses/Apache-2.0 and in \
         LICENSE-APACHE.\n\nLicense: MIT\n",
    );
    for line in mit.lines() {
        text.push_str(if line.is_empty() { " ." } else { " " });
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}

fn control(release: &Release, root: &Path, glibc: Version) -> Result<()> {
    let folder = root.join("DEBIAN");
    let mut files = release.program("sh");
    files.current_dir(root).args(["-c", "find usr -type f | LC_ALL=C sort | xargs md5sum"]);
    let sums = process::output(&mut files)?;
    let mut size = release.program("du");
    let size = process::output(size.args(["--summarize", "--apparent-size", "-k"]).arg(root))?;
    let size = size.split_whitespace().next().context("no size")?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("md5sums"), sums)?;
    let text = format!(
        "Package: {PACKAGE}\nVersion: {}\nArchitecture: amd64\n\
         Maintainer: The Swath developers <swath@localhost>\nInstalled-Size: {size}\n\
         Depends: libc6 (>= {glibc})\nConflicts: swath\nReplaces: swath\nSection: utils\nPriority: optional\n\
         Description: parallel file I/O: read, copy, compress, convert, measure\n \
         Reads files as fast as the machine can, and writes results in parallel but in\n \
         order: complete and durable under their name, or absent.\n",
        release.version()
    );
    fs::write(folder.join("control"), text)?;
    Ok(())
}

/// Installs it, runs it and removes it, in a Debian of its own where one can be made.
pub(super) fn attempt(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let file = files.first().context("no package")?;
    let mut tried = Vec::new();
    let mut listed = release.program("dpkg-deb");
    let listed = process::output(listed.arg("--contents").arg(file))?;
    for part in ["usr/bin/swath", "man1/swath.1.gz", "man1/swath-read.1.gz", "copyright"] {
        ensure!(listed.contains(part), "the package has no {part}");
    }
    let folder = release.empty_folder("root-deb")?;
    match debian(release, &folder) {
        Ok(()) => {
            in_debian(&Root::new(folder), file)?;
            tried.push(String::from(
                "in a fresh Debian: dpkg --install, read, cat, cp, sum, compress, --purge; nothing \
                 is left",
            ));
        }
        Err(error) => {
            let reason = format!("{error:#}");
            tried.push(format!("unpacked only: no Debian to install it in ({reason})"));
            unpacked(release, file)?;
        }
    }
    Ok(tried)
}

/// Makes a Debian with essential packages only, as old as this one.
fn debian(release: &Release, folder: &Path) -> Result<()> {
    let mut make = release.program("mmdebstrap");
    make.args(["--quiet", "--variant=essential"]);
    make.arg(suite()?).arg(folder);
    process::run_quietly(&mut make)
}

fn suite() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.unwrap_or("stable").to_owned())
}

fn in_debian(root: &Root, file: &Path) -> Result<()> {
    root.put(file, "swath.deb")?;
    root.run(&["dpkg", "--install", "/swath.deb"])?;
    command::in_an_empty_root(root, "/usr/bin/swath")?;
    for path in ["usr/share/bash-completion/completions/swath", "usr/bin/swath"] {
        ensure!(root.path(path).exists(), "{path} was not installed");
    }
    root.run(&["dpkg", "--purge", PACKAGE])?;
    for path in ["usr/bin/swath", "usr/share/doc/swath-io", "usr/share/man/man1/swath.1.gz"] {
        ensure!(!root.path(path).exists(), "{path} was not removed");
    }
    Ok(())
}

fn unpacked(release: &Release, file: &Path) -> Result<()> {
    let folder = release.empty_folder("try-deb")?;
    let mut dpkg = release.program("dpkg-deb");
    process::run_quietly(dpkg.arg("--extract").arg(file).arg(&folder))?;
    let mut swath = super::clean::command(folder.join("usr/bin/swath"), &folder);
    process::run_quietly(swath.arg("--version"))
}
