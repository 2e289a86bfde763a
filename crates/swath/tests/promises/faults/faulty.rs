//! The kernel's file system, with one call that fails.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::sink::Fs;
use swath::{Error, Reason};

use crate::hooked::{Call, Hook, Hooked};

/// Counts calls that change something, and fails one of them.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) calls: AtomicU64,
    pub(crate) fails_at: u64,
    pub(crate) number: i32,
}

impl Fault {
    fn strike(&self) -> io::Result<()> {
        match self.calls.fetch_add(1, Ordering::SeqCst) == self.fails_at {
            true => Err(io::Error::from_raw_os_error(self.number)),
            false => Ok(()),
        }
    }
}

impl Hook for Fault {
    fn before(&self, call: Call) -> io::Result<()> {
        use Call::{CreateFolder, List, Locate, Look, Open, Read, Remove, RemoveFolder};
        match call {
            Locate | Look | Open | Read | Remove | RemoveFolder | CreateFolder | List => Ok(()),
            _ => self.strike(),
        }
    }

    fn shows_descriptors(&self) -> bool {
        false
    }
}

/// Runs `write` with a fault at every call that it makes, once without and once with an old
/// target. It must write `new`, or keep the old target and return the fault; no other file may
/// remain.
pub(crate) fn strike_everywhere(
    number: i32,
    new: &[u8],
    write: impl Fn(&Path, Arc<dyn Fs>) -> Result<(), Error>,
) -> u64 {
    let mut failures = 0;
    for old in [None, Some(&b"old"[..])] {
        for fails_at in 0.. {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("out");
            if let Some(old) = old {
                std::fs::write(&path, old).expect("room");
            }
            let fault = Arc::new(Fault { calls: 0.into(), fails_at, number });
            let ended = write(&path, Arc::new(Hooked(Arc::clone(&fault) as _)));
            let found = std::fs::read(&path).ok();
            let count = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(count, usize::from(found.is_some()), "call {fails_at} leaves something");
            failures += u64::from(ended.is_err());
            match ended {
                Ok(()) => assert!(found.as_deref() == Some(new), "call {fails_at}"),
                Err(error) if error.reason() == Reason::OutcomeUnknown => {
                    assert!(found.as_deref() == Some(new), "call {fails_at}: {error:?}");
                }
                Err(error) => {
                    assert_eq!(found.as_deref(), old, "call {fails_at}");
                    assert_eq!(error.raw_os_error(), Some(number), "{error:?}");
                    assert_eq!(error.path(), path);
                }
            }
            if fault.calls.load(Ordering::SeqCst) <= fails_at {
                break;
            }
        }
    }
    failures
}
