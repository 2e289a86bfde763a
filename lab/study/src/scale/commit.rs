//! The cost of the end of a job: one process looks at each segment, then writes the output.
//!
//! ```text
//! file       look at each ─▶ draft, CHOSEN ─▶ open and copy each ─▶ the name ─▶ list, remove each
//! segments   look at each ─▶ MANIFEST ─▶ list, for attempts that were not chosen
//! ```
//!
//! Looks and removals are [calls](super::calls) of several threads. Several committers share the folders, if
//! there are as many folders; then each writes a manifest of its own, and one more lists these. A commit also
//! looks at each input, as it does at each segment; here a job has few.

use anyhow::{Result, ensure};

use super::calls::Callers;
use super::model::Job;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// One file; what the parts wrote is copied to its places.
    Copied,
    /// One file; the file system shares blocks, so that nothing is copied.
    Shared,
    /// The segments are the output, and a manifest lists them.
    Segments,
}

/// Bytes of a segment that one thread brings to their place before it takes the next.
const UNIT: f64 = 16_777_216.0;

/// How a job is committed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Committing {
    /// The form of the output.
    pub output: OutputForm,
    /// Processes that commit, of which at most one for each folder looks at segments; and the threads of each
    /// that look and remove.
    pub callers: Callers,
    /// Threads of each that copy or share: one for each core.
    pub threads: usize,
    /// Bytes of text for each segment, in the manifest or in the list of chosen attempts.
    pub bytes_each: f64,
    /// Seconds of a processor for each segment, to choose and encode it.
    pub encode_s: f64,
    /// Seconds to make a file durable.
    pub sync_s: f64,
}

/// Seconds of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Commit {
    /// To look at each segment.
    pub look_s: f64,
    /// To choose, encode and write what lists them.
    pub list_s: f64,
    /// To bring bytes to their places.
    pub place_s: f64,
    /// To list the folder again, and to remove segments.
    pub remove_s: f64,
}

impl Commit {
    /// All of it.
    pub fn seconds(&self) -> f64 {
        self.look_s + self.list_s + self.place_s + self.remove_s
    }
}

/// Computes the commit of a job.
///
/// # Errors
///
/// As [`simulate`](super::simulate) for the job; if nobody commits.
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
    // The name of the file, then the receipt of the commit.
    let place_s = placed_s(job, how) + 2.0 * how.sync_s;
    Ok(Commit { place_s, remove_s: listing_s + job.calls_s(parts, how.callers), ..listed })
}

/// Seconds until the bytes of all parts are at their places.
fn placed_s(job: &Job, how: &Committing) -> f64 {
    let (storage, parts) = (&job.storage, job.work.parts as f64);
    let units = parts * (job.work.bytes_out / UNIT).ceil();
    let in_turn = (units / (how.callers.processes * how.threads) as f64).ceil();
    if how.output == OutputForm::Shared {
        // A call that shares blocks waits for the server like one that opens the segment.
        return job.waits_s(2.0 * units, 2.0 * in_turn);
    }
    // The threads of one process share its link.
    let rate = |of: super::Bandwidth| of.all.min(of.each * how.callers.processes as f64);
    let bytes = parts * job.work.bytes_out;
    let copied = bytes / rate(storage.read) + bytes / rate(storage.write);
    copied.max(job.waits_s(units, in_turn))
}
