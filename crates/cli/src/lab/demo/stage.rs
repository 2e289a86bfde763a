//! The input of a demo: a file in a folder of its own, and its bytes to compare results with.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use swath_os::hidden::Hidden;
use swath_study::cache::{self, ColdBy};
use swath_study::facts::{Facts, room};
use swath_study::fields::file::FileField;
use swath_study::measure::{self, Extent};
use swath_study::threads::available;
use swath_study::workload::{FileContent, Recipe, generate};

use super::Wanted;
use crate::failure::Refused;
use crate::report::{ReportName, size_text};
use crate::signal::remove_on_signal;

/// The cost of a demo, in multiples of its input.
#[derive(Clone, Copy)]
struct Cost {
    memory: u64,
    disk: u64,
    /// Time of one round, in multiples of a [`probe`] of the same size.
    time: f64,
    /// The largest input that is chosen, in bytes.
    most: u64,
}

/// The input in the file and in memory, and one or two results at a time.
const FIVE_LINES: Cost = Cost { memory: 4, disk: 4, time: 1.5, most: 128 << 20 };
/// More for reused memory, and for copies as mirrors and tensors.
const ALL: Cost = Cost { memory: 6, disk: 8, time: 8.0, most: 64 << 20 };

/// The smallest input that is chosen, in bytes.
const LEAST: u64 = 1 << 20;

/// Bytes of a probe.
const PROBE: u64 = 8 << 20;

/// The most seconds of one round, so that there is time for enough rounds.
const ROUND: f64 = 2.5;

/// The input and its folder, which is removed on drop, also after an error.
pub(super) struct Stage {
    folder: Hidden,
    /// Generates inputs in the folder.
    pub(super) inputs: measure::Stage,
    pub(super) file: FileField,
    /// The bytes of the file.
    pub(super) bytes: Vec<u8>,
    pub(super) facts: Facts,
}

impl Stage {
    /// Generates an input; returns it with notes about it.
    pub(super) fn set(wanted: Wanted<'_>) -> Result<(Self, Vec<String>)> {
        let (parent, mut notes) = match wanted.folder {
            Some(folder) => (folder.to_owned(), Vec::new()),
            None => choose_folder(),
        };
        let facts = Facts::collect(&parent);
        let cost = if wanted.all { ALL } else { FIVE_LINES };
        wanted.size.map_or(Ok(()), |size| check_size(size, cost, &facts))?;
        let folder = Hidden::make_telling(&parent, "swath-demo", remove_on_signal());
        let folder = folder.map_err(|error| {
            Refused::hinted(
                error.into(),
                "pass --dir with an existing folder that you can write to",
            )
        })?;
        let probed = || probe(&folder.path().join("probe"));
        let size = wanted.size.unwrap_or_else(|| choose_size(cost, probed(), &parent));
        let mut inputs = measure::Stage::new(folder.path(), Extent::Quick, 1);
        inputs.cold_by = ColdBy::DontNeed;
        inputs.workers = available(facts.cores);
        let input = inputs.file(FileContent::Bytes, size).map_err(|error| {
            Refused::hinted(error, "pass a smaller --size, or --dir with another folder")
        })?;
        let bytes = std::fs::read(&input.path).context("cannot read the input back")?;
        let is_whole = bytes.len() as u64 == size && sum(&bytes) == input.made.sum;
        ensure!(is_whole, "the input was not written as it was generated");
        let (workers, cores) = (inputs.workers, facts.cores);
        if workers < cores {
            notes.push(format!("no more threads can be started: {workers} of {cores}"));
        }
        let file = FileField::of(&inputs, &input);
        Ok((Self { folder, inputs, file, bytes, facts }, notes))
    }

    /// Returns the path of the input.
    pub(super) fn path(&self) -> &Path {
        &self.file.input.path
    }

    /// Returns the bytes of the input.
    pub(super) fn size(&self) -> u64 {
        self.file.input.made.bytes
    }

    /// Returns a path next to the input.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.inputs.output(name)
    }

    /// Removes the folder.
    pub(super) fn clear(self) -> io::Result<()> {
        self.folder.close()
    }
}

/// Returns the largest power of two that fits the time, and half of the available memory and disk
/// space; `seconds` is the time of a probe, if it succeeded.
fn choose_size(cost: Cost, seconds: Option<f64>, folder: &Path) -> u64 {
    let memory = swath::machine::memory_at_hand().unwrap_or(u64::MAX) / cost.memory;
    let disk = room(folder).unwrap_or(u64::MAX) / cost.disk;
    let in_time = |size: u64| {
        let probes = size as f64 / PROBE as f64;
        seconds.is_none_or(|seconds| seconds * probes * cost.time <= ROUND)
    };
    let most = cost.most.min(memory / 2).min(disk / 2).max(LEAST);
    let mut size = 1 << most.ilog2();
    while size > LEAST && !in_time(size) {
        size /= 2;
    }
    size
}

/// Writes a small file to `path`, syncs it, and reads it from the device and from memory; returns the
/// seconds that took.
fn probe(path: &Path) -> Option<f64> {
    let start = Instant::now();
    generate(Recipe { kind: FileContent::Bytes, size: PROBE, seed: 2 }, path, 0).ok()?;
    // If the file cannot be made cold, both reads are warm.
    let _ = cache::make_cold(path, ColdBy::DontNeed);
    for _ in 0..2 {
        drop(std::fs::read(path).ok()?);
    }
    Some(start.elapsed().as_secs_f64())
}

fn check_size(size: u64, cost: Cost, facts: &Facts) -> Result<()> {
    let hint = "pass --size 256MiB";
    ensure!(size > 0, Refused::new("cannot measure with an empty input", hint));
    let needed = size.saturating_mul(cost.memory);
    if facts.memory_bytes > 0 && needed > facts.memory_bytes {
        let (needed, there) = (size_text(needed), size_text(facts.memory_bytes));
        let text = format!(
            "cannot measure: it takes {needed} of memory, and this machine has {there}"
        );
        return Err(Refused::new(text, "pass a smaller --size").into());
    }
    Ok(())
}

/// Returns the folder for temporary files, or the current one if that is in memory, where no read
/// is cold.
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
                here.shown(),
                temporary.shown()
            );
            (here, vec![note])
        }
        None => {
            let note = format!(
                "inputs are in memory: {}; try: pass --dir with a folder on a disk",
                temporary.shown()
            );
            (temporary, vec![note])
        }
    }
}

fn is_writable(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}

/// Returns the plain sum, which shares no code with the measured rows.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(size: u64, folder: &Path) -> Result<(Stage, Vec<String>)> {
        Stage::set(Wanted { size: Some(size), folder: Some(folder), all: false })
    }

    #[test]
    fn a_stage_leaves_nothing_behind() {
        let parent = tempfile::tempdir().expect("a folder");
        let (stage, _) = set(100, parent.path()).expect("it is set");
        assert_eq!((stage.bytes.len(), stage.size()), (100, 100));
        let path = stage.path().canonicalize().expect("there");
        assert!(path.starts_with(parent.path().canonicalize().expect("there")));
        stage.clear().expect("it is cleared");
        let left = std::fs::read_dir(parent.path()).expect("it is there").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn sizes_that_cannot_be_measured_are_refused() {
        let folder = std::env::temp_dir();
        assert!(set(0, &folder).is_err());
        let error = set(1 << 60, &folder).err().expect("too large");
        assert!(error.to_string().contains("memory"), "{error}");
        let missing = set(1, Path::new("/nonexistent")).err().expect("no folder");
        assert!(missing.to_string().contains("/nonexistent"), "{missing}");
    }

    #[test]
    fn a_size_is_chosen_that_memory_disk_and_time_have_room_for() {
        let folder = std::env::temp_dir();
        let tight = |memory, disk| Cost { memory, disk, ..FIVE_LINES };
        assert_eq!(choose_size(tight(u64::MAX, 1), None, &folder), LEAST);
        assert_eq!(choose_size(tight(1, u64::MAX), None, &folder), LEAST);
        let size = choose_size(FIVE_LINES, None, &folder);
        assert!(size.is_power_of_two() && (LEAST..=FIVE_LINES.most).contains(&size), "{size}");
        let free = Cost { memory: 1, disk: 1, time: 1.0, most: PROBE };
        let slow = |seconds| choose_size(free, Some(seconds), &folder);
        assert_eq!((slow(2.0 * ROUND), slow(100.0 * ROUND)), (PROBE / 2, LEAST));
    }
}
