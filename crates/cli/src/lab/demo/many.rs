//! `ingest`: a few thousand small files, an eighth of the input's size.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::Fallback;
use swath::ingest::IngestOptions;
use swath_study::fields::grove::{Grove, of_files};
use swath_study::many::tree::{Spread, Tree};
use swath_study::results::State;
use swath_study::threads::available;

use super::row::{About, DemoRow, Line};
use super::stage::Stage;

/// All files together are this many times smaller than the input.
const SHARE: u64 = 8;
/// Bytes of one file.
const SIZE: u64 = 8 << 10;
/// More files would take too long to generate.
const MOST: u64 = 4000;
/// The threads of study B's task manager, where small files gained most.
const THREADS: usize = 64;

const MANAGER: &str = "task manager";

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let files = (stage.size() / SHARE / SIZE).clamp(1, MOST);
    let tree = Tree { files, size: SIZE, spread: Spread::PowerLaw, seed: 1 };
    let grove = Grove::new(&stage.inputs, "tree", &tree)?;
    let row = |engine, way, entrant| {
        let (is_peer, bytes) = (engine == "std", Some(grove.made.bytes));
        let line = (engine != MANAGER).then_some(Line::SmallFiles);
        let about = About { is_peer, bytes, line, ..About::warm("ingest", engine, way) };
        DemoRow::of(about, entrant)
    };
    let threads = available(THREADS);
    let read = |path: &Path| fs::read(path);
    let managed = grove.managed(MANAGER, State::Warm, threads, read).noting(move |meter| {
        if threads < THREADS {
            let text = format!("{threads} of {THREADS} threads: no more can be started");
            meter.fell_back(vec![Fallback::Noted(text)]);
        }
    });
    // The usual program, without a library.
    let in_a_loop =
        |grove: &Grove| Ok(grove.paths.iter().map(fs::read).collect::<Result<_, _>>()?);
    let looped = grove
        .kept("std", State::Warm, grove.len(), in_a_loop, |files: &Vec<_>| of_files(files));
    let ingested = grove.ingested("ingest", State::Warm, grove.len(), IngestOptions::new());
    Ok(vec![
        row("std", "one file after the other", looped),
        row(MANAGER, "study B's, 64 threads", managed),
        row("ingest", "one arena", ingested),
    ])
}
