//! Sources with faults, which are not mocks, and files to change.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swath::{ReadAt, Source, SourceFacts};

type Fault = dyn Fn(u64, u64) -> Option<io::Result<usize>> + Send + Sync;

/// `len` bytes of a pattern; `fault` sees each call (its number and offset) first.
struct Faulty {
    len: u64,
    calls: AtomicU64,
    fault: Box<Fault>,
    versions: AtomicU64,
    is_changing: bool,
}

pub(crate) fn byte_at(offset: u64) -> u8 {
    u8::try_from((offset * 31 + offset / 251) % 256).expect("below 256")
}

impl ReadAt for Faulty {
    fn facts(&self) -> io::Result<SourceFacts> {
        let version = self.versions.fetch_add(u64::from(self.is_changing), Ordering::Relaxed);
        Ok(SourceFacts::new(Some(self.len)).with_validator([version, 0, 0, 0]))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let limit = match (self.fault)(call, offset) {
            Some(Err(error)) => return Err(error),
            Some(Ok(limit)) => limit,
            None => usize::MAX,
        };
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = target.len().min(left).min(limit);
        for (at, byte) in (offset..).zip(&mut target[..len]) {
            *byte = byte_at(at);
        }
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("faulty")
    }
}

/// `len` bytes of the pattern, with faults.
pub(crate) fn faulty(
    len: u64,
    fault: impl Fn(u64, u64) -> Option<io::Result<usize>> + Send + Sync + 'static,
) -> Source {
    of(len, Box::new(fault), false)
}

/// `len` bytes of the pattern, with another version each time it is queried.
pub(crate) fn changing(len: u64) -> Source {
    of(len, Box::new(|_, _| None), true)
}

fn of(len: u64, fault: Box<Fault>, is_changing: bool) -> Source {
    let (calls, versions) = (0.into(), 0.into());
    Source::custom(Arc::new(Faulty { len, calls, fault, versions, is_changing }))
}

/// A file of `len` bytes, all of them 7, old enough that the next write changes its times.
pub(crate) fn file(len: usize) -> tempfile::NamedTempFile {
    let mut file =
        tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    file.write_all(&vec![7; len]).expect("room on disk");
    // Past the clock tick in which it was written.
    std::thread::sleep(Duration::from_millis(20));
    file
}
