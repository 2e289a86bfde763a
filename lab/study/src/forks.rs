//! Study E's tree, run by threads that fork, and written in all ways.
//!
//! The calls and their bytes are those of [`Fib`]. A way that promises the serial order is compared with
//! the serial program's file byte for byte; any other way, by length and sum.
//!
//! ```
//! use swath_study::forks::{Leave, Trees};
//!
//! let folder = tempfile::tempdir()?;
//! let trees = Trees::new(8, 1000, 2)?;
//! let left = trees.leave(folder.path(), Leave::Plain)?.expect("an output was committed");
//! assert_eq!((left.bytes, left.forks), (67_000, 33));
//! assert_eq!(trees.check(folder.path())?, trees.expected());
//! # anyhow::Ok(())
//! ```

mod shared;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use swath::OutputOptions;
use swath_os::locks::Mutex;

use anyhow::{Context, Result, ensure};
use rayon::{ThreadPool, ThreadPoolBuilder};
use swath::append::{self, AppendOptions, Committed, ExtentChecksums, Mode, Writer};
use swath::sink::Durability;

use crate::fib::{Call, Fib, fill};
use crate::limits;

/// The number of bytes that a strand of Swath collects.
pub const BUFFER: usize = 256 << 10;

/// The name of ordered outputs.
const OUT: &str = "out";

/// The most bytes of one call; they are made on the stack.
const MOST: usize = 16 << 10;

/// The handle that a call writes to and forks.
pub trait Strand: Write {
    /// Runs both closures, in parallel where a thread is idle, each on a strand.
    ///
    /// # Errors
    ///
    /// The error of `left`, else that of `right`.
    fn both(
        &mut self,
        left: impl FnOnce(&mut Self) -> io::Result<()> + Send,
        right: impl FnOnce(&mut Self) -> io::Result<()> + Send,
    ) -> io::Result<()>;
}

impl Strand for Writer<'_> {
    fn both(
        &mut self,
        left: impl FnOnce(&mut Self) -> io::Result<()> + Send,
        right: impl FnOnce(&mut Self) -> io::Result<()> + Send,
    ) -> io::Result<()> {
        self.join(left, right).map(|_| ())
    }
}

/// A way to write the bytes of all calls to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// All threads make the bytes but do not write them: the cost of forking and making them.
    Nowhere,
    /// One thread writes one file: the reference for the others.
    Serial {
        /// Bytes collected for one system call; 0 makes a call for each write.
        buffer: usize,
    },
    /// Each thread writes its own file, without an order: no way shares less.
    OwnFiles {
        /// Bytes collected for one system call; 0 makes a call for each write.
        buffer: usize,
    },
    /// All threads append to one file, without an order, with a system call for each write.
    OneFile,
    /// All threads write one file, each call at its final place, which only this tree knows beforehand.
    OneFileAtPlaces,
    /// Swath writes a folder of segments.
    Segments {
        /// Whether the segments have checksums.
        checksums: bool,
    },
    /// Swath writes one plain file.
    Plain,
    /// Study E's append: a log for each thread, and a shared order of the pieces.
    StudyE(SharedOrder),
}

/// The structure that keeps study E's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedOrder {
    /// A doubly linked list, under a lock.
    List,
    /// A skip list, for many threads.
    Skip,
}

/// The counts of a written tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeOutput {
    /// Bytes.
    pub bytes: u64,
    /// Forks.
    pub forks: u64,
    /// Forks that another thread took.
    pub steals: u64,
    /// Pieces of the file.
    pub extents: u64,
    /// The pieces of study E's append, as `(log, offset, len)` in serial order.
    pieces: Vec<(usize, u64, u64)>,
}

impl From<Committed> for TreeOutput {
    fn from(committed: Committed) -> Self {
        let Committed { bytes, forks, steals, extents, .. } = committed;
        Self { bytes, forks, steals, extents, pieces: Vec::new() }
    }
}

/// One tree and the threads that run it.
#[derive(Debug)]
pub struct Trees {
    /// The tree.
    pub fib: Fib,
    pool: ThreadPool,
    sum: u64,
}

impl Trees {
    /// Makes the tree of `fib(n)`, each call of which writes `bytes_per_call` bytes, at most 16 KiB, and a
    /// pool with this many threads.
    ///
    /// # Errors
    ///
    /// If the bytes are too many to count, or the threads cannot be started.
    pub fn new(n: u32, bytes_per_call: usize, threads: usize) -> Result<Self> {
        ensure!(bytes_per_call <= MOST, "{bytes_per_call} bytes a call, {MOST} at most");
        let fib = Fib::new(n, bytes_per_call as u64).context("a tree too large to count")?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut sum = 0;
        for call in fib.serial() {
            sum += with_bytes(&fib, call, swath_simd::sum);
        }
        Ok(Self { fib, pool, sum })
    }

    /// Returns the expected number of bytes, and their sum.
    pub fn expected(&self) -> (u64, u64) {
        (self.fib.bytes(), self.sum)
    }

    /// Runs the tree and writes its output to `folder`, not synced to the device. Returns the facts about
    /// the output of Swath or of study E's append, else `None`.
    ///
    /// # Errors
    ///
    /// The first error of a write or of the commit.
    pub fn leave(&self, folder: &Path, how: Leave) -> Result<Option<TreeOutput>> {
        match how {
            Leave::Nowhere => {
                self.by_all(&|_, bytes| {
                    std::hint::black_box(bytes);
                    Ok(())
                })?;
            }
            Leave::Serial { buffer } => {
                let file = File::create(folder.join(OUT))?;
                let mut out = BufWriter::with_capacity(buffer, file);
                for call in self.fib.serial() {
                    with_bytes(&self.fib, call, |bytes| out.write_all(bytes))?;
                }
                out.flush()?;
            }
            Leave::OwnFiles { buffer } => self.own_files(folder, buffer)?,
            Leave::OneFile => {
                let file =
                    File::options().append(true).create(true).open(folder.join("shared"))?;
                self.by_all(&|_, bytes| (&file).write_all(bytes))?;
            }
            Leave::OneFileAtPlaces => {
                let (file, len) = (File::create(folder.join(OUT))?, self.fib.bytes_per_call);
                self.by_all(&|call, bytes| file.write_all_at(bytes, call.index * len))?;
            }
            Leave::Segments { checksums } => {
                let options = AppendOptions::new().with_mode(Mode::Segments);
                let options = match checksums {
                    true => options,
                    false => options.with_checksums(ExtentChecksums::None),
                };
                return self.append(folder, options).map(|it| Some(it.into()));
            }
            Leave::Plain => {
                let committed = self.append(folder, AppendOptions::new())?;
                return Ok(Some(committed.into()));
            }
            Leave::StudyE(kind) => {
                let left = shared::append(&self.fib, &self.pool, folder, kind)?;
                return Ok(Some(TreeOutput {
                    bytes: left.pieces.iter().map(|piece| piece.2).sum(),
                    forks: self.fib.forks(),
                    steals: left.steals,
                    extents: left.pieces.len() as u64,
                    pieces: left.pieces,
                }));
            }
        }
        Ok(None)
    }

    /// Passes each call and its bytes to `each`, on all threads of the pool, without an order.
    fn by_all(&self, each: &Each<'_>) -> io::Result<()> {
        self.pool.install(|| go(&self.fib, self.fib.root(), each))
    }

    fn own_files(&self, folder: &Path, buffer: usize) -> Result<()> {
        let open = |thread: usize| {
            let file = File::create(folder.join(thread.to_string()))?;
            Ok(Mutex::new(BufWriter::with_capacity(buffer, file)))
        };
        let files: Vec<Mutex<BufWriter<File>>> =
            (0..self.pool.current_num_threads()).map(open).collect::<io::Result<_>>()?;
        self.by_all(&|_, bytes| {
            let own = rayon::current_thread_index().unwrap_or(0);
            // Uncontended: no other thread takes this lock.
            files[own].lock().write_all(bytes)
        })?;
        for file in files {
            file.into_inner().flush()?;
        }
        Ok(())
    }

    fn append(&self, folder: &Path, options: AppendOptions) -> Result<Committed> {
        let out = options
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .create(folder.join(OUT))?;
        out.scope(|w| self.pool.install(|| branch(&self.fib, self.fib.root(), w)))?;
        Ok(self.pool.install(|| out.commit())?)
    }

    /// Checks that the pieces in `left`, which study E's append wrote to `folder`, form the serial file.
    /// Other ways have no pieces, and nothing is read.
    ///
    /// # Errors
    ///
    /// If the pieces cannot be read, or are in another order.
    pub fn check_pieces(&self, folder: &Path, left: &TreeOutput) -> Result<()> {
        if left.pieces.is_empty() {
            return Ok(());
        }
        let logs = (0..self.pool.current_num_threads())
            .map(|log| File::open(folder.join(log.to_string())))
            .collect::<io::Result<_>>()?;
        let file = LogPieces { logs, pieces: &left.pieces, done: 0 };
        self.check_order(file)
    }

    fn check_order(&self, file: impl Read) -> Result<()> {
        let different = self.fib.first_difference(file)?;
        ensure!(different.is_none(), "not the serial file from byte {different:?} on");
        Ok(())
    }

    /// Returns the number of bytes in `folder` and their sum, to compare with
    /// [`expected`](Self::expected).
    ///
    /// # Errors
    ///
    /// If they cannot be read, or an output that promises the serial order does not have it.
    pub fn check(&self, folder: &Path) -> Result<(u64, u64)> {
        let out = folder.join(OUT);
        if out.exists() {
            self.check_order(append::open(&out)?)?;
        }
        let (mut bytes, mut sum) = (0, 0);
        for entry in fs::read_dir(folder)? {
            let mut back = append::open(entry?.path())?;
            let mut buffer = vec![0; 1 << 20];
            loop {
                let read = back.read(&mut buffer)?;
                if read == 0 {
                    break;
                }
                bytes += read as u64;
                sum += limits::memory_sum(&buffer[..read], 1);
            }
        }
        Ok((bytes, sum))
    }
}

/// Reads pieces of logs one after the other, as one file.
struct LogPieces<'p> {
    logs: Vec<File>,
    pieces: &'p [(usize, u64, u64)],
    /// Bytes read from the first piece.
    done: u64,
}

impl Read for LogPieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some((&(log, offset, len), rest)) = self.pieces.split_first() {
            if self.done < len {
                let left = usize::try_from(len - self.done).unwrap_or(usize::MAX);
                let most = buffer.len().min(left);
                let read = self.logs[log].read_at(&mut buffer[..most], offset + self.done)?;
                self.done += read as u64;
                return Ok(read);
            }
            (self.pieces, self.done) = (rest, 0);
        }
        Ok(0)
    }
}

/// The callback for each call and its bytes.
type Each<'e> = dyn Fn(Call, &[u8]) -> io::Result<()> + std::marker::Sync + 'e;

fn go(fib: &Fib, call: Call, each: &Each<'_>) -> io::Result<()> {
    with_bytes(fib, call, |bytes| each(call, bytes))?;
    match fib.branches(call) {
        None => Ok(()),
        Some([left, right]) => {
            let (a, b) = rayon::join(|| go(fib, left, each), || go(fib, right, each));
            a.and(b)
        }
    }
}

/// Runs one call on a strand: writes, forks, calls, joins.
///
/// # Errors
///
/// The first error in serial order, of writing or of the strand.
pub fn branch<W: Strand>(fib: &Fib, call: Call, w: &mut W) -> io::Result<()> {
    with_bytes(fib, call, |bytes| w.write_all(bytes))?;
    match fib.branches(call) {
        None => Ok(()),
        Some([left, right]) => w.both(|w| branch(fib, left, w), |w| branch(fib, right, w)),
    }
}

/// Passes the bytes of one call to `take`. Not inlined, so that callers up the stack do not keep a
/// buffer each.
#[inline(never)]
fn with_bytes<T>(fib: &Fib, call: Call, take: impl FnOnce(&[u8]) -> T) -> T {
    let len = usize::try_from(fib.bytes_per_call).unwrap_or(usize::MAX);
    let (mut small, mut large) = ([0; MOST], Vec::new());
    let bytes = match small.get_mut(..len) {
        Some(bytes) => bytes,
        None => {
            large.resize(len, 0);
            &mut large
        }
    };
    fill(call.index, bytes);
    take(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swath_reference::battery::BatterySize;

    const ALL: [Leave; 11] = [
        Leave::Serial { buffer: BUFFER },
        Leave::Serial { buffer: 0 },
        Leave::OwnFiles { buffer: BUFFER },
        Leave::OwnFiles { buffer: 0 },
        Leave::OneFile,
        Leave::OneFileAtPlaces,
        Leave::Segments { checksums: true },
        Leave::Segments { checksums: false },
        Leave::Plain,
        Leave::StudyE(SharedOrder::List),
        Leave::StudyE(SharedOrder::Skip),
    ];

    #[test]
    fn every_way_leaves_what_every_call_wrote() {
        for (bytes, threads) in [(0, 1), (1, 2), (777, 3), (10_240, 2), (MOST, 1)] {
            let trees = Trees::new(9, bytes, threads).expect("small");
            for how in ALL {
                let folder = tempfile::tempdir().expect("a folder");
                let left = trees.leave(folder.path(), how).expect("room");
                assert_eq!(trees.check(folder.path()).expect("readable"), trees.expected());
                if let Some(left) = left {
                    trees.check_pieces(folder.path(), &left).expect("in serial order");
                    assert_eq!(
                        (left.bytes, left.forks),
                        (trees.fib.bytes(), trees.fib.forks())
                    );
                }
            }
            let folder = tempfile::tempdir().expect("a folder");
            trees.leave(folder.path(), Leave::Nowhere).expect("nothing to fail");
            assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
        }
    }

    #[test]
    fn what_is_left_in_another_order_or_not_whole_is_found() {
        let trees = Trees::new(6, 100, 2).expect("small");
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join(OUT);
        trees.leave(folder.path(), Leave::Plain).expect("room");
        let mut bytes = fs::read(&out).expect("left");
        bytes.swap(0, 150);
        fs::write(&out, &bytes).expect("room");
        let error = trees.check(folder.path()).expect_err("swapped");
        assert!(error.to_string().contains("not the serial file"), "{error}");
        fs::rename(&out, folder.path().join("shared")).expect("renamed");
        assert_eq!(trees.check(folder.path()).expect("no order asked for"), trees.expected());
        bytes.pop();
        fs::write(folder.path().join("shared"), &bytes).expect("room");
        assert_ne!(trees.check(folder.path()).expect("readable"), trees.expected());
    }

    /// Many small steals: each node must have the place of its fork.
    #[test]
    fn study_e_s_order_is_the_serial_one_whoever_steals() {
        let mut steals = 0;
        let rounds = BatterySize { slice: 4, full: 20 }.count();
        for threads in [2, 4, 7] {
            let trees = Trees::new(14, 64, threads).expect("small");
            for round in 0..rounds {
                for kind in [SharedOrder::List, SharedOrder::Skip] {
                    let folder = tempfile::tempdir().expect("a folder");
                    let left = trees.leave(folder.path(), Leave::StudyE(kind)).expect("room");
                    let left = left.expect("an order");
                    let checked = trees.check_pieces(folder.path(), &left);
                    checked.unwrap_or_else(|error| {
                        panic!("{kind:?}, {threads}, {round}: {error}")
                    });
                    assert_eq!(left.extents, left.steals + 1, "a node for each strand");
                    steals += left.steals;
                }
            }
        }
        assert!(steals > 0, "there was no steal");
    }

    #[test]
    fn pieces_in_another_order_are_found() {
        let trees = Trees::new(6, 100, 1).expect("small");
        let folder = tempfile::tempdir().expect("a folder");
        let left = trees.leave(folder.path(), Leave::StudyE(SharedOrder::List)).expect("room");
        let mut left = left.expect("an order");
        let [(log, offset, len)] = left.pieces[..] else { panic!("one thread, one strand") };
        left.pieces = vec![(log, offset + 100, len - 100), (log, offset, 100)];
        let error = trees.check_pieces(folder.path(), &left).expect_err("swapped");
        assert!(error.to_string().contains("from byte Some(0) on"), "{error}");
    }

    #[test]
    fn more_than_a_call_may_write_is_an_error() {
        assert!(Trees::new(3, MOST + 1, 1).is_err() && Trees::new(200, 1, 1).is_err());
    }
}
