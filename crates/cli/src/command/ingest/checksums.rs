//! Prints a checksum of each file, one per line, while the next files are read.

use std::hash::Hasher as _;
use std::mem;

use anyhow::Result;
use serde::Serialize;
use swath::ingest::{Files, IngestOptions, IngestReport, Part};
use twox_hash::XxHash3_64;

use crate::command::several::line;
use crate::failure::describe_error;
use crate::output::{complain, print};
use crate::report::{PathJson, object};

/// Bytes of lines that are printed at one time.
const FULL: usize = 64 << 10;

/// Prints a line for each of `files`.
pub(super) fn checksums(
    files: Files,
    options: &IngestOptions,
    json: bool,
) -> Result<IngestReport> {
    let mut lines = Lines { json, text: Vec::new(), hasher: XxHash3_64::new() };
    let report = options.stream(files, |part| lines.add(&part))?;
    lines.flush()?;
    Ok(report)
}

/// Lines not printed yet, and the state of an incomplete file.
struct Lines {
    json: bool,
    text: Vec<u8>,
    hasher: XxHash3_64,
}

impl Lines {
    fn add(&mut self, part: &Part<'_>) -> Result<()> {
        if let Some(error) = part.error {
            let error = describe_error(error);
            complain(&error);
            if self.json {
                self.push_json(&object! {
                    #[serde(flatten)]
                    path: PathJson::from(&part.path),
                    error,
                })?;
            }
            return self.flush_if_full();
        }
        let digest = match (part.offset, part.is_last) {
            // Most files are one part and need no state.
            (0, true) => XxHash3_64::oneshot(part.bytes),
            (offset, is_last) => {
                if offset == 0 {
                    self.hasher = XxHash3_64::new();
                }
                self.hasher.write(part.bytes);
                if !is_last {
                    return Ok(());
                }
                self.hasher.finish()
            }
        };
        let path = part.path.as_os_str();
        if self.json {
            let bytes = part.offset + part.bytes.len() as u64;
            let xxh3 = format!("{digest:016x}");
            self.push_json(&object! {
                #[serde(flatten)]
                path: PathJson::from(path),
                bytes,
                xxh3,
            })?;
        } else {
            self.text.extend(line(&format!("XXH3_{digest:016x}"), path));
        }
        self.flush_if_full()
    }

    fn push_json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.text, value)?;
        self.text.push(b'\n');
        Ok(())
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.text.len() < FULL { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        Ok(print(mem::take(&mut self.text))?)
    }
}
