//! Makes trees of files with the same bytes on every machine.
//!
//! File `i` depends on the [`Tree`] alone, not on the number of workers. It is text: lines of 63 letters,
//! with a newline as the last byte, so tools that count lines or expect UTF-8 work on it.
//!
//! ```text
//! folder/000000/000  000000/001 … 000000/999  000001/000 …     a thousand files a folder
//! ```
//!
//! ```
//! use swath_study::many::tree::{Spread, Tree, make};
//!
//! let folder = std::env::temp_dir().join(format!("swath-tree-{}", std::process::id()));
//! let tree = Tree { files: 3, size: 100, spread: Spread::Even, seed: 1 };
//! let made = make(&tree, &folder, 2)?;
//! assert_eq!((made.files, made.folders, made.bytes, made.lines), (3, 1, 300, 6));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::threads::each;
use crate::workload::fill_letters;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use swath_os::descriptors::flush;
use swath_os::file_system::is_remote;
use swath_plan::random::word;

/// Files in one folder: few enough for a fast lookup in every file system.
pub const FILES_PER_FOLDER: u64 = 1000;

/// Bytes of a line, with its newline.
const LINE: usize = 64;

/// Bytes made at one time, a multiple of [`LINE`].
const BLOCK: u64 = 1 << 20;

/// Distinguishes the random words for sizes from those for contents.
const SIZES: u64 = 0x73_697a_6573;

/// The distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All files have the same size.
    Even,
    /// Few files are large and most are small, as in home directories: the share of files larger than `s`
    /// falls as `s` to the power of -4/3, from a quarter of the mean to 1,024 times the mean.
    PowerLaw,
}

impl Spread {
    /// All distributions, with the words of the command line.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("even", Self::Even), ("powerlaw", Self::PowerLaw)];
}

/// The recipe of a tree: it determines every byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The number of files.
    pub files: u64,
    /// The length of each file in bytes; with a power law, about the mean.
    pub size: u64,
    /// The distribution of sizes.
    pub spread: Spread,
    /// The seed of the bytes and the sizes.
    pub seed: u64,
}

impl Tree {
    /// Returns the length of file `index`.
    pub fn size_of(&self, index: u64) -> u64 {
        match self.spread {
            Spread::Even => self.size,
            Spread::PowerLaw => power_law(self.size, word(self.seed ^ SIZES, index)),
        }
    }

    /// Returns the path of file `index` below the tree's folder.
    pub fn path_of(&self, index: u64) -> PathBuf {
        let (folder, file) = (index / FILES_PER_FOLDER, index % FILES_PER_FOLDER);
        PathBuf::from(format!("{folder:06}/{file:03}"))
    }

    /// Returns the paths of all files of the tree in `folder`, in order of name.
    pub fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        (0..self.files).map(|index| folder.join(self.path_of(index))).collect()
    }

    /// Returns the number of folders.
    pub fn folders(&self) -> u64 {
        self.files.div_ceil(FILES_PER_FOLDER)
    }

    /// Writes the bytes of file `index` to `out`.
    fn write(
        &self,
        index: u64,
        block: &mut Vec<u8>,
        out: &mut impl Write,
    ) -> io::Result<TreeFiles> {
        let (size, seed) = (self.size_of(index), word(self.seed, index));
        let mut made = TreeFiles {
            files: 1,
            bytes: size,
            smallest: size,
            largest: size,
            ..TreeFiles::NONE
        };
        let mut offset = 0;
        while offset < size {
            let len = BLOCK.min(size - offset);
            block.resize(usize::try_from(len).map_err(io::Error::other)?, 0);
            fill_letters(block, seed, offset / 8);
            block.iter_mut().skip(LINE - 1).step_by(LINE).for_each(|byte| *byte = b'\n');
            offset += len;
            if let Some(last) = block.last_mut().filter(|_| offset == size) {
                *last = b'\n';
            }
            made.lines += swath_simd::count(block, b'\n');
            made.sum += swath_simd::sum(block);
            out.write_all(block)?;
        }
        Ok(made)
    }
}

/// Returns a size of about `mean` from a random word: a quarter of the mean × (1 / u)^(3/4), where u is the
/// word as a fraction. Integer arithmetic gives the same size on all machines.
fn power_law(mean: u64, random: u64) -> u64 {
    const BITS: u32 = 53;
    /// In quarters of the mean.
    const MOST: u128 = 4096;
    let u = u128::from(random >> (u64::BITS - BITS)) + 1;
    let half = ((1 << (BITS + 64)) / u).isqrt(); // (1/u)^(1/2), 32 bits after the point
    let quarter = (half << 32).isqrt(); // (1/u)^(1/4), as many
    let factor = ((half * quarter) >> 32).min(MOST << 32);
    u64::try_from((factor * u128::from(mean)) >> 34).unwrap_or(u64::MAX)
}

/// The counts and the sum of a tree that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeFiles {
    /// Files.
    pub files: u64,
    /// The folders of the tree.
    pub folders: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Line ends in them.
    pub lines: u64,
    /// The sum of all bytes, for the check of readers.
    pub sum: u64,
    /// Bytes of the smallest file; 0 without files.
    pub smallest: u64,
    /// Bytes of the largest file.
    pub largest: u64,
}

impl TreeFiles {
    const NONE: Self = Self {
        files: 0,
        folders: 0,
        bytes: 0,
        lines: 0,
        sum: 0,
        smallest: u64::MAX,
        largest: 0,
    };

    fn and(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            folders: self.folders + other.folders,
            bytes: self.bytes + other.bytes,
            lines: self.lines + other.lines,
            sum: self.sum + other.sum,
            smallest: self.smallest.min(other.smallest),
            largest: self.largest.max(other.largest),
        }
    }
}

/// Makes `tree` in `folder` with `workers` threads (0: one per CPU).
///
/// The folder is made if it does not exist; its parent must exist. Nothing is synced to the device.
///
/// # Errors
///
/// `DirectoryNotEmpty` if the folder is not empty; if writing fails, after which all new files are
/// removed.
pub fn make(tree: &Tree, folder: &Path, workers: usize) -> io::Result<TreeFiles> {
    let is_new = prepare(folder)?;
    let workers = match workers {
        0 => std::thread::available_parallelism()?.get(),
        count => count,
    };
    // At most one thread for each folder.
    let useful = usize::try_from(tree.folders()).unwrap_or(usize::MAX);
    let next = AtomicU64::new(0);
    let parts = vec![(); workers.min(useful).max(1)];
    let made = each(parts, |()| make_folders(tree, folder, &next)).results;
    match made.into_iter().collect::<io::Result<Vec<TreeFiles>>>() {
        Ok(made) => {
            let made = made.into_iter().fold(TreeFiles::NONE, TreeFiles::and);
            Ok(TreeFiles { smallest: made.smallest.min(made.largest), ..made })
        }
        Err(error) => {
            remove(folder, is_new);
            Err(error)
        }
    }
}

/// Makes the folder unless it exists and is empty; returns whether it was made.
fn prepare(folder: &Path) -> io::Result<bool> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match fs::read_dir(folder)?.next() {
                None => Ok(false),
                Some(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
            }
        }
        Err(error) => Err(error),
    }
}

/// Removes the new files. Errors are ignored: the error that led here is reported.
fn remove(folder: &Path, is_new: bool) {
    if is_new {
        let _ = fs::remove_dir_all(folder);
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Makes one folder after the other; other threads also take folders from `next`.
fn make_folders(tree: &Tree, parent: &Path, next: &AtomicU64) -> io::Result<TreeFiles> {
    let mut made = TreeFiles::NONE;
    let mut block = Vec::new();
    loop {
        // Relaxed: only the number matters; joining the threads orders the rest.
        let folder = next.fetch_add(1, Ordering::Relaxed);
        if folder >= tree.folders() {
            return Ok(made);
        }
        let first = folder * FILES_PER_FOLDER;
        let end = (first + FILES_PER_FOLDER).min(tree.files);
        let result = make_folder(tree, parent, first..end, &mut block);
        if result.is_err() {
            // Stop the other threads. Relaxed: as above.
            next.store(tree.folders(), Ordering::Relaxed);
        }
        made = made.and(result?);
    }
}

fn make_folder(
    tree: &Tree,
    parent: &Path,
    files: std::ops::Range<u64>,
    block: &mut Vec<u8>,
) -> io::Result<TreeFiles> {
    let mut made = TreeFiles { folders: 1, ..TreeFiles::NONE };
    let path = parent.join(tree.path_of(files.start));
    let folder = path.parent().unwrap_or(parent);
    fs::create_dir(folder)?;
    let is_remote = is_remote(File::open(folder)?);
    for index in files {
        let mut file = File::create_new(parent.join(tree.path_of(index)))?;
        made = made.and(tree.write(index, block, &mut file)?);
        if is_remote {
            // A full file server may report it only now.
            flush(&file)?;
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: Tree = Tree { files: 2100, size: 300, spread: Spread::PowerLaw, seed: 7 };

    #[test]
    fn a_tree_is_the_same_at_every_worker_count() {
        let parent = tempfile::tempdir().expect("a folder");
        let made = |name: &str, tree: &Tree, workers| {
            let folder = parent.path().join(name);
            let made = make(tree, &folder, workers).expect("it is made");
            let files: Vec<Vec<u8>> =
                tree.paths(&folder).iter().map(|path| fs::read(path).expect("there")).collect();
            (made, files)
        };
        let one = made("one", &TREE, 1);
        assert!(one == made("three", &TREE, 3));
        assert!(one.1 != made("other", &Tree { seed: 8, ..TREE }, 3).1);
        let (made, files) = one;
        assert_eq!((made.files, made.folders), (2100, 3));
        assert_eq!(made.bytes, files.iter().map(|file| file.len() as u64).sum::<u64>());
        let all = files.concat();
        assert_eq!(made.sum, swath_reference::sum(&all));
        assert_eq!(made.lines, swath_reference::count(&all, b'\n'));
        assert_eq!(Some(made.smallest), files.iter().map(|file| file.len() as u64).min());
        assert_eq!(Some(made.largest), files.iter().map(|file| file.len() as u64).max());
        assert!(files.iter().all(|file| file.ends_with(b"\n") && file.is_ascii()));
    }

    #[test]
    fn sizes_follow_their_law() {
        let even = Tree { spread: Spread::Even, ..TREE };
        assert!((0..100).all(|index| even.size_of(index) == 300));
        let law = Tree { size: 10_000, ..TREE };
        let sizes: Vec<u64> = (0..100_000).map(|index| law.size_of(index)).collect();
        let (least, most) = (sizes.iter().min(), sizes.iter().max());
        assert!(least.is_some_and(|&least| (2_500..2_600).contains(&least)), "{least:?}");
        assert!(most.is_some_and(|&most| (1_000_000..=10_240_000).contains(&most)), "{most:?}");
        let mean = sizes.iter().sum::<u64>() / 100_000;
        assert!((9_000..11_000).contains(&mean), "{mean}");
        // 2^(-4/3) of the files are larger than twice the smallest.
        let above = sizes.iter().filter(|&&size| size > 5_000).count();
        assert!((39_000..40_400).contains(&above), "{above}");
    }

    #[test]
    fn the_extremes_of_a_power_law_do_not_overflow() {
        assert_eq!(power_law(4000, u64::MAX), 1000);
        assert_eq!(power_law(4000, 0), 4_096_000);
        assert_eq!(power_law(0, 0), 0);
        assert_eq!(power_law(u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn a_file_of_several_blocks_is_text_without_a_seam() {
        let tree = Tree { files: 1, size: 2 * BLOCK + 10, spread: Spread::Even, seed: 1 };
        let mut bytes = Vec::new();
        tree.write(0, &mut Vec::new(), &mut bytes).expect("memory");
        assert_eq!(bytes.len() as u64, tree.size);
        let is_end = |(index, &byte): (usize, &u8)| {
            (byte == b'\n') == (index % LINE == LINE - 1 || index + 1 == bytes.len())
        };
        assert!(bytes.iter().enumerate().all(is_end));
    }

    #[test]
    fn a_folder_that_holds_something_is_refused_and_an_empty_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = Tree { files: 2, ..TREE };
        assert_eq!(make(&tree, folder.path(), 1).expect("it is empty").files, 2);
        let error = make(&tree, folder.path(), 1).expect_err("not any more");
        assert_eq!(error.kind(), io::ErrorKind::DirectoryNotEmpty);
        let nothing = folder.path().join("nothing");
        let made = make(&Tree { files: 0, ..tree }, &nothing, 0).expect("nothing to do");
        assert_eq!((made.files, made.folders, made.smallest), (0, 0, 0));
        assert!(make(&tree, &folder.path().join("no/such"), 1).is_err());
    }
}
