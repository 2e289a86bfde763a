//! Assigns the members of objects to columns.
//!
//! ```text
//! before     {"id": 1, "name": "x", "at": 2}
//! line       {"id": 2, "at": 3}
//! predicted   id → name? no: at? yes          compared as bytes; otherwise looked up
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use super::decode::{decode, unquoted};
use super::fault::{JsonFault, JsonFaultAt};
use super::keys::{Keys, Others, ValueRules};
use super::scan::{COLON, KEY, Scan, ScanScratch};

/// The places of the values of some rows, row by row.
#[derive(Debug, Default)]
pub(in crate::table) struct Cells {
    pub(in crate::table) starts: Vec<u32>,
    /// An absent value ends before it begins.
    pub(in crate::table) ends: Vec<u32>,
}

/// The known keys of objects.
#[derive(Debug, Default)]
pub(in crate::table) struct ObjectMembers {
    keys: Option<Arc<Keys>>,
    scratch: ScanScratch,
    known: Vec<KnownKey>,
    /// The keys as first written, with the closing quote.
    written: Vec<u8>,
    /// The first key of the last object.
    first: u32,
    /// Keys that are not columns; `places` has the offset of each one's first appearance.
    others: HashMap<Vec<u8>, u32>,
    places: Vec<usize>,
    row: u64,
    decoded: Vec<u8>,
    /// Keys that appeared first in the last line.
    new: Vec<Vec<u8>>,
    /// Bytes in `written` of keys that were forgotten.
    orphans: usize,
}

/// A key that occurred.
#[derive(Clone, Copy, Debug, Default)]
struct KnownKey {
    /// Its range in `written`; empty if it has not occurred yet.
    start: usize,
    end: usize,
    /// The key that last followed it.
    next: u32,
    /// The last row that has it.
    row: u64,
}

impl ObjectMembers {
    /// Prepares for another text.
    pub(in crate::table) fn begin(&mut self, keys: &Arc<Keys>) {
        self.scratch.marks.clear();
        if self.has_many_others() {
            self.forget();
        }
        if self.keys.as_ref().is_some_and(|own| Arc::ptr_eq(own, keys)) {
            return;
        }
        self.keys = Some(Arc::clone(keys));
        self.known = vec![KnownKey::default(); keys.len()];
        self.written.clear();
        self.others.clear();
        self.places.clear();
    }

    /// Whether the keys that are not columns are too many to keep after this text.
    pub(in crate::table) fn has_many_others(&self) -> bool {
        const MANY: usize = 1 << 16;
        self.others.len() > MANY
    }

    /// Forgets the keys that are not columns.
    pub(in crate::table) fn forget(&mut self) {
        if !self.others.is_empty() {
            // Their bytes in `written` are dropped too.
            let columns = self.known.len() - self.places.len();
            self.known = vec![KnownKey::default(); columns];
            self.written.clear();
        }
        self.others.clear();
        self.places.clear();
    }

    /// Returns the keys that are not columns, and the offset at which each first appeared.
    pub(in crate::table) fn others(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let columns = self.known.len() - self.places.len();
        self.others
            .iter()
            .map(move |(key, &index)| (&key[..], self.places[index as usize - columns]))
    }

    /// Scans the line at `at`, and appends the places of its values. Returns the start of the next
    /// line, and whether this one has an object.
    pub(in crate::table) fn line(
        &mut self,
        text: &[u8],
        at: usize,
        cells: &mut Cells,
    ) -> Result<(usize, bool), JsonFaultAt> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut scan = Scan { text, at, rules: self.values(), scratch: &mut scratch };
        self.new.clear();
        let has_object = self.object(&mut scan, cells);
        let next = scan.at;
        self.scratch = scratch;
        Ok((next, has_object?))
    }

    fn values(&self) -> ValueRules {
        self.keys.as_ref().map(|keys| keys.values).unwrap_or_default()
    }

    /// Forgets the keys that only the last line has.
    pub(in crate::table) fn forget_line(&mut self) {
        const MANY: usize = 1 << 16;
        for key in self.new.drain(..) {
            self.others.remove(&key);
            self.places.pop();
            let known = self.known.pop().unwrap_or_default();
            self.orphans += known.end - known.start;
        }
        if self.orphans > MANY {
            self.known.fill(KnownKey::default());
            self.written.clear();
            self.orphans = 0;
        }
    }

    /// Whether the line at `at` has an object, with any keys.
    pub(in crate::table) fn is_object(&self, text: &[u8], at: usize) -> bool {
        let mut other = Self::default();
        other.begin(&Arc::new(Keys::new(&[], Others::Pass).with_values(self.values())));
        other.line(text, at, &mut Cells::default()).is_ok()
    }

    fn object(&mut self, scan: &mut Scan<'_>, cells: &mut Cells) -> Result<bool, JsonFaultAt> {
        match scan.peek() {
            Some(b'{') => scan.at += 1,
            Some(b'\n') => {
                scan.at += 1;
                return Ok(false);
            }
            None => return Ok(false),
            Some(_) => return scan.fault(JsonFault::NotObject),
        }
        self.members(scan, cells)?;
        match scan.peek() {
            None => Ok(true),
            Some(b'\n') => {
                scan.at += 1;
                Ok(true)
            }
            Some(_) => scan.fault(JsonFault::After),
        }
    }

    fn members(&mut self, scan: &mut Scan<'_>, cells: &mut Cells) -> Result<(), JsonFaultAt> {
        let columns = self.keys.as_ref().map_or(0, |keys| keys.len());
        let row = cells.ends.len();
        cells.starts.resize(row + columns, 1);
        cells.ends.resize(row + columns, 0);
        self.row += 1;
        if scan.peek() == Some(b'}') {
            scan.at += 1;
            return Ok(());
        }
        let mut before = None;
        loop {
            if scan.peek() != Some(b'"') {
                return scan.fault(JsonFault::Expected(KEY));
            }
            let key = self.key(scan, before)?;
            before = Some(key);
            scan.take(b':', COLON)?;
            scan.peek();
            let start = scan.at;
            scan.value()?;
            let column = key as usize;
            if column < columns {
                cells.starts[row + column] = short(start);
                cells.ends[row + column] = short(scan.at);
            }
            match scan.peek() {
                Some(b',') => scan.at += 1,
                Some(b'}') => {
                    scan.at += 1;
                    return Ok(());
                }
                _ => {
                    return scan
                        .fault(JsonFault::Expected("not JSON: a comma or `}` is expected"));
                }
            }
        }
    }

    /// Scans a key, and returns its number.
    #[inline]
    fn key(&mut self, scan: &mut Scan<'_>, before: Option<u32>) -> Result<u32, JsonFaultAt> {
        let start = scan.at;
        let predicted = match before {
            Some(before) => self.known[before as usize].next,
            None => self.first,
        };
        let found = match self.is_at(predicted, scan) {
            true => predicted,
            false => self.other(scan, predicted)?,
        };
        if found != predicted {
            match before {
                Some(before) => self.known[before as usize].next = found,
                None => self.first = found,
            }
        }
        let known = &mut self.known[found as usize];
        if known.row == self.row {
            return Err(JsonFaultAt { fault: JsonFault::Twice, at: start });
        }
        known.row = self.row;
        Ok(found)
    }

    /// Scans a key if it is this one.
    #[inline]
    fn is_at(&self, key: u32, scan: &mut Scan<'_>) -> bool {
        let Some(known) = self.known.get(key as usize) else { return false };
        let written = &self.written[known.start..known.end];
        let text = &scan.text[scan.at + 1..];
        let words = (text.first_chunk(), self.written[known.start..].first_chunk());
        let is_here = match (words, written.len()) {
            (_, 0) => false,
            // Most keys are short: compared without a call.
            ((Some(a), Some(b)), len @ 1..=8) => {
                let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
                differ << (64 - 8 * len) == 0
            }
            _ => text.starts_with(written),
        };
        if is_here {
            scan.at += 1 + written.len();
        }
        is_here
    }

    /// Scans a key that is not the predicted one.
    fn other(&mut self, scan: &mut Scan<'_>, predicted: u32) -> Result<u32, JsonFaultAt> {
        // The object may lack one key.
        if let Some(known) = self.known.get(predicted as usize)
            && self.is_at(known.next, scan)
        {
            return Ok(known.next);
        }
        let start = scan.at;
        scan.string()?;
        let raw = &scan.text[start..scan.at];
        self.decoded.clear();
        decode(unquoted(raw).unwrap_or_default(), &mut self.decoded);
        if std::str::from_utf8(&self.decoded).is_err() {
            return Err(JsonFaultAt { fault: JsonFault::Encoding, at: start });
        }
        let key = self.find(start)?;
        let known = &mut self.known[key as usize];
        if known.start == known.end {
            known.start = self.written.len();
            self.written.extend_from_slice(&raw[1..]);
            known.end = self.written.len();
        }
        Ok(key)
    }

    /// Returns the number of the decoded key.
    fn find(&mut self, at: usize) -> Result<u32, JsonFaultAt> {
        let keys = self.keys.as_deref();
        if let Some(column) = keys.and_then(|keys| keys.find(&self.decoded)) {
            return Ok(column);
        }
        if let Some(&other) = self.others.get(&self.decoded) {
            return Ok(other);
        }
        if keys.is_some_and(|keys| keys.others == Others::Refuse) {
            return Err(JsonFaultAt { fault: JsonFault::New, at });
        }
        let other = short(self.known.len());
        self.others.insert(self.decoded.clone(), other);
        self.new.push(self.decoded.clone());
        self.known.push(KnownKey::default());
        self.places.push(at);
        Ok(other)
    }
}

/// Converts an offset into a text already known to be short enough.
fn short(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
