//! `swath::ingest` in its various settings, as contestants.

use crate::contestants::files::Setting;
use anyhow::Result;
use std::path::Path;
use swath::ingest::{Arena, Files, IngestOptions, Ingested, OpenedBy};
use swath::{Error, ReadOptions};
use swath_study::harness::Contestant;
use swath_study::many::Glance;

/// All files below a folder, as anybody would.
pub(crate) fn whole_folder(folder: &Path, opened_by: OpenedBy) -> Result<Ingested> {
    Ok(IngestOptions::new().with_opened_by(opened_by).ingest(Files::folder(folder))?)
}

/// All files through memory for a few of them.
pub(crate) const STREAMED: &str = "swath::ingest, streamed";
/// All files into memory that was used before.
pub(crate) const REUSED: &str = "swath::ingest, reused arena";
/// All files, as anybody would: into memory that is fresh from 64 MiB on, and below from the second
/// call on what the process kept.
pub(crate) const FRESH: &str = "swath::ingest";

/// See [`STREAMED`].
pub(crate) fn streamed(setting: Setting<'_>) -> Contestant<'_> {
    let files = setting.files;
    setting.dropped(STREAMED, move || {
        let mut glance = Glance::default();
        IngestOptions::new().stream(Files::paths(&files.paths), |part| {
            glance.add(part.bytes);
            Ok::<(), Error>(())
        })?;
        Ok(glance)
    })
}

/// See [`REUSED`]. The arena cannot be overwritten between runs; but where a file lies in it depends
/// on who comes first, so that bytes of the last run would not be the right ones.
pub(crate) fn reused(setting: Setting<'_>) -> Contestant<'_> {
    // What is run before the first round makes its pages exist.
    with(setting, REUSED, IngestOptions::new().with_arena(Arena::new()))
}

/// With options that bring an arena.
pub(crate) fn with<'b>(
    setting: Setting<'b>,
    name: &str,
    options: IngestOptions,
) -> Contestant<'b> {
    let read = move || Ok(options.ingest(Files::paths(&setting.files.paths))?);
    setting
        .kept(name, read, sum)
        .with_before(move || setting.files.prepare(setting.bench, setting.residency, 0))
}

/// See [`FRESH`].
pub(crate) fn fresh(setting: Setting<'_>) -> Contestant<'_> {
    let read = move || Ok(IngestOptions::new().ingest(Files::paths(&setting.files.paths))?);
    setting.kept(FRESH, read, sum)
}

/// Returns the name of [`at_depth`].
pub(crate) fn depth_name(depth: u32) -> String {
    format!("swath::ingest, 2 workers, {depth} in flight")
}

/// With two threads at most, so many files waiting for the device.
pub(crate) fn at_depth(setting: Setting<'_>, depth: u32) -> Contestant<'_> {
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(2).with_queue_depth(depth as usize))
        .with_arena(Arena::new());
    let read = move || Ok(options.ingest(Files::paths(&setting.files.paths))?);
    setting.kept(&depth_name(depth), read, sum)
}

/// As [`at_depth`] by default, where the ring opens the files too.
pub(crate) const BY_RING: &str = "swath::ingest, 2 workers, opened by the ring";

/// See [`BY_RING`].
pub(crate) fn by_ring(setting: Setting<'_>) -> Contestant<'_> {
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(2))
        .with_opened_by(OpenedBy::Ring)
        .with_arena(Arena::new());
    let read = move || Ok(options.ingest(Files::paths(&setting.files.paths))?);
    setting.kept(BY_RING, read, sum)
}

/// Returns the number of bytes and their sum.
pub(crate) fn sum(ingested: &Ingested) -> (u64, u64) {
    ingested.iter().fold((0, 0), |(bytes, sum), entry| {
        (bytes + entry.bytes.len() as u64, sum + swath_simd::sum(entry.bytes))
    })
}
