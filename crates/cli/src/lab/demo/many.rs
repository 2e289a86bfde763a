//! `ingest`: a few thousand small files, an eighth of the input's size.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use swath::Fallback;
use swath::ingest::{Files, IngestOptions};
use swath_study::many::manager::manage;
use swath_study::many::tree::{Spread, Tree, make};
use swath_study::measure::Meter;
use swath_study::threads::available;

use super::row::{About, DemoRow, Line};
use super::stage::Stage;

/// All files together are this many times smaller than the input.
const SHARE: u64 = 8;
/// Bytes of one file.
const SIZE: u64 = 8 << 10;
/// More files would take too long to make.
const MOST: u64 = 4000;
/// The threads of study B's task manager, where small files gained most.
const THREADS: usize = 64;

/// The files, and their bytes.
struct Small {
    paths: Vec<PathBuf>,
    bytes: Vec<u8>,
}

/// Reads all files.
type ManyWay = fn(&Small, &mut Meter) -> Result<bool>;

const MANAGER: &str = "task manager";

const WAYS: [(&str, &str, ManyWay); 3] = [
    ("std", "one file after the other", in_a_loop),
    (MANAGER, "study B's, 64 threads", by_threads),
    ("ingest", "one arena", by_ingest),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let folder = stage.path.with_file_name("tree");
    let files = (stage.made.bytes / SHARE / SIZE).clamp(1, MOST);
    let tree = Tree { files, size: SIZE, spread: Spread::PowerLaw, seed: 1 };
    let made = make(&tree, &folder, stage.workers)?;
    let paths = tree.paths(&folder);
    let mut bytes = Vec::new();
    for path in &paths {
        bytes.extend(fs::read(path)?);
    }
    let small = Rc::new(Small { paths, bytes });
    let row = |(index, (engine, way, how)): (usize, (_, _, ManyWay))| {
        let small = Rc::clone(&small);
        let (is_peer, bytes) = (index == 0, Some(made.bytes));
        let line = (engine != MANAGER).then_some(Line::SmallFiles);
        let about = About { is_peer, bytes, line, ..About::warm("ingest", engine, way) };
        DemoRow::new(stage, about, move |_, meter| how(&small, meter))
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// The usual program without a library.
fn in_a_loop(small: &Small, meter: &mut Meter) -> Result<bool> {
    let all = || small.paths.iter().map(fs::read).collect::<io::Result<Vec<_>>>();
    Ok(meter.measure(all)??.concat() == small.bytes)
}

fn by_threads(small: &Small, meter: &mut Meter) -> Result<bool> {
    let threads = available(THREADS);
    let files = meter.measure(|| manage(&small.paths, threads, |path| fs::read(path)))??;
    if threads < THREADS {
        let text = format!("{threads} of {THREADS} threads: no more can be started");
        meter.fell_back(vec![Fallback::Noted(text)]);
    }
    Ok(files.concat() == small.bytes)
}

fn by_ingest(small: &Small, meter: &mut Meter) -> Result<bool> {
    let files = Files::paths(small.paths.iter().cloned());
    let ingested = meter.measure(|| IngestOptions::new().ingest(files))??;
    let mut at = 0;
    let is_right = ingested.iter().all(|entry| {
        let wanted = small.bytes.get(at..at + entry.bytes.len());
        at += entry.bytes.len();
        wanted == Some(entry.bytes)
    });
    Ok(is_right && at == small.bytes.len())
}
