//! Reads from mirrors: each on its own device, one of them slow, and all on one device.
//!
//! The machine has one disk, so a copy with a limited rate, below that of the page cache, stands for a
//! device. "As fast as these together" is one copy with the sum of the rates, which no division of the
//! work can beat.

use crate::bench::{Bench, Size};
use anyhow::Result;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use swath::{ReadAt, ReadOptions, Source};
use swath_study::fields::file::FileField;
use swath_study::measure::{Entrant, Entrants, Goal};
use swath_study::mirror::{Throttled, even_split};
use swath_study::results::State;

const ONE: &str = "one copy";
const FOUR: &str = "swath, four copies";
const FOUR_EVEN: &str = "study A's even split, four copies";
const SLOW: &str = "swath, one of four five times slower";
const SLOW_EVEN: &str = "study A's even split, one of four slower";
const TOGETHER: &str = "one copy as fast as these together";

/// The required gain of four copies, and the required share of the bandwidth if one copy is slow.
const FOUR_TIMES: f64 = 3.9;
const SLOW_SHARE: f64 = 0.9;

/// Bytes per second of one copy: an eighth of the rate at which one core copies, so that four copies
/// leave the processor idle; less for tiny files, which are too short to time otherwise.
const RATE: u64 = 128 << 20;
const QUICK_RATE: u64 = 16 << 20;

/// Factor by which the slow copy is slower.
const SLOWER: u64 = 5;

/// The way to read the copies.
#[derive(Clone, Copy)]
enum Reader {
    Swath,
    EvenSplit,
}

/// Compares copies that are each on their own device.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?;
    let rate = bench.pick(RATE, QUICK_RATE);
    let (even, slow) = ([rate; 4], [rate, rate, rate / SLOWER, rate]);
    let together: u64 = slow.iter().sum();
    let here = [
        (ONE, &even[..1], Reader::Swath),
        (FOUR, &even[..], Reader::Swath),
        (FOUR_EVEN, &even[..], Reader::EvenSplit),
        (TOGETHER, &[together][..], Reader::Swath),
        (SLOW, &slow[..], Reader::Swath),
        (SLOW_EVEN, &slow[..], Reader::EvenSplit),
    ];
    let here = here.map(|(name, rates, reader)| throttled(&warm, name, rates, reader));
    let goals =
        [Goal::speed(FOUR, FOUR_TIMES, &[ONE]), Goal::speed(SLOW, SLOW_SHARE, &[TOGETHER])];
    Ok(Entrants::new(here, goals))
}

fn throttled(warm: &FileField, name: &str, rates: &[u64], reader: Reader) -> Entrant {
    let (path, rates) = (warm.input.path.clone(), rates.to_vec());
    warm.reusing(name, move |target| {
        let open = |&rate: &u64| Throttled::open(&path, rate);
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
    })
}

const FILE: &str = "swath, the file";
const MIRRORS: &str = "swath, the file and two mirrors";

/// The most time with mirrors on one device, as a multiple of the time without.
const COST: f64 = 1.02;

/// Reads in one timed run: warm reads are short.
const REPEATS: u64 = 4;

/// Compares three copies on one device with the file alone.
pub(super) fn build_device(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?.times(REPEATS);
    let copy = |name: &str| {
        bench.stage.made(name, |path| {
            fs::copy(&warm.input.path, path)?;
            Ok(warm.input.made)
        })
    };
    let mirrors = [Rc::clone(&warm.input), copy("b")?, copy("c")?];
    let read = move |target: &mut [u8]| {
        let paths = mirrors.each_ref().map(|copy| &copy.path);
        ReadOptions::new().read_into(Source::mirrored(paths), target)?;
        Ok(())
    };
    let here = [warm.read_into(FILE, ReadOptions::new()), warm.reusing(MIRRORS, read)];
    Ok(Entrants::new(here, [Goal::time(MIRRORS, COST, &[FILE])]))
}
