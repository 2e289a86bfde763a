//! The licence texts of everything that is linked into a product.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::linked::Package;
use super::release::Release;
use crate::process;

pub(super) const NAME: &str = "THIRD-PARTY-LICENSES.txt";

/// The C libraries that a product is linked with statically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Libc {
    /// None: the C library is loaded from the machine.
    Shared,
    Musl,
    Glibc,
}

/// Returns one text: the works, then each licence text once.
pub(super) fn text(release: &Release, packages: &[Package], libc: Libc) -> Result<String> {
    let standard = StandardTexts::read(&release.staged(""))?;
    let mut parts = Vec::new();
    for package in packages.iter().filter(|it| !it.own) {
        parts.push(LicencePart {
            title: format!("{} ({})", package.id(), package.licence),
            texts: texts_of(package, &standard)?,
        });
    }
    parts.push(standard_library(release)?);
    parts.extend(c_library(libc));
    Ok(render(&parts))
}

/// A part of a product, and its licence texts.
struct LicencePart {
    title: String,
    texts: Vec<String>,
}

/// Standard texts, without holders.
struct StandardTexts {
    apache: String,
    mit: String,
}

impl StandardTexts {
    fn read(root: &Path) -> Result<StandardTexts> {
        let mit = fs::read_to_string(root.join("LICENSE-MIT"))?;
        // Without the line that names its holders.
        let lines = mit.lines().filter(|line| !line.starts_with("Copyright"));
        let mit = lines.collect::<Vec<_>>().join("\n");
        Ok(StandardTexts { apache: fs::read_to_string(root.join("LICENSE-APACHE"))?, mit })
    }
}

/// Returns the licence texts in a package. One without any gets the standard text of the licence
/// in its manifest; anything else is an error, since its terms would be missing.
fn texts_of(package: &Package, standard: &StandardTexts) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(&package.folder, 3, &mut files)?;
    files.sort();
    if !files.is_empty() {
        let read = |path: &PathBuf| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned());
        return files.iter().map(read).collect();
    }
    let holders = format!("Copyright (c) {}\n", package.authors.join(", "));
    if package.licence.contains("Apache-2.0") && !package.licence.contains(" AND ") {
        return Ok(vec![holders, standard.apache.clone()]);
    }
    if package.licence == "MIT" {
        return Ok(vec![format!("{holders}\n{}", standard.mit)]);
    }
    bail!("{} ({}) has no licence text", package.id(), package.licence)
}

/// Finds licence files in `folder` and, `depth` levels deep, in the C sources below it.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut here = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_dir() {
            if depth > 0 && !["tests", "benches", "examples"].contains(&name.as_str()) {
                collect(&entry.path(), depth - 1, files)?;
            }
        } else if is_licence(&name) {
            here.push((name, entry.path()));
        }
    }
    // If both exist, COPYING is the other one of two licences.
    let has_licence = here.iter().any(|(name, _)| !name.starts_with("copying"));
    here.retain(|(name, _)| !(has_licence && name.starts_with("copying")));
    files.extend(here.into_iter().map(|(_, path)| path));
    Ok(())
}

fn is_licence(name: &str) -> bool {
    let begins = ["license", "licence", "unlicense", "copying", "copyright", "notice"];
    begins.iter().any(|it| name.starts_with(it)) && !name.ends_with(".rs")
}

/// Returns the licence of Rust's own library, which is in every product.
fn standard_library(release: &Release) -> Result<LicencePart> {
    let mut rustc = release.program("rustc");
    let sysroot = process::output(rustc.args(["--print", "sysroot"]))?;
    let sysroot = Path::new(sysroot.trim());
    let places = [
        "share/doc/rust",
        "lib/rustlib/src/rust",
        "share/doc/rustc",
        "share/doc/libstd-rust-dev",
    ];
    let names = ["COPYRIGHT", "COPYRIGHT-library.html", "LICENSE-MIT", "copyright"];
    let paths = places.iter().flat_map(|it| names.map(|name| sysroot.join(it).join(name)));
    let texts: Vec<String> = paths.filter_map(|it| fs::read_to_string(it).ok()).collect();
    let title = "The Rust standard library (MIT OR Apache-2.0)".to_owned();
    if texts.is_empty() {
        let line = "Copyright (c) The Rust Project Contributors; the texts are those of MIT and \
                    Apache-2.0 above.\n";
        return Ok(LicencePart { title, texts: vec![line.to_owned()] });
    }
    Ok(LicencePart { title, texts })
}

fn c_library(libc: Libc) -> Option<LicencePart> {
    let (title, place, otherwise) = match libc {
        Libc::Shared => return None,
        Libc::Musl => (
            "musl (MIT)",
            "/usr/share/doc/musl/copyright",
            "Copyright © 2005-2020 Rich Felker, et al. The terms are those of MIT above.\n",
        ),
        Libc::Glibc => (
            "The GNU C library (LGPL-2.1-or-later)",
            "/usr/share/doc/libc6/copyright",
            "Its sources are those of this system's libc6. The program can be linked again with \
             another version: its own sources are published under MIT or Apache-2.0.\n",
        ),
    };
    let text = fs::read_to_string(place).unwrap_or_else(|_| otherwise.to_owned());
    let mut texts = vec![text];
    if libc == Libc::Glibc {
        texts.push(otherwise.to_owned());
    }
    Some(LicencePart { title: title.to_owned(), texts })
}

/// Returns a list of all parts, then each different text with the parts that it applies to.
fn render(parts: &[LicencePart]) -> String {
    let mut by_text: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut out = String::from("Swath is linked from these works of others:\n\n");
    for part in parts {
        let _ = writeln!(out, "  {}", part.title);
        for text in &part.texts {
            by_text.entry(normalised(text)).or_default().push(&part.title);
        }
    }
    let mut groups: Vec<_> = by_text.into_iter().collect();
    groups.sort_by(|(a, x), (b, y)| (x, a).cmp(&(y, b)));
    for (text, titles) in groups {
        let _ = write!(out, "\n{}\n", "=".repeat(80));
        for title in titles {
            let _ = writeln!(out, "{title}");
        }
        let _ = write!(out, "{}\n{text}", "-".repeat(80));
    }
    out
}

/// Returns a text with uniform line ends: equal texts differ only there.
fn normalised(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(licence: &str, folder: &Path) -> Package {
        Package {
            name: "bytes".into(),
            version: "1.0.0".into(),
            licence: licence.into(),
            authors: vec!["A".into()],
            folder: folder.to_owned(),
            own: false,
            checksum: None,
        }
    }

    fn standard() -> StandardTexts {
        StandardTexts { apache: "APACHE\n".into(), mit: "PERMISSION\n".into() }
    }

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("swath-licences-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("src")).expect("the temporary folder is writable");
        folder
    }

    #[test]
    fn a_package_without_a_text_is_refused_unless_its_text_is_known() {
        let folder = folder("missing");
        let texts = |licence| texts_of(&package(licence, &folder), &standard());
        assert!(texts("BSD-3-Clause").is_err());
        assert!(texts("Apache-2.0 AND BSD-2-Clause").is_err());
        assert_eq!(texts("MIT").expect("known"), ["Copyright (c) A\n\nPERMISSION\n"]);
        assert_eq!(texts("MIT OR Apache-2.0").expect("known")[1], "APACHE\n");
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn texts_of_c_sources_are_found_and_the_other_of_two_licences_is_not() {
        let folder = folder("c");
        fs::create_dir_all(folder.join("zstd")).expect("room");
        for (name, text) in [("LICENSE", "a"), ("zstd/LICENSE", "b"), ("zstd/COPYING", "gpl")] {
            fs::write(folder.join(name), text).expect("room");
        }
        let texts = texts_of(&package("BSD-3-Clause", &folder), &standard()).expect("two");
        assert_eq!(texts, ["a", "b"]);
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn each_text_stands_once_under_all_that_it_holds_for() {
        let part = |title: &str, text: &str| LicencePart {
            title: title.into(),
            texts: vec![text.into()],
        };
        let text = render(&[part("a 1", "same\r\n"), part("b 2", "same\n"), part("c 3", "x")]);
        assert_eq!(text.matches("same").count(), 1);
        assert!(text.contains("a 1\nb 2\n-"), "{text}");
        assert_eq!(text.matches("c 3").count(), 2);
    }
}
