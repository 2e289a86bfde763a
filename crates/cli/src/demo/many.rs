//! `ingest`: a few thousand small files, an eighth of the input's size.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use swath::Fallback;
use swath::ingest::{Files, IngestOptions};
use swath_study::many::manager::manage;
use swath_study::many::tree::{Spread, Tree, make};
use swath_study::threads::available;

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// All files together are so many times smaller than the input.
const SHARE: u64 = 8;
/// Bytes of one file.
const SIZE: u64 = 8 << 10;
/// As many as are quickly made.
const MOST: u64 = 4000;
/// Of study B's task manager: where small files gained most.
const THREADS: usize = 64;

/// What is read, and what it must give.
struct Small {
    paths: Vec<PathBuf>,
    bytes: Vec<u8>,
}

/// Reads all files.
type Way = fn(&Small) -> Result<Run>;

const WAYS: [(&str, &str, Way); 3] = [
    ("std::fs::read", "one file after the other", in_a_loop),
    ("task manager", "study B's, 64 threads", by_threads),
    ("ingest", "one arena", by_ingest),
];

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
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
    let row = |(index, (engine, way, how)): (usize, (_, _, Way))| {
        let small = Rc::clone(&small);
        Row {
            capability: "ingest",
            engine,
            way,
            state: State::Warm,
            memory: Memory::Fresh,
            limit: Limit::Copy,
            is_peer: index == 0,
            bytes: Some(made.bytes),
            run: Box::new(move |_| how(&small)),
        }
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// As one writes it without a library.
fn in_a_loop(small: &Small) -> Result<Run> {
    let start = Instant::now();
    let mut files = Vec::new();
    for path in &small.paths {
        files.push(fs::read(path)?);
    }
    Ok(ran(start.elapsed(), files.concat() == small.bytes))
}

fn ran(elapsed: Duration, is_right: bool) -> Run {
    Run { elapsed, is_right, fallbacks: Vec::new() }
}

fn by_threads(small: &Small) -> Result<Run> {
    let threads = available(THREADS);
    let start = Instant::now();
    let files = manage(&small.paths, threads, |path| fs::read(path))?;
    let mut run = ran(start.elapsed(), files.concat() == small.bytes);
    if threads < THREADS {
        let text = format!("{threads} of {THREADS} threads: no more can be started");
        run.fallbacks.push(Fallback::Noted(text));
    }
    Ok(run)
}

fn by_ingest(small: &Small) -> Result<Run> {
    let files = Files::paths(small.paths.iter().cloned());
    let start = Instant::now();
    let ingested = IngestOptions::new().ingest(files)?;
    let elapsed = start.elapsed();
    let mut at = 0;
    let is_right = ingested.iter().all(|entry| {
        let wanted = small.bytes.get(at..at + entry.bytes.len());
        at += entry.bytes.len();
        wanted == Some(entry.bytes)
    });
    Ok(ran(elapsed, is_right && at == small.bytes.len()))
}
