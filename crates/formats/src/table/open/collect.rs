//! The keys of all objects of a table, in the order of first appearance.
//!
//! ```text
//! blocks    {"a":1}¶{"b":2}¶ | {"c":3,"a":4}¶      by all workers: keys with their first places
//! keys      a b c                                   of all blocks, in the order of the files
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use swath::Extent;
use swath::machine::Mutex;

use crate::error::{Error, Result};
use crate::table::text::faults::{self, Problem};
use crate::table::text::pass::{RecordPass, RecordPiece};
use crate::table::text::rows::Rows;
use crate::table::text::shape::RecordShape;

/// The keys of a table.
pub(in crate::table) struct TableKeys {
    pub(in crate::table) names: Vec<String>,
    /// Whether there is a record before the first fault.
    pub(in crate::table) has_records: bool,
    /// The number of records read.
    pub(in crate::table) records: u64,
    /// The fault of the first line that is not an object.
    pub(in crate::table) error: Option<Error>,
    /// Whether the line of `error` has an end.
    pub(in crate::table) is_whole: bool,
    /// Whether that line is outside of the records to read.
    pub(in crate::table) is_elsewhere: bool,
}

/// The keys found by all workers.
#[derive(Default)]
struct SharedKeys {
    /// File and offset of each key's first appearance.
    keys: HashMap<Vec<u8>, (usize, u64)>,
    /// File and offset of the first record.
    first: Option<(usize, u64)>,
    records: u64,
    /// The first fault of the file.
    fault: Option<Problem>,
    idle: Vec<Rows>,
}

/// Records of a file.
pub(in crate::table) struct KeyRecords<'p> {
    /// The pass over the records whose keys are collected.
    pub(in crate::table) pass: RecordPass<'p>,
    /// The records to read.
    pub(in crate::table) read: Extent,
}

/// Collects the keys of records.
pub(in crate::table) fn keys(
    files: &[KeyRecords<'_>],
    shape: &RecordShape,
) -> Result<TableKeys> {
    let shared = Mutex::new(SharedKeys::default());
    let (mut error, mut is_whole, mut is_elsewhere) = (None, true, false);
    for (file, KeyRecords { pass, read }) in files.iter().enumerate() {
        let ended = pass.each(&|piece: RecordPiece<'_>| {
            let mut rows = shared.lock().idle.pop().unwrap_or_default();
            let taken = take(file, shape, &piece, &mut rows, &shared);
            shared.lock().idle.push(rows);
            taken.map_err(|problem| problem.into_error(pass.input, pass.origin).into())
        });
        let fault = shared.lock().fault.take();
        match (ended, fault) {
            (Ok(()), _) => {}
            (Err(failed), None) => return Err(failed),
            (Err(failed), Some(fault)) => {
                // Other blocks may or may not have been read past the fault.
                let is_before = |_: &Vec<u8>, at: &mut (usize, u64)| *at < (file, fault.offset);
                let mut shared = shared.lock();
                shared.keys.retain(is_before);
                shared.first = shared.first.filter(|&first| first < (file, fault.record));
                (error, is_whole) = (Some(failed), has_end(pass, &fault)?);
                is_elsewhere = !(read.offset()..read.end()).contains(&fault.record);
                break;
            }
        }
    }
    let shared = shared.into_inner();
    let (has_records, records) = (shared.first.is_some(), shared.records);
    Ok(TableKeys {
        names: names(shared.keys),
        has_records,
        records,
        error,
        is_whole,
        is_elsewhere,
    })
}

fn names(keys: HashMap<Vec<u8>, (usize, u64)>) -> Vec<String> {
    let mut sorted: Vec<_> = keys.into_iter().collect();
    sorted.sort_unstable_by_key(|&(_, at)| at);
    // The keys have been checked to be UTF-8.
    sorted.into_iter().map(|(key, _)| String::from_utf8_lossy(&key).into_owned()).collect()
}

/// Whether the line of a fault has an end.
fn has_end(pass: &RecordPass<'_>, fault: &Problem) -> Result<bool> {
    let rest = swath::ReadOptions::new().with_offset(fault.offset);
    let newlines = rest.count(pass.input.source(), b'\n')?.value;
    Ok(newlines > 0)
}

/// Collects the keys of some records.
fn take(
    file: usize,
    shape: &RecordShape,
    piece: &RecordPiece<'_>,
    rows: &mut Rows,
    shared: &Mutex<SharedKeys>,
) -> std::result::Result<(), Problem> {
    for part in piece.parts() {
        rows.forget_others();
        let mut at = 0;
        let (mut wrong, mut first, mut records) = (None, None, 0);
        while at < part.bytes.len() && wrong.is_none() {
            match rows.fill(part.bytes, at, shape) {
                Ok(next) => at = next,
                Err(fault) => {
                    wrong = Some(faults::of_rows(fault, part.offset, part.offset, shape));
                }
            }
            if first.is_none() && rows.count() > 0 {
                first = Some((file, part.offset + rows.start(0) as u64));
            }
            records += rows.count() as u64;
            if rows.has_many_others() {
                keep_keys(file, part.offset, rows, &mut shared.lock());
                rows.forget_others();
            }
        }
        let mut shared = shared.lock();
        shared.first = shared.first.into_iter().chain(first).min();
        shared.records += records;
        keep_keys(file, part.offset, rows, &mut shared);
        if let Some(problem) = wrong {
            let is_first =
                shared.fault.as_ref().is_none_or(|fault| problem.offset < fault.offset);
            if is_first {
                shared.fault = Some(problem.clone());
            }
            return Err(problem);
        }
    }
    Ok(())
}

/// Keeps the keys of a part at `offset`, each with its first appearance.
fn keep_keys(file: usize, offset: u64, rows: &Rows, shared: &mut SharedKeys) {
    for (key, at) in rows.others() {
        let at = (file, offset + at as u64);
        match shared.keys.entry(key.to_vec()) {
            Entry::Vacant(entry) => drop(entry.insert(at)),
            Entry::Occupied(mut entry) if at < *entry.get() => *entry.get_mut() = at,
            Entry::Occupied(_) => {}
        }
    }
}
