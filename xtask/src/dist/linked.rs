//! The packages that are linked into a product: neither build tools, nor macros, nor tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::release::Release;
use crate::process;

/// A package, as far as licences and the list of components need it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    pub(super) authors: Vec<String>,
    pub(super) folder: PathBuf,
    /// Whether the package is of this repository.
    pub(super) own: bool,
    /// SHA-256 of the archive it came in.
    pub(super) checksum: Option<String>,
}

impl Package {
    pub(super) fn id(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// Returns the packages that `product` is linked from on `triple`, itself included, ordered
/// by name.
pub(super) fn packages(release: &Release, product: &str, triple: &str) -> Result<Vec<Package>> {
    let mut tree = release.cargo();
    // Features are those of this product alone, as in its build.
    tree.args(["tree", "--locked", "--prefix", "none", "--format", "{p}"]);
    tree.args(["--edges", "normal,no-proc-macro", "--package", product, "--target", triple]);
    let tree = ids(&process::output(&mut tree)?);
    let mut metadata = release.cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    let metadata = serde_json::from_str(&process::output(&mut metadata)?)?;
    let lock = checksums(&std::fs::read_to_string(release.staged("Cargo.lock"))?);
    select(&tree, &metadata, &lock)
}

/// `name version` of each line `name v1.2.3 (more)`.
fn ids(tree: &str) -> BTreeSet<String> {
    let id = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    tree.lines().filter_map(id).collect()
}

fn select(
    tree: &BTreeSet<String>,
    metadata: &Value,
    lock: &BTreeMap<String, String>,
) -> Result<Vec<Package>> {
    let all = metadata["packages"].as_array().context("no packages")?;
    let mut found: BTreeMap<String, Package> = BTreeMap::new();
    for value in all {
        let mut package = package(value).context("a package without a name")?;
        package.checksum = lock.get(&package.id()).cloned();
        found.insert(package.id(), package);
    }
    let take = |id: &String| {
        found.get(id).cloned().with_context(|| format!("cargo metadata does not list {id}"))
    };
    tree.iter().map(take).collect()
}

fn package(value: &Value) -> Option<Package> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let authors = value["authors"].as_array().into_iter().flatten();
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        licence: text("license").unwrap_or_default(),
        authors: authors.filter_map(|it| it.as_str().map(str::to_owned)).collect(),
        folder: Path::new(&text("manifest_path")?).parent()?.to_owned(),
        own: value["source"].is_null(),
        checksum: None,
    })
}

/// `name version` → checksum.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let sections = crate::manifest::sections(lock);
    let entry = |section: &crate::manifest::Section| {
        let id = format!("{} {}", section.string("name")?, section.string("version")?);
        Some((id, section.string("checksum")?.to_owned()))
    };
    sections.iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_a_lock_and_the_metadata_are_put_together() {
        let tree = ids("swath v0.1.0 (/swath)\nbytes v1.9.0\nbytes v1.9.0 (*)\n\n");
        let metadata = serde_json::json!({"packages": [
            {"name": "bytes", "version": "1.9.0", "license": "MIT", "authors": ["A"],
             "manifest_path": "/r/bytes/Cargo.toml", "source": "registry"},
            {"name": "bytes", "version": "0.5.0", "manifest_path": "/r/old/Cargo.toml",
             "source": "registry"},
            {"name": "swath", "version": "0.1.0", "manifest_path": "/s/Cargo.toml",
             "source": null},
        ]});
        let lock = checksums(
            "[[package]]\nname = \"bytes\"\nversion = \"1.9.0\"\n\
                              checksum = \"ab\"\n",
        );
        let found = select(&tree, &metadata, &lock).expect("both are listed");
        let shown: Vec<_> =
            found.iter().map(|it| (it.id(), it.own, it.checksum.as_deref())).collect();
        let expected = [
            ("bytes 1.9.0".to_owned(), false, Some("ab")),
            ("swath 0.1.0".to_owned(), true, None),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_package_that_is_not_listed_is_an_error() {
        let tree = ids("gone v1.0.0\n");
        let metadata = serde_json::json!({"packages": []});
        assert!(select(&tree, &metadata, &BTreeMap::new()).is_err());
    }
}
