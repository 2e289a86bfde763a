//! Files of all sizes in folders, made from a seed.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is removed when the test ends.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder")
}

/// Lengths around every boundary: empty, the small room, a part, several parts.
pub(crate) const LENS: [usize; 14] = [
    0,
    1,
    63,
    64,
    4095,
    4096,
    10_000,
    65_535,
    65_536,
    65_537,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    (3 << 20) + 7,
];

/// Fills `folder` with `count` files in nested folders; returns the files, in no particular
/// order.
pub(crate) fn plant(folder: &Path, seed: u64, count: usize) -> Vec<PathBuf> {
    let mut next = swath_reference::splitmix(seed);
    let mut random =
        move |below: usize| usize::try_from(next() % below as u64).expect("below a usize");
    let mut paths = Vec::new();
    for index in 0..count {
        let mut path = folder.to_owned();
        for _ in 0..random(4) {
            path.push(["a", "b", ".hidden", "with space", "ä"][random(5)]);
        }
        fs::create_dir_all(&path).expect("room");
        path.push(format!("{}{index}", ["file-", ".", "x"][random(3)]));
        // Mostly small ones.
        let len = LENS.get(index).copied().unwrap_or_else(|| random(20_000));
        fs::write(&path, swath_reference::bytes(seed + index as u64, len)).expect("room");
        paths.push(path);
    }
    paths
}
