//! Numbers of files in a timeline.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Returns the path of a file from storage elsewhere.
type Naming = Box<dyn Fn(usize) -> PathBuf + Send + Sync>;

/// Numbers files in the order in which they first occur.
#[derive(Default)]
pub(super) struct Sources {
    known: HashMap<PathBuf, u32>,
    /// The first number of each run of files, and the function for their paths.
    runs: Vec<(u32, Naming)>,
    next: u32,
}

impl Sources {
    /// Returns the number of `path`, always the same one.
    pub(super) fn number(&mut self, path: &Path) -> u32 {
        if let Some(&number) = self.known.get(path) {
            return number;
        }
        let (number, name) = (self.next, path.to_owned());
        self.known.insert(name.clone(), number);
        self.runs.push((number, Box::new(move |_| name.clone())));
        // After 2^32 files, all further ones share the last number.
        self.next = self.next.saturating_add(1);
        number
    }

    /// Returns the first of `count` new numbers; `path` returns the path of each file, counted from 0.
    pub(super) fn numbers(&mut self, count: usize, path: Naming) -> u32 {
        let first = self.next;
        if count > 0 {
            self.runs.push((first, path));
        }
        self.next = first.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        first
    }

    pub(super) fn path(&self, number: u32) -> Option<PathBuf> {
        if number >= self.next {
            return None;
        }
        let after = self.runs.partition_point(|&(first, _)| first <= number);
        let (first, path) = self.runs.get(after.checked_sub(1)?)?;
        Some(path((number - first) as usize))
    }
}
