//! Appends ten to ten million records of 16 bytes from the threads of a pool, compared with one thread
//! that writes them in order.
//!
//! The calling thread begins, as in a program that calls only `scope` and `join`. The threads of the
//! global pool help after the first join.

use crate::bench::Bench;
use crate::contestants::write::{into_folder, output, tree};
use anyhow::Result;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use swath::append::{AppendOptions, Writer};
use swath_study::limits::memory_sum;
use swath_study::measure::{Entrants, Goal, Outcome};

const OURS: &str = "swath append";
const RECORD: usize = 16;
/// The usual number of records that a strand writes without a join.
pub(super) const LEAF: usize = 4096;

/// Returns the digits of `number`, with leading zeros.
fn record(number: usize) -> [u8; RECORD] {
    let mut digits = [b'0'; RECORD];
    let (mut rest, mut at) = (number, RECORD);
    while rest > 0 {
        at -= 1;
        digits[at] += u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    digits
}

/// Returns the expected contents of the file.
fn expected(count: usize) -> Outcome {
    let bytes: Vec<u8> = (0..count).flat_map(record).collect();
    Outcome { bytes: bytes.len() as u64, checksum: memory_sum(&bytes, 1) }
}

fn ours(count: usize, leaf: usize, folder: &Path) -> Result<()> {
    let out = AppendOptions::new().with_output(output()).create(folder.join("out"))?;
    let write = |w: &mut Writer<'_>, number| w.write_all(&record(number));
    out.scope(|w| tree(w, 0..count, leaf, &write))?;
    out.commit()?;
    Ok(())
}

fn buffered(count: usize, folder: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(folder.join("out"))?);
    (0..count).try_for_each(|number| out.write_all(&record(number)))?;
    out.flush()?;
    Ok(())
}

/// Writes a new file and renames it, so that readers see the old file or the new one.
fn renamed(count: usize, folder: &Path) -> Result<()> {
    buffered(count, folder)?;
    Ok(std::fs::rename(folder.join("out"), folder.join("whole"))?)
}

fn plain(count: usize, folder: &Path) -> Result<()> {
    let mut out = File::create(folder.join("out"))?;
    (0..count).try_for_each(|number| out.write_all(&record(number)))?;
    Ok(())
}

/// Compares ways to write `count` records, `leaf` of them without a join.
pub(super) fn build(bench: &Bench, count: usize, leaf: usize) -> Result<Entrants> {
    let count = bench.pick(count, 100);
    let (expected, room) = (expected(count), count * RECORD);
    // Start the threads of the pool before the first round.
    rayon::join(|| (), || ());
    let [buffer, rename, calls] = [
        "one thread, a buffer",
        "one thread, a buffer and a rename",
        "one thread, a call a record",
    ];
    let all = [
        into_folder(bench, OURS, expected, room, move |to| ours(count, leaf, to)),
        into_folder(bench, buffer, expected, room, move |to| buffered(count, to)),
        into_folder(bench, rename, expected, room, move |to| renamed(count, to)),
        into_folder(bench, calls, expected, room, move |to| plain(count, to)),
    ];
    Ok(Entrants::new(all, [Goal::speed(OURS, 0.8, &[rename, calls])]))
}
