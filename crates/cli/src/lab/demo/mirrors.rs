//! `mirrors`: copies of the input, one of them damaged, read correctly.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use swath::manifest::Checksums;
use swath::mirror::{Mirrored, Verify};
use swath::{ReadOptions, Source, manifest};
use swath_study::measure::Meter;

use super::row::{About, DemoRow};
use super::stage::Stage;

/// Bytes from one damaged byte to the next.
const STRIDE: u64 = 8 << 20;

/// How the copies are verified.
type VerifyWay = fn(&Arc<Checksums>) -> Verify;

const WAYS: [(&str, VerifyWay); 3] = [
    ("two good, not compared", |_| Verify::None),
    ("first damaged, manifest", |sums| Verify::Manifest(Arc::clone(sums))),
    ("first damaged, 2 of 3 agree", |_| Verify::Vote),
];

/// The input's copies: the first has a wrong byte in some of its chunks.
struct Copies {
    paths: [PathBuf; 2],
    sums: Arc<Checksums>,
}

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let paths = ["damaged", "copy"].map(|name| stage.beside(name));
    for path in &paths {
        fs::copy(stage.path(), path)?;
    }
    let damaged = fs::OpenOptions::new().write(true).open(&paths[0])?;
    for (offset, byte) in (0..).zip(&stage.bytes).step_by(usize::try_from(STRIDE)?) {
        damaged.write_all_at(&[byte ^ 1], offset)?;
    }
    let copies = Arc::new(Copies { sums: Arc::new(manifest::of(stage.path())?), paths });
    let row = |(index, (way, against)): (usize, (&'static str, VerifyWay))| {
        let copies = Arc::clone(&copies);
        DemoRow::new(stage, About::warm("mirrors", "read", way), move |stage, meter| {
            run(stage, &copies, index > 0, against, meter)
        })
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

fn run(
    stage: &Stage,
    copies: &Copies,
    damaged: bool,
    against: VerifyWay,
    meter: &mut Meter,
) -> Result<bool> {
    let [bad, good] = &copies.paths;
    let named = if damaged { vec![bad, good, stage.path()] } else { vec![good, stage.path()] };
    let source: Source = Mirrored::new(named).with_verify(against(&copies.sums)).into();
    // Notes on the shared device and the damage are left out: the row is about them.
    let loaded = meter.measure(|| ReadOptions::new().read(source))??;
    let found = loaded.report.mirrors.iter().any(|mirror| mirror.errors > 0);
    Ok(loaded.buffer[..] == stage.bytes[..] && found == damaged)
}
