//! The cost of the commit of a job: a process looks at each segment, then writes the output.
//!
//! ```text
//! file       look at each ─▶ draft, CHOSEN ─▶ open and copy each ─▶ the name ─▶ list, remove each
//! segments   look at each ─▶ MANIFEST ─▶ list, for attempts that were not chosen
//! ```
//!
//! Looks and removals are [calls](super::calls) of several threads. Several committers divide the folders,
//! if there are as many; each then writes a manifest, and one more manifest lists these. A commit also looks
//! at each input, which is ignored here: a job has few.

use anyhow::{Result, ensure};

use super::calls::Callers;
use super::model::Job;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// One file; the bytes of the parts are copied to their places.
    Copied,
    /// One file; the file system shares blocks, and nothing is copied.
    Shared,
    /// The segments are the output, and a manifest lists them.
    Segments,
}

/// Bytes of a segment that one thread copies or shares at one time.
const UNIT: f64 = 16_777_216.0;

/// The settings of a commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Committing {
    /// The form of the output.
    pub output: OutputForm,
    /// The committing processes, of which at most one for each folder looks at segments, and their threads
    /// that look and remove.
    pub callers: Callers,
    /// Threads of each process that copy or share: one for each core.
    pub threads: usize,
    /// Bytes of text for each segment in the manifest or in the list of chosen attempts.
    pub bytes_each: f64,
    /// CPU seconds to choose and encode a segment.
    pub encode_s: f64,
    /// Seconds to make a file durable.
    pub sync_s: f64,
}

/// Seconds of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Commit {
    /// Looking at each segment.
    pub look_s: f64,
    /// Choosing, encoding and writing the list of segments.
    pub list_s: f64,
    /// Bringing bytes to their places.
    pub place_s: f64,
    /// Listing the folder again, and removing segments.
    pub remove_s: f64,
}

impl Commit {
    /// Returns the sum of all phases.
    pub fn seconds(&self) -> f64 {
        self.look_s + self.list_s + self.place_s + self.remove_s
    }
}

/// Computes the commit of a job.
///
/// # Errors
///
/// As [`simulate`](super::simulate) for the job; if there is no committer.
pub fn commit(job: &Job, how: &Committing) -> Result<Commit> {
    job.check()?;
    ensure!(
        how.callers.processes > 0 && how.callers.threads > 0 && how.threads > 0,
        "a commit needs at least one process"
    );
    let (storage, parts) = (&job.storage, job.work.parts);
    let lookers = how.callers.processes.min(job.folders);
    let share = parts as f64 / lookers as f64;
    let processors = job.cores.map_or(lookers as f64, |cores| cores.min(lookers as f64));
    let text = share * how.bytes_each / storage.write.each.min(storage.write.all);
    let manifests = if lookers > 1 { 2.0 } else { 1.0 };
    let listing_s = job.list_s(parts) / lookers as f64;
    let listed = Commit {
        look_s: job.calls_s(parts, how.callers),
        list_s: parts as f64 * how.encode_s / processors + text + manifests * how.sync_s,
        place_s: 0.0,
        remove_s: listing_s,
    };
    if how.output == OutputForm::Segments {
        return Ok(listed);
    }
    // One sync for the name of the file, one for the receipt of the commit.
    let place_s = placed_s(job, how) + 2.0 * how.sync_s;
    Ok(Commit { place_s, remove_s: listing_s + job.calls_s(parts, how.callers), ..listed })
}

/// Returns the seconds until the bytes of all parts are at their places.
fn placed_s(job: &Job, how: &Committing) -> f64 {
    let (storage, parts) = (&job.storage, job.work.parts as f64);
    let units = parts * (job.work.bytes_out / UNIT).ceil();
    let in_turn = (units / (how.callers.processes * how.threads) as f64).ceil();
    if how.output == OutputForm::Shared {
        // A call that shares blocks waits for the server as one that opens the segment does.
        return job.waits_s(2.0 * units, 2.0 * in_turn);
    }
    // The threads of one process share its link.
    let rate = |of: super::Bandwidth| of.all.min(of.each * how.callers.processes as f64);
    let bytes = parts * job.work.bytes_out;
    let copied = bytes / rate(storage.read) + bytes / rate(storage.write);
    copied.max(job.waits_s(units, in_turn))
}
