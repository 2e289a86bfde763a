//! Study E's append: each thread writes its own log, and one shared order of nodes places the parts of
//! the logs.
//!
//! A strand is the work of one thread between two steals. Its bytes are contiguous in the thread's log,
//! and form one node. A thief puts its node after its victim's:
//!
//! ```text
//! strand 0: fork …… fork ……        nodes   0 ⇄ 2 ⇄ 1      log of thread 0   |0      |2  |
//!            └ stolen first: 1      └ stolen second: 2      log of thread 1   |1            |
//! ```
//!
//! Thieves steal the outer forks of a strand first, and the nodes of inner forks come before those of
//! outer forks. So the thief of an inner fork waits until the forks stolen before it have their nodes.
//! The study does not describe how it keeps two thieves from overtaking each other. Bytes written after
//! a join would land in the wrong place, as in the study, whose benchmark writes nothing there. Here it
//! is an error if a strand writes again after another strand used its thread.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use rayon::ThreadPool;
use swath_os::locks::Mutex;

use super::{BUFFER, SharedOrder, with_bytes};
use crate::fib::{Call, Fib};
use crate::order::linked::LinkedList;
use crate::order::skip::SkipList;
use crate::order::{Handle, Item, Order};

/// The pieces of the file in serial order, `(log, offset, len)`, and the number of steals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftPieces {
    pub(super) pieces: Vec<(usize, u64, u64)>,
    pub(super) steals: u64,
}

/// The order of nodes, for many threads.
enum SharedNodes {
    List(Mutex<LinkedList>),
    /// Boxed, because it is much larger.
    Skip(Box<SkipList>),
}

impl SharedNodes {
    fn new(kind: SharedOrder) -> Self {
        match kind {
            SharedOrder::List => Self::List(Mutex::new(LinkedList::new())),
            SharedOrder::Skip => Self::Skip(Box::new(SkipList::new())),
        }
    }

    /// Inserts the first node, or a node directly after another.
    fn insert(&self, after: Option<Handle>, item: Item) -> io::Result<Handle> {
        let inserted = match (self, after) {
            (Self::List(list), None) => Some(list.lock().push(item)),
            (Self::List(list), Some(node)) => list.lock().insert_after(node, item),
            (Self::Skip(list), None) => Some(list.push_shared(item)),
            (Self::Skip(list), Some(node)) => list.insert_after_shared(node, item),
        };
        inserted.ok_or_else(|| io::Error::other("a node is gone"))
    }

    fn update(&self, node: Handle, item: Item) -> io::Result<()> {
        let updated = match self {
            Self::List(list) => list.lock().update(node, item),
            Self::Skip(list) => list.update_shared(node, item),
        };
        updated.map(drop).ok_or_else(|| io::Error::other("a node is gone"))
    }

    fn items(&self) -> Vec<Item> {
        match self {
            Self::List(list) => list.lock().iter().map(|it| it.1).collect(),
            Self::Skip(list) => list.iter().map(|it| it.1).collect(),
        }
    }
}

/// A thread's log, and its length.
struct Log {
    file: BufWriter<File>,
    len: u64,
}

/// The calls that one thread runs without a steal between them.
struct ThreadStrand {
    node: Handle,
    log: usize,
    start: u64,
    len: AtomicU64,
    /// The number of stolen forks of this strand that have their nodes.
    placed: AtomicUsize,
}

struct ForkRun<'f> {
    fib: &'f Fib,
    nodes: SharedNodes,
    logs: Vec<Mutex<Log>>,
    steals: AtomicU64,
}

/// Runs the tree in `pool`, and writes a log for each thread to `folder`.
///
/// # Errors
///
/// The first error of a write.
pub(super) fn append(
    fib: &Fib,
    pool: &ThreadPool,
    folder: &Path,
    kind: SharedOrder,
) -> io::Result<LeftPieces> {
    let open = |thread: usize| {
        let file = File::create(folder.join(thread.to_string()))?;
        Ok(Mutex::new(Log { file: BufWriter::with_capacity(BUFFER, file), len: 0 }))
    };
    let logs = (0..pool.current_num_threads()).map(open).collect::<io::Result<_>>()?;
    let run = ForkRun { fib, nodes: SharedNodes::new(kind), logs, steals: AtomicU64::new(0) };
    pool.install(|| run.strand(None, fib.root()))?;
    let pieces = run.nodes.items();
    let piece = |item: Item| (item.segment as usize, item.offset, item.len);
    for log in run.logs {
        log.into_inner().file.flush()?;
    }
    let steals = run.steals.into_inner();
    Ok(LeftPieces { pieces: pieces.into_iter().map(piece).collect(), steals })
}

impl ForkRun<'_> {
    /// Begins a strand, after its victim's node if it was stolen.
    fn strand(&self, stolen: Option<(&ThreadStrand, usize)>, call: Call) -> io::Result<()> {
        let log = rayon::current_thread_index().unwrap_or(0);
        let start = self.logs[log].lock().len;
        let segment = u32::try_from(log).unwrap_or(u32::MAX);
        let item = Item { segment, offset: start, len: 0 };
        if let Some((victim, forks)) = stolen {
            // No deadlock: an earlier thief waits here in another thread, and only for thieves before it.
            while victim.placed.load(SeqCst) < forks {
                std::thread::yield_now();
            }
        }
        let node = self.nodes.insert(stolen.map(|(victim, _)| victim.node), item);
        if let Some((victim, _)) = stolen {
            victim.placed.fetch_add(1, SeqCst);
            self.steals.fetch_add(1, SeqCst);
        }
        let (len, placed) = (AtomicU64::new(0), AtomicUsize::new(0));
        let own = ThreadStrand { node: node?, log, start, len, placed };
        self.go(&own, 0, call)?;
        self.nodes.update(own.node, Item { len: own.len.into_inner(), ..item })
    }

    /// Runs a call of the strand inside of `forks` forks.
    fn go(&self, strand: &ThreadStrand, forks: usize, call: Call) -> io::Result<()> {
        with_bytes(self.fib, call, |bytes| self.write(strand, bytes))?;
        let Some([left, right]) = self.fib.branches(call) else { return Ok(()) };
        let (a, b) = rayon::join_context(
            |_| self.go(strand, forks + 1, left),
            |context| match context.migrated() {
                true => self.strand(Some((strand, forks)), right),
                false => self.go(strand, forks, right),
            },
        );
        a.and(b)
    }

    fn write(&self, strand: &ThreadStrand, bytes: &[u8]) -> io::Result<()> {
        let mut log = self.logs[strand.log].lock();
        if log.len != strand.start + strand.len.load(SeqCst) {
            return Err(io::Error::other("a strand writes after another one of its thread"));
        }
        log.file.write_all(bytes)?;
        log.len += bytes.len() as u64;
        strand.len.fetch_add(bytes.len() as u64, SeqCst);
        Ok(())
    }
}
