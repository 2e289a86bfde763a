//! Ordered mode on a file system whose k-th call fails, for every k: whole, or what was before.

use std::any::Any;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::append::{OrderedOptions, ordered};
use swath::sink::{Facts, Fs, FsFile, LocalFs, Lock};
use swath::{Error, Reason};

/// Counts calls that change something, and fails one of them.
#[derive(Debug)]
struct Fault {
    calls: AtomicU64,
    fails_at: u64,
    number: i32,
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
struct Faulty(Arc<Fault>);

#[derive(Debug)]
struct FaultyFile(Arc<dyn FsFile>, Arc<Fault>);

fn inner(file: &dyn FsFile) -> &dyn FsFile {
    &*file.as_any().downcast_ref::<FaultyFile>().expect("made here").0
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

const CHUNK: usize = 700_001;
const CHUNKS: usize = 8;

fn write(path: &Path, fault: &Arc<Fault>, workers: usize) -> Result<(), Error> {
    let fs = Arc::new(Faulty(Arc::clone(fault)));
    let out = ordered(path, OrderedOptions::new().with_fs(fs))?;
    out.map_ordered(0..CHUNKS, workers, |index, ticket| {
        let byte = u8::try_from(index).expect("few");
        ticket.write_all(&[byte; CHUNK]).expect("memory");
        Ok::<_, Error>(())
    })?;
    out.commit().map(drop)
}

#[test]
fn whichever_call_fails_the_target_is_the_old_one_or_the_new_one() {
    let new: Vec<u8> = (0..8).flat_map(|byte| vec![byte; CHUNK]).collect();
    for (old, workers) in [(None, 1), (None, 3), (Some(b"old"), 1), (Some(b"old"), 3)] {
        let mut failures = 0;
        for fails_at in 0.. {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("out");
            if let Some(old) = old {
                std::fs::write(&path, old).expect("room");
            }
            let fault = Fault { calls: 0.into(), fails_at, number: [5, 28][workers % 2] };
            let fault = Arc::new(fault);
            let ended = write(&path, &fault, workers);
            let found = std::fs::read(&path).ok();
            let count = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(count, usize::from(found.is_some()), "call {fails_at} leaves something");
            match ended {
                Ok(()) => assert!(found.as_ref() == Some(&new), "call {fails_at}"),
                Err(error) if error.reason() == Reason::OutcomeUnknown => {
                    assert!(found.as_ref() == Some(&new), "call {fails_at}: {error:?}");
                    failures += 1;
                }
                Err(error) => {
                    assert_eq!(found.as_deref(), old.map(|old| &old[..]), "call {fails_at}");
                    assert_eq!(error.raw_os_error(), Some(fault.number), "{error:?}");
                    assert_eq!(error.path(), path);
                    failures += 1;
                }
            }
            if fault.calls.load(Ordering::SeqCst) <= fails_at {
                break;
            }
        }
        assert!(failures > 60, "{failures} of its calls failed");
    }
}

#[test]
fn a_failed_write_is_told_with_the_bytes_of_its_chunk() {
    let folder = tempfile::tempdir().expect("a folder");
    // Lock, nameless file, and the chunk at 0 in many halves.
    let fault = Arc::new(Fault { calls: 0.into(), fails_at: 30, number: 28 });
    let error = write(&folder.path().join("out"), &fault, 1).expect_err("the disk is full");
    let (offset, len) = error.extent().expect("it was about bytes");
    assert_eq!((offset % CHUNK as u64, len), (0, CHUNK as u64));
    let text = format!("{error:?}");
    assert!(text.starts_with("cannot write ") && text.contains("No space left"), "{text}");
}
