//! Programs that fork and write: study E's Fibonacci tree, left in every way there is.

use crate::bench::Bench;
use anyhow::{Context, Result, ensure};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use swath::append::{self, AppendOptions, Checksums, Mode, Writer};
use swath::sink::Sync;
use swath_study::cache;
use swath_study::fib::{Call, Fib, fill};
use swath_study::harness::{Contestant, Expected, Work, timed};

pub(crate) const SERIAL: &str = "serial writer";
pub(crate) const SERIAL_UNBUFFERED: &str = "serial writer, a call a write";
pub(crate) const OWN_FILES: &str = "each thread its own file, a call a write";
pub(crate) const OWN_FILES_BUFFERED: &str = "each thread its own file, buffered";
pub(crate) const SEGMENTS: &str = "swath segments";
pub(crate) const SEGMENTS_BARE: &str = "swath segments, no checksums";
pub(crate) const PLAIN: &str = "swath plain";

/// As much as a strand of Swath collects.
const BUFFER: usize = 256 << 10;

/// Each call writes study E's 10 KB.
const CALL: usize = 10 << 10;

/// One tree, the threads that run it, and where it is left.
pub(crate) struct Trees {
    fib: Fib,
    pool: ThreadPool,
    folder: PathBuf,
}

/// Leaves the whole tree in a folder.
type Leave = fn(&Trees, &Path) -> Result<()>;

impl Trees {
    pub(crate) fn new(bench: &Bench, threads: usize) -> Result<Rc<Self>> {
        let n = if bench.quick { 8 } else { 23 };
        let fib = Fib::new(n, CALL as u64).context("a small tree")?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Rc::new(Self { fib, pool, folder: bench.output("tree") }))
    }

    /// Everybody, the serial writer first.
    pub(crate) fn contestants(self: &Rc<Self>) -> Result<Vec<Contestant<'static>>> {
        let all: [(&str, Leave); 7] = [
            (SERIAL, |trees, folder| {
                let mut out =
                    BufWriter::with_capacity(BUFFER, File::create(folder.join("out"))?);
                trees.serially(&mut |bytes| out.write_all(bytes))?;
                Ok(out.flush()?)
            }),
            (SERIAL_UNBUFFERED, |trees, folder| {
                let mut out = File::create(folder.join("out"))?;
                Ok(trees.serially(&mut |bytes| out.write_all(bytes))?)
            }),
            (OWN_FILES, |trees, folder| trees.own_files(folder, 0)),
            (OWN_FILES_BUFFERED, |trees, folder| trees.own_files(folder, BUFFER)),
            (SEGMENTS, |trees, folder| {
                trees.append(folder, AppendOptions::new().with_mode(Mode::Segments))
            }),
            (SEGMENTS_BARE, |trees, folder| {
                let options = AppendOptions::new().with_mode(Mode::Segments);
                trees.append(folder, options.with_checksums(Checksums::None))
            }),
            (PLAIN, |trees, folder| trees.append(folder, AppendOptions::new())),
        ];
        let expected = Expected { bytes: self.fib.bytes(), checksum: self.sum()? };
        Ok(all
            .into_iter()
            .map(|(name, leave)| self.contestant(name, leave, expected))
            .collect())
    }

    fn contestant(
        self: &Rc<Self>,
        name: &'static str,
        leave: Leave,
        expected: Expected,
    ) -> Contestant<'static> {
        let (trees, before) = (Rc::clone(self), Rc::clone(self));
        let run = move || {
            let (left, timing) = timed(|| leave(&trees, &trees.folder))?;
            left?;
            let (bytes, sum) = trees.check()?;
            fs::remove_dir_all(&trees.folder)?;
            Ok(Work::new(bytes, sum).with_timing(timing))
        };
        Contestant::new(name, expected, run).with_before(move || {
            let room = usize::try_from(2 * before.fib.bytes()).unwrap_or(usize::MAX);
            let _ = fs::remove_dir_all(&before.folder);
            fs::create_dir_all(&before.folder)?;
            rustix::fs::sync();
            cache::touch_memory(room).context("cannot touch memory")
        })
    }

    fn serially(&self, write: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        fn go(
            fib: &Fib,
            call: Call,
            write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
        ) -> io::Result<()> {
            write(&made(call))?;
            match fib.branches(call) {
                None => Ok(()),
                Some([left, right]) => {
                    go(fib, left, write)?;
                    go(fib, right, write)
                }
            }
        }
        go(&self.fib, self.fib.root(), write)
    }

    /// No order, and nothing shared: what any way of writing from many threads is measured by.
    fn own_files(&self, folder: &Path, buffer: usize) -> Result<()> {
        fn go(fib: &Fib, call: Call, files: &[Mutex<BufWriter<File>>]) -> io::Result<()> {
            let own = rayon::current_thread_index().unwrap_or(0);
            // Nobody else takes it: the lock costs what an uncontended one does.
            files[own].lock().expect("no panic").write_all(&made(call))?;
            match fib.branches(call) {
                None => Ok(()),
                Some([left, right]) => {
                    let (a, b) = rayon::join(|| go(fib, left, files), || go(fib, right, files));
                    a.and(b)
                }
            }
        }
        let open = |thread: usize| {
            let file = File::create(folder.join(thread.to_string()))?;
            Ok(Mutex::new(BufWriter::with_capacity(buffer, file)))
        };
        let files: Vec<_> =
            (0..self.pool.current_num_threads()).map(open).collect::<io::Result<_>>()?;
        self.pool.install(|| go(&self.fib, self.fib.root(), &files))?;
        for file in files {
            file.into_inner().expect("no panic").flush()?;
        }
        Ok(())
    }

    fn append(&self, folder: &Path, options: AppendOptions) -> Result<()> {
        fn go(fib: &Fib, call: Call, w: &mut Writer<'_>) -> io::Result<()> {
            w.write_all(&made(call))?;
            match fib.branches(call) {
                None => Ok(()),
                Some([left, right]) => {
                    w.join(|w| go(fib, left, w), |w| go(fib, right, w)).map(|_| ())
                }
            }
        }
        let out = append::create(folder.join("out"), options.with_sync(Sync::None))?;
        out.scope(|w| self.pool.install(|| go(&self.fib, self.fib.root(), w)))?;
        self.pool.install(|| out.commit())?;
        Ok(())
    }

    fn sum(&self) -> Result<u64> {
        let mut sum = 0;
        self.serially(&mut |bytes| {
            sum += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            Ok(())
        })?;
        Ok(sum)
    }

    /// Bytes and their sum; what claims to be serial is compared as a whole.
    fn check(&self) -> Result<(u64, u64)> {
        let out = self.folder.join("out");
        if out.exists() {
            let different = self.fib.first_difference(append::open(&out)?)?;
            ensure!(different.is_none(), "not the serial file from byte {different:?} on");
        }
        let (mut bytes, mut sum) = (0, 0);
        for entry in fs::read_dir(&self.folder)? {
            let mut back = append::open(entry?.path())?;
            let mut buffer = vec![0; 1 << 20];
            loop {
                let read = back.read(&mut buffer)?;
                if read == 0 {
                    break;
                }
                bytes += read as u64;
                sum += swath_study::limits::memory_sum(&buffer[..read], 1);
            }
        }
        Ok((bytes, sum))
    }
}

/// What one call writes.
fn made(call: Call) -> [u8; CALL] {
    let mut bytes = [0; CALL];
    fill(call.index, &mut bytes);
    bytes
}

/// The tree of calls without anything to write, and with 16 bytes each.
pub(crate) fn joins(n: u32) -> u64 {
    if n < 2 {
        return std::hint::black_box(1);
    }
    let (a, b) = rayon::join(|| joins(n - 1), || joins(n - 2));
    a + b + 1
}

/// The same, each call writing 16 bytes first.
pub(crate) fn joins_and_writes(n: u32, w: &mut Writer<'_>) -> io::Result<u64> {
    w.write_all(&[7; 16])?;
    if n < 2 {
        return Ok(std::hint::black_box(1));
    }
    let (a, b) = w.join(|w| joins_and_writes(n - 1, w), |w| joins_and_writes(n - 2, w))?;
    Ok(a + b + 1)
}
