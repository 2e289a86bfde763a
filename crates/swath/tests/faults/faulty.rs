//! The kernel's file system, one call of which fails.

use std::any::Any;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::sink::{Facts, Fs, FsFile, LocalFs, Lock};
use swath::{Error, Reason};

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

/// The kernel's file system, with a fault.
#[derive(Clone, Debug)]
pub(crate) struct Faulty(pub(crate) Arc<Fault>);

#[derive(Debug)]
struct FaultyFile(Arc<dyn FsFile>, Arc<Fault>);

/// The file without its fault. Sources of a copy have none.
fn inner(file: &dyn FsFile) -> &dyn FsFile {
    file.as_any().downcast_ref::<FaultyFile>().map_or(file, |file| &*file.0)
}

impl Faulty {
    fn wrap(&self, file: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(FaultyFile(file, Arc::clone(&self.0)))
    }
}

impl FsFile for FaultyFile {
    /// Half of it, so that short writes are gone on with.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.1.strike()?;
        self.0.write_at(&bytes[..bytes.len().div_ceil(2)], offset)
    }
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
    fn facts(&self) -> io::Result<Facts> {
        self.0.facts()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.strike()?;
        self.0.set_len(len)
    }
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.1.strike()?;
        self.0.allocate(offset, len)
    }
    fn clone_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<()> {
        self.1.strike()?;
        self.0.clone_range(inner(from), at, to, len)
    }
    fn copy_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<u64> {
        self.1.strike()?;
        self.0.copy_range(inner(from), at, to, len)
    }
    fn copy_attributes(&self, other: &Path) -> io::Result<()> {
        self.1.strike()?;
        self.0.copy_attributes(other)
    }
    fn sync(&self) -> io::Result<()> {
        self.1.strike()?;
        self.0.sync()
    }
    fn descriptor(&self) -> Option<&File> {
        None
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Fs for Faulty {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        LocalFs.resolve(path)
    }
    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        LocalFs.facts(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.0.strike()?;
        LocalFs.lock(path)
    }
    fn create_nameless(&self, folder: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.0.strike()?;
        Ok(self.wrap(LocalFs.create_nameless(folder)?))
    }
    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.0.strike()?;
        Ok(self.wrap(LocalFs.create_new(path)?))
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        Ok(self.wrap(LocalFs.open(path)?))
    }
    fn link(&self, file: &dyn FsFile, path: &Path) -> io::Result<()> {
        self.0.strike()?;
        LocalFs.link(inner(file), path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.strike()?;
        LocalFs.rename(from, to)
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.strike()?;
        LocalFs.rename_new(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalFs.remove(path)
    }
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        LocalFs.create_folder(path)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        LocalFs.remove_folder(path)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        LocalFs.list(folder)
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.strike()?;
        LocalFs.sync_folder(folder)
    }
}

/// Runs `write` with a fault at every call that it makes, once without and once with an old target.
/// It must leave `new`, or the old target with the fault told; nothing else in the folder.
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
            let ended = write(&path, Arc::new(Faulty(Arc::clone(&fault))));
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
