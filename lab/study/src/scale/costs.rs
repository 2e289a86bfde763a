//! Measures the cost of each step of a job on this machine, for the simulation.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use swath::job::{Done, Form, JobOptions, Plan};
use swath::sink::Durability;
use swath::{OutputOptions, PageCache, ReadOptions};

use super::calls::ONE_PROCESS;
use super::commit::{Committing, OutputForm, commit};
use super::model::{Bandwidth, Job, Storage};
use crate::measure::Meter;

/// The content of a segment where only its name counts.
const TINY: &[u8] = b"one small segment\n";
/// The number of segments with a sync each, which is slow.
const SYNCED: usize = 20;
/// The number of segments of a full folder that are written and timed.
const WRITTEN: usize = 100;
/// The most names of one file; ext4 allows 65,000.
const LINKS: usize = 30_000;
/// Bytes of a block where bytes count.
const BLOCK: usize = 4 << 20;

/// The costs of one process with warm files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The number of segments in the full folder.
    pub names: usize,
    /// Seconds to begin, write and finish a small segment in the nearly full folder.
    pub segment_s: f64,
    /// Seconds for a segment that is durable before it gets its name.
    pub synced_s: f64,
    /// Seconds for one name of a listing.
    pub names_s: f64,
    /// Seconds for one name of a listing that looks at each file with several threads, as a restarted client
    /// does.
    pub list_s: f64,
    /// Seconds of one stat(2), in sequence.
    pub look_s: f64,
    /// Seconds of the commit for one segment, if a manifest is the output.
    pub commit_s: f64,
    /// Seconds of the commit for one small segment, if a file is the output.
    pub file_s: f64,
    /// Bytes of the manifest for one segment.
    pub manifest_bytes: f64,
    /// Bytes a second that a part reads.
    pub read_per_s: f64,
    /// Bytes a second that a part writes.
    pub write_per_s: f64,
    /// Bytes a second that the commit brings to their places and makes durable.
    pub place_per_s: f64,
}

/// Measures with `names` segments in a job's folder, and with `blocks` blocks of 4 MiB, in `folder`. It
/// removes its files.
///
/// # Errors
///
/// If a file cannot be made or read there.
pub fn measure(folder: &Path, names: usize, blocks: usize) -> Result<Costs> {
    ensure!(names > 0 && blocks > 0, "nothing to measure");
    let scratch = tempfile::Builder::new().prefix("costs-").tempdir_in(folder);
    let scratch =
        scratch.with_context(|| format!("cannot make a folder in {}", folder.display()))?;
    let folder = scratch.path();
    let mut costs = Costs { names, ..Costs::default() };
    small(folder, names, &mut costs)?;
    costs.synced_s = synced(folder)?;
    large(folder, blocks, &mut costs)?;
    Ok(costs)
}

fn options(form: Form, durability: Durability) -> JobOptions {
    JobOptions::new()
        .with_form(form)
        .with_output(OutputOptions::new().with_durability(durability))
}

fn no_inputs() -> [&'static Path; 0] {
    []
}

/// Measures many small segments in one folder.
fn small(folder: &Path, names: usize, costs: &mut Costs) -> Result<()> {
    let options = options(Form::Segments, Durability::None).with_parts(names);
    let plan = options.plan(no_inputs(), folder.join("segments"))?;
    costs.segment_s = filled(&plan)?;
    let count = names as f64;
    let (done, seconds) = timed(|| plan.done().map_err(Into::into))?;
    costs.list_s = seconds / count;
    let (paths, seconds) = timed(|| listed(plan.folder()))?;
    costs.names_s = seconds / count;
    costs.look_s = looked(&paths)? / count;
    costs.commit_s = timed(|| Ok(plan.commit(&done)?))?.1 / count;
    // The manifest is the longest file besides segments and the plan.
    let lens = fs::read_dir(plan.folder())?.map(|entry| {
        let entry = entry?;
        let is_segment = entry.file_name().as_bytes().starts_with(b"part-");
        let is_plan = entry.file_name() == "JOB";
        Ok(if is_segment || is_plan { 0 } else { entry.metadata()?.len() })
    });
    let manifest = lens.collect::<std::io::Result<Vec<u64>>>()?.into_iter().max();
    costs.manifest_bytes = manifest.unwrap_or_default() as f64 / count;
    fs::remove_dir_all(plan.folder())?;
    let options = self::options(Form::File, Durability::None).with_parts(names);
    let plan = options.plan(no_inputs(), folder.join("file"))?;
    filled(&plan)?;
    let done = plan.done()?;
    costs.file_s = timed(|| Ok(plan.commit(&done)?))?.1 / count;
    plan.remove()?;
    Ok(())
}

/// Fills the folder of a plan: most parts are links to another part's segment, and the last parts are
/// written. Returns the seconds for each written part. New files for all parts would be slow on a file
/// system that does not reuse recently freed inodes, such as ext4 without a journal.
fn filled(plan: &Plan) -> Result<f64> {
    let count = plan.parts().len();
    let first = count.saturating_sub(WRITTEN);
    let mut name = String::new();
    for index in 0..first {
        if index % LINKS == 0 {
            let done = segment(plan, index, TINY)?;
            let Done { attempt, len, crc32c, .. } = &done;
            name = format!(".{attempt}.{len}.{crc32c:08x}");
            continue;
        }
        let of = |index: usize| plan.folder().join(format!("part-{index:06}{name}"));
        if fs::hard_link(of(index - index % LINKS), of(index)).is_err() {
            // The file system allows no or few links.
            segment(plan, index, TINY)?;
        }
    }
    let begun = Instant::now();
    for index in first..count {
        segment(plan, index, TINY)?;
    }
    Ok(begun.elapsed().as_secs_f64() / (count - first) as f64)
}

fn segment(plan: &Plan, index: usize, bytes: &[u8]) -> Result<Done> {
    let part = plan.part(index).context("a part of the plan")?;
    let mut writer = part.writer()?;
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// Writes one segment for each part.
fn segments(plan: &Plan, bytes: &[u8]) -> Result<Vec<Done>> {
    (0..plan.parts().len()).map(|index| segment(plan, index, bytes)).collect()
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    Ok(paths.collect::<std::io::Result<_>>()?)
}

fn looked(paths: &[PathBuf]) -> Result<f64> {
    let look = || Ok(paths.iter().try_for_each(|path| fs::metadata(path).map(drop))?);
    Ok(timed(look)?.1)
}

fn synced(folder: &Path) -> Result<f64> {
    let options = options(Form::Segments, Durability::Full).with_parts(SYNCED);
    let plan = options.plan(no_inputs(), folder.join("synced"))?;
    let seconds = timed(|| segments(&plan, TINY))?.1;
    plan.abort()?;
    Ok(seconds / SYNCED as f64)
}

/// Measures the bytes of parts: reads, writes and the commit.
fn large(folder: &Path, blocks: usize, costs: &mut Costs) -> Result<()> {
    let options = options(Form::File, Durability::Full).with_parts(blocks);
    let plan = options.plan(no_inputs(), folder.join("large"))?;
    let bytes = vec![7; BLOCK];
    let total = (blocks * BLOCK) as f64;
    let (done, seconds) = timed(|| segments(&plan, &bytes))?;
    costs.write_per_s = total / seconds;
    costs.place_per_s = total / timed(|| Ok(plan.commit(&done)?))?.1;
    plan.remove()?;
    let read = ReadOptions::new().with_workers(1).with_page_cache(PageCache::Keep);
    let part = |index: usize| read.clone().with_offset((index * BLOCK) as u64);
    let reads = || {
        for index in 0..blocks {
            let loaded = part(index).with_len(BLOCK as u64).read(plan.target())?;
            ensure!(loaded.buffer.len() == BLOCK, "a read was short");
        }
        Ok(())
    };
    costs.read_per_s = total / timed(reads)?.1;
    fs::remove_file(plan.target())?;
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begun = Instant::now();
    let result = work()?;
    Ok((result, begun.elapsed().as_secs_f64()))
}

impl Costs {
    /// Adds all costs to a run.
    pub fn note(&self, meter: &mut Meter) {
        for (name, value) in [
            ("segment_seconds", self.segment_s),
            ("synced_segment_seconds", self.synced_s),
            ("names_seconds", self.names_s),
            ("list_seconds", self.list_s),
            ("look_seconds", self.look_s),
            ("commit_seconds", self.commit_s),
            ("file_commit_seconds", self.file_s),
            ("manifest_bytes", self.manifest_bytes),
            ("read_bytes_per_s", self.read_per_s),
            ("write_bytes_per_s", self.write_per_s),
            ("place_bytes_per_s", self.place_per_s),
        ] {
            meter.note(name, value);
        }
    }

    /// Returns this machine as storage that only the number of cores limits.
    pub fn storage(&self, cores: f64) -> Storage {
        let work = Job::default().work;
        self.storage_with(self.segment_s / (work.opens + work.closes), cores)
    }

    /// Returns this machine as the storage of a commit, which looks at names and makes none.
    pub fn storage_of_commit(&self, cores: f64) -> Storage {
        self.storage_with(self.look_s, cores)
    }

    fn storage_with(&self, operation_s: f64, cores: f64) -> Storage {
        let all = |each: f64| Bandwidth { all: each * cores, each };
        Storage {
            name: "this machine",
            source: "measured here",
            read: all(self.read_per_s),
            write: all(self.write_per_s),
            operations_per_s: cores / operation_s,
            one_folder_per_s: cores / operation_s,
            // One caller waits for a whole operation.
            latency_s: operation_s - operation_s / cores,
            names_per_s: 1.0 / self.names_s,
        }
    }

    /// Returns a commit by one process with two threads. Its CPU time is the measured time of the commit here,
    /// less its looks, its text and its listing on this many cores.
    ///
    /// # Errors
    ///
    /// If a cost is not above 0.
    pub fn committing(&self, output: OutputForm, cores: f64) -> Result<Committing> {
        let how = Committing {
            output,
            callers: ONE_PROCESS,
            threads: 2,
            bytes_each: self.manifest_bytes,
            encode_s: 0.0,
            sync_s: (self.synced_s - self.segment_s).max(0.0),
        };
        let storage = self.storage_of_commit(cores);
        let job = Job { storage, ..Job::default().with_parts(self.names) };
        // The measured commit syncs nothing.
        let segments = Committing { output: OutputForm::Segments, sync_s: 0.0, ..how };
        let rest = self.commit_s - commit(&job, &segments)?.seconds() / self.names as f64;
        Ok(Committing { encode_s: rest.max(0.0), ..how })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cost_is_measured_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let costs = measure(folder.path(), 130, 1).expect("measured");
        let mut meter = Meter::default();
        costs.note(&mut meter);
        for (name, value) in meter.metrics() {
            assert!(value.is_finite() && *value > 0.0, "{name}: {value}");
        }
        assert_eq!(meter.metrics().len(), 11);
        assert!((10.0..200.0).contains(&costs.manifest_bytes), "{}", costs.manifest_bytes);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
        let job = Job { storage: costs.storage(2.0), ..Job::default() };
        job.check().expect("a storage that can be");
        assert!(measure(&folder.path().join("none"), 1, 1).is_err());
    }
}
