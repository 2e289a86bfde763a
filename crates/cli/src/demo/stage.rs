//! The input of a demo: a file in a folder of its own, and the bytes that must come out of it.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use swath_study::facts::Facts;
use swath_study::hidden::Hidden;
use swath_study::threads::available;
use swath_study::workload::{Generated, Kind, Recipe, generate};

use crate::failure::Refused;
use crate::report::size_text;
use crate::signal::remove_on_signal;

/// The input and its bytes, and one or two results at a time.
const TIMES_THE_MEMORY: u64 = 4;

/// Where everything happens. Its folder is removed when it is dropped, also by an error.
pub(super) struct Stage {
    folder: Hidden,
    pub(super) path: PathBuf,
    /// What `path` holds.
    pub(super) bytes: Vec<u8>,
    pub(super) made: Generated,
    pub(super) workers: usize,
    pub(super) facts: Facts,
}

impl Stage {
    /// Makes an input of `size` bytes; returns it with what is to be said about it.
    pub(super) fn set(size: u64, folder: Option<&Path>) -> Result<(Self, Vec<String>)> {
        let (parent, mut notes) = match folder {
            Some(folder) => (folder.to_owned(), Vec::new()),
            None => choose_folder(),
        };
        let facts = Facts::collect(&parent);
        check_size(size, &facts)?;
        let folder = Hidden::make(&parent, "swath-demo").map_err(|error| {
            Refused::hinted(error, "--dir with a folder that can be written to")
        })?;
        remove_on_signal(folder.path());
        let path = folder.path().join("input");
        let recipe = Recipe { kind: Kind::Bytes, size, seed: 1 };
        let made = generate(recipe, &path, 0).map_err(|error| {
            let text = format!("cannot make an input of {}", size_text(size));
            let hint = "a smaller --size, or --dir elsewhere";
            Refused::new(text, hint).with_source(error.into())
        })?;
        let bytes = std::fs::read(&path).context("cannot read the input back")?;
        let is_whole = bytes.len() as u64 == size && sum(&bytes) == made.sum;
        ensure!(is_whole, "the input was not written as it was generated");
        let workers = available(facts.cores);
        if workers < facts.cores {
            let cores = facts.cores;
            notes.push(format!("no more threads can be started: {workers} of {cores}"));
        }
        Ok((Self { folder, path, bytes, made, workers, facts }, notes))
    }

    /// Removes the folder, and says so if that fails.
    pub(super) fn clear(self) -> io::Result<()> {
        self.folder.close()
    }
}

fn check_size(size: u64, facts: &Facts) -> Result<()> {
    ensure!(size > 0, Refused::new("cannot measure with an empty input", "--size 256MiB"));
    let needed = size.saturating_mul(TIMES_THE_MEMORY);
    if facts.memory_bytes > 0 && needed > facts.memory_bytes {
        let (needed, there) = (size_text(needed), size_text(facts.memory_bytes));
        let text = format!("cannot measure: it takes {needed} of memory, there are {there}");
        return Err(Refused::new(text, "a smaller --size").into());
    }
    Ok(())
}

/// The folder for temporary files; the current one where that is in memory, which no read is
/// cold from.
pub(crate) fn choose_folder() -> (PathBuf, Vec<String>) {
    let temporary = std::env::temp_dir();
    let is_memory = |folder: &Path| Facts::collect(folder).file_system.starts_with("tmpfs");
    if !is_memory(&temporary) {
        return (temporary, Vec::new());
    }
    let here =
        std::env::current_dir().ok().filter(|here| !is_memory(here) && is_writable(here));
    match here {
        Some(here) => {
            let note = format!(
                "inputs are made in {}: {} is in memory",
                here.display(),
                temporary.display()
            );
            (here, vec![note])
        }
        None => {
            let note = format!("inputs are in memory: {}; try: --dir", temporary.display());
            (temporary, vec![note])
        }
    }
}

fn is_writable(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}

/// The plain sum: the oracle owes nothing to what is measured.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_leaves_nothing_behind() {
        let parent = tempfile::tempdir().expect("a folder");
        let (stage, _) = Stage::set(100, Some(parent.path())).expect("it is set");
        assert_eq!((stage.bytes.len(), stage.made.bytes), (100, 100));
        assert!(stage.path.starts_with(parent.path()));
        stage.clear().expect("it is cleared");
        let left = std::fs::read_dir(parent.path()).expect("it is there").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn sizes_that_cannot_be_measured_are_refused() {
        let folder = std::env::temp_dir();
        assert!(Stage::set(0, Some(&folder)).is_err());
        let error = Stage::set(1 << 60, Some(&folder)).err().expect("too large");
        assert!(error.to_string().contains("memory"), "{error}");
        let missing = Stage::set(1, Some(Path::new("/nonexistent"))).err().expect("no folder");
        assert!(missing.to_string().contains("/nonexistent"), "{missing}");
    }
}
