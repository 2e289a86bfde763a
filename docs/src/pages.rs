//! Finds the pages: `README.md`, and every `.md` file under `docs`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::blocks::Page;

/// Reads all pages below `root`, in the order of their paths.
///
/// # Errors
///
/// The path and the cause if a page cannot be read; `path:line: why` if a block is not marked as it
/// must be.
pub fn all(root: &Path) -> Result<Vec<Page>, String> {
    let mut paths = vec![root.join("README.md")];
    collect(&root.join("docs"), &mut paths)?;
    paths.sort();
    paths.iter().map(|path| read(root, path)).collect()
}

fn read(root: &Path, path: &Path) -> Result<Page, String> {
    let text = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    Page::parse(&name, &text)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
        let path = entry.map_err(|error| failed(folder, &error))?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|it| it == "md") {
            paths.push(path);
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}
