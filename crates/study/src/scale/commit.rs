//! What the end of a job costs: one process looks at each segment, then writes the output.
//!
//! ```text
//! file       look at each ─▶ CHOSEN ─▶ open and copy each ─▶ the name ─▶ remove each
//! segments   look at each ─▶ MANIFEST
//! ```
//!
//! One caller waits for each operation on a name. Several committers share the folders, if there are as
//! many folders; then each writes a manifest of its own, and one more lists these.

use anyhow::{Result, ensure};

use super::model::Job;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// One file; what the parts wrote is copied to its places.
    Copied,
    /// One file; the file system shares blocks, so that nothing is copied.
    Shared,
    /// The segments are the output, and a manifest lists them.
    Segments,
}

/// How a job is committed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Committing {
    /// The form of the output.
    pub output: Output,
    /// Processes that commit; at most one for each folder looks at segments.
    pub committers: usize,
    /// Threads of each that copy.
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
    /// To remove segments.
    pub remove_s: f64,
}

impl Commit {
    /// All of it.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.look_s + self.list_s + self.place_s + self.remove_s
    }

    /// Until the output is there.
    #[must_use]
    pub fn durable_s(&self) -> f64 {
        self.seconds() - self.remove_s
    }
}

/// Computes the commit of a job.
///
/// # Errors
///
/// As [`simulate`](super::simulate) for the job; if nobody commits.
pub fn commit(job: &Job, how: &Committing) -> Result<Commit> {
    job.check()?;
    ensure!(how.committers > 0 && how.threads > 0, "a commit needs at least one process");
    let (storage, parts) = (&job.storage, job.work.parts as f64);
    let lookers = how.committers.min(job.folders) as f64;
    // One operation for each part, by callers of which each waits for its own.
    let names = |callers: f64| {
        let waits = 1.0 / storage.operations_per_s + storage.latency_s;
        (parts / callers * waits).max(parts / job.operations_per_s())
    };
    let callers = (how.committers * how.threads) as f64;
    let bytes = parts * job.work.bytes_out;
    let text = parts * how.bytes_each / lookers / storage.write.each.min(storage.write.all);
    let manifests = if lookers > 1.0 { 2.0 } else { 1.0 };
    let listed = Commit {
        look_s: names(lookers),
        list_s: parts * how.encode_s / lookers + text + manifests * how.sync_s,
        ..Commit::default()
    };
    let place_s = match how.output {
        Output::Segments => return Ok(listed),
        Output::Shared => names(callers),
        Output::Copied => {
            // The threads of one process share its link.
            let rate = |of: super::Bandwidth| of.all.min(of.each * how.committers as f64);
            let copied = bytes / rate(storage.read) + bytes / rate(storage.write);
            copied.max(names(callers))
        }
    };
    // The name of the file, then the receipt of the commit.
    Ok(Commit { place_s: place_s + 2.0 * how.sync_s, remove_s: names(lookers), ..listed })
}
