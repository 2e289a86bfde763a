//! Mirrors: on devices of their own, one of them slow, and all on one device.
//!
//! The machine has one disk, so devices of their own are copies with a limited rate, below what the
//! page cache gives. "As fast as all together" is one copy with the sum of their rates: what no
//! division of the work can beat.

use crate::bench::{Bench, Input, Residency, SharedPages, Size};
use crate::case::{Case, Goal};
use crate::contestants::control;
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use swath::{ReadAt, ReadOptions, Source};
use swath_study::harness::{Contestant, Work, timed};
use swath_study::limits;
use swath_study::mirror::{Throttled, even_split};

const ONE: &str = "one copy";
const FOUR: &str = "swath, four copies";
const FOUR_EVEN: &str = "study A's even split, four copies";
const SLOW: &str = "swath, one of four five times slower";
const SLOW_EVEN: &str = "study A's even split, one of four slower";
const TOGETHER: &str = "one copy as fast as these together";

/// What four copies are to bring, and what of the bandwidth that one slow one leaves.
const FOUR_TIMES: f64 = 3.9;
const SLOW_SHARE: f64 = 0.9;

/// What a copy gives in a second: an eighth of what one core copies, so that four of them leave
/// the processor idle; for tiny files less, so that there is something to time.
const RATE: u64 = 128 << 20;
const QUICK_RATE: u64 = 16 << 20;

/// How many times slower the slow one is.
const SLOWER: u64 = 5;

/// Who reads the copies.
#[derive(Clone, Copy)]
enum Reader {
    Swath,
    EvenSplit,
}

/// Compares copies on devices of their own.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let rate = if bench.quick { QUICK_RATE } else { RATE };
    let (even, slow) = ([rate; 4], [rate, rate, rate / SLOWER, rate]);
    let together: u64 = slow.iter().sum();
    let pages = bench.pages_for(input)?;
    let contestants = [
        (ONE, &even[..1], Reader::Swath),
        (FOUR, &even[..], Reader::Swath),
        (FOUR_EVEN, &even[..], Reader::EvenSplit),
        (TOGETHER, &[together][..], Reader::Swath),
        (SLOW, &slow[..], Reader::Swath),
        (SLOW_EVEN, &slow[..], Reader::EvenSplit),
    ];
    let mut contestants: Vec<_> = contestants
        .into_iter()
        .map(|(name, rates, reader)| {
            throttled(bench, input, &pages, name, rates.to_vec(), reader)
        })
        .collect();
    contestants.push(control::memory(bench));
    let goals =
        vec![Goal::speed(FOUR, FOUR_TIMES, &[ONE]), Goal::speed(SLOW, SLOW_SHARE, &[TOGETHER])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

fn throttled<'b>(
    bench: &'b Bench,
    input: &'b Input,
    pages: &SharedPages,
    name: &str,
    rates: Vec<u64>,
    reader: Reader,
) -> Contestant<'b> {
    let read = move |target: &mut [u8]| {
        let open = |&rate: &u64| Throttled::open(&input.path, rate);
        let copies: Vec<Throttled> = rates.iter().map(open).collect::<Result<_, _>>()?;
        match reader {
            Reader::EvenSplit => even_split(&copies, target)?,
            Reader::Swath => {
                let source = |copy| Source::custom(Arc::new(copy) as Arc<dyn ReadAt>);
                let copies = Source::mirrored(copies.into_iter().map(source));
                ReadOptions::new().read_into(copies, target)?;
            }
        }
        Ok(())
    };
    into_pages(bench, input, pages, name, 1, read)
}

const FILE: &str = "swath, the file";
const MIRRORS: &str = "swath, the file and two mirrors";

/// What mirrors on one device may cost.
const COST: f64 = 1.02;

/// Reads in one timed run: warm reads are short.
const REPEATS: u64 = 4;

/// Compares copies on one device with one of them.
pub(super) fn build_device<'b>(
    bench: &'b Bench,
    input: &'b Input,
    _: Size,
) -> Result<Case<'b>> {
    let folder = bench.output("mirrors");
    fs::create_dir_all(&folder)?;
    let mut paths = vec![input.path.clone()];
    for name in ["b", "c"] {
        let path = folder.join(name);
        fs::copy(&input.path, &path)?;
        paths.push(path);
    }
    let pages = bench.pages_for(input)?;
    let copies = Rc::new(Copies { folder, paths });
    let file = |target: &mut [u8]| {
        ReadOptions::new().read_into(&input.path, target)?;
        Ok(())
    };
    let theirs = Rc::clone(&copies);
    let mirrors = move |target: &mut [u8]| {
        ReadOptions::new().read_into(Source::mirrored(&theirs.paths), target)?;
        Ok(())
    };
    let contestants = vec![
        into_pages(bench, input, &pages, FILE, REPEATS, file),
        into_pages(bench, input, &pages, MIRRORS, REPEATS, mirrors),
        control::memory(bench),
    ];
    let goals = vec![Goal::time(MIRRORS, COST, &[FILE])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// The mirrors of the input; removed with the last of those who read them.
struct Copies {
    folder: PathBuf,
    paths: Vec<PathBuf>,
}

impl Drop for Copies {
    fn drop(&mut self) {
        // What stays is replaced by the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Times reads of a warm file into pages that exist.
fn into_pages<'b>(
    bench: &'b Bench,
    input: &'b Input,
    pages: &SharedPages,
    name: &str,
    repeats: u64,
    mut read: impl FnMut(&mut [u8]) -> Result<()> + 'b,
) -> Contestant<'b> {
    let pages = Rc::clone(pages);
    let run = move || {
        let mut pages = pages.borrow_mut();
        let target = &mut pages[..input.len()];
        limits::fill(target, 0, bench.workers);
        let (result, timing) = timed(|| (0..repeats).try_for_each(|_| read(target)))?;
        result?;
        let sum = limits::memory_sum(target, bench.workers);
        Ok(Work::new(input.made.bytes * repeats, sum).with_timing(timing))
    };
    Contestant::new(name, input.expected(repeats), run)
        .with_before(move || bench.bring(input, Residency::Warm))
}
