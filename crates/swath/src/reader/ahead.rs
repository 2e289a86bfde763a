//! Workers that read ahead of one position, block by block.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, Facts, Wishes, block_size, decide, in_order};
use swath_plan::schedule::{Lease, Way};
use swath_plan::window::Residency;

use super::BLOCK_SIZE;
use crate::buffer::{Buffer, BufferPool};
use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, ReadJob, Visit, worker};
use crate::error::Result;
use crate::locks::{Condvar, Mutex};
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::planned::{Planned, WINDOWS, facts};
use crate::source::OpenSource;
use crate::threads;

/// Blocks that may be ready or in flight, for each worker.
const AHEAD: u64 = 3;
/// Bytes of a block of a cached file: all blocks stay in the cache that the cores share. With 1 MiB, the XXH3 of 64 MiB
/// takes 1.3 times as long.
const CACHED_BLOCK: u64 = 256 << 10;
/// Windows inspected after a seek, which may be one of many. Others are read past the page cache, even if they are
/// cached, where the file is too large to be kept.
const AFTER_SEEK: usize = 128;

/// Workers that read ahead of one position.
pub(super) struct Ahead {
    shared: Arc<SharedAhead>,
    threads: Vec<JoinHandle<()>>,
}

struct SharedAhead {
    job: ReadJob<'static>,
    blocks: Mutex<Blocks>,
    arrived: Condvar,
    pool: BufferPool,
    /// Bytes of a block, with room for widened direct reads.
    room: usize,
}

#[derive(Default)]
struct Blocks {
    /// Buffers of ready blocks, by offset.
    ready: BTreeMap<u64, Buffer>,
    free: Vec<Buffer>,
    running: usize,
}

impl Ahead {
    /// Starts workers; returns `None` if no thread can be started.
    pub(super) fn start(
        source: &Arc<OpenSource>,
        rest: Extent,
        options: &ReadOptions,
        observer: &Observer,
        is_after_seek: bool,
    ) -> Option<Self> {
        let windows = if is_after_seek { AFTER_SEEK } else { WINDOWS };
        let facts = facts(source, rest, options, windows);
        let decision = decision(&facts, options);
        // A reader has no report that could list a fallback.
        let planned = Planned::decided(source, facts, options, decision);
        let workers = planned.decision.first_workers();
        // Later workers hold one block each.
        let blocks = workers as u64 * (AHEAD - 1) + planned.decision.workers.len() as u64;
        let job = planned.job(observer.clone(), planned.leases(blocks)).ok()?;
        let shared = Arc::new(SharedAhead {
            job,
            blocks: Mutex::new(Blocks { running: workers, ..Blocks::default() }),
            arrived: Condvar::new(),
            pool: options.pool.clone(),
            room: planned.scratch_size(true),
        });
        let mut handles = Vec::new();
        for slot in 0..workers {
            let worker = Arc::clone(&shared);
            let read_ahead = move || {
                let _ended = WorkerExit(&worker);
                let work = |slot| worker::work(&worker.job, &*worker, slot);
                match slot {
                    0 => worker::with_crew(&worker.job.running, &work, slot),
                    _ => work(slot),
                }
            };
            match threads::start_for_good(slot, Box::new(read_ahead)) {
                Ok(handle) => handles.push(handle),
                Err(_) if handles.is_empty() => return None,
                Err(_) => {
                    shared.blocks.lock().running -= workers - slot;
                    break;
                }
            }
        }
        Some(Self { shared, threads: handles })
    }

    /// Resumes the panic of the caller's code that ended a worker, if one did.
    pub(super) fn resume_panic(&self) {
        self.shared.job.running.resume_panic();
    }

    /// Waits for the block at `offset`, or for the error that prevents it; `None` if it will not come
    /// and there is no error.
    pub(super) fn take(&self, offset: u64) -> Result<Option<Buffer>> {
        let shared = &self.shared;
        shared.job.release(offset);
        let mut recorder = shared.job.running.observer.recorder(shared.job.source.name());
        let mut blocks = shared.blocks.lock();
        loop {
            if let Some(block) = blocks.ready.remove(&offset) {
                recorder.waited();
                return Ok(Some(block));
            }
            if blocks.running == 0 {
                return shared.job.running.failure().map_or(Ok(None), Err);
            }
            blocks = shared.arrived.wait(blocks);
        }
    }

    pub(super) fn give_back(&self, block: Buffer) {
        if block.capacity() >= self.shared.room {
            self.shared.blocks.lock().free.push(block);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.job.running.stop();
        for thread in self.threads.drain(..) {
            // A panic in a worker is kept, and resumes when its bytes are needed.
            let _ = thread.join();
        }
    }
}

/// Counts down a worker when dropped, even by a panic, so that no thread waits for it.
struct WorkerExit<'s>(&'s SharedAhead);

impl Drop for WorkerExit<'_> {
    fn drop(&mut self) {
        self.0.blocks.lock().running -= 1;
        self.0.arrived.notify_all();
    }
}

impl SharedAhead {}

impl Visit for SharedAhead {
    type Scratch = ();

    fn scratch(&self) -> Result<()> {
        Ok(())
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        (): &mut (),
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let used = self.blocks.lock().free.pop();
        let mut block = match used {
            Some(block) => block,
            None => {
                self.job.source.block(&self.pool, self.room).map_err(LeaseTrouble::fatal)?
            }
        };
        block.narrow(0, self.room);
        let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
        let skip = match lease.way {
            Way::Direct => hands.fill_units(lease.extent, &mut block)?,
            Way::Buffered => {
                hands.fill_once(Way::Buffered, lease.extent.offset(), &mut block[..len])?;
                0
            }
        };
        block.narrow(skip, len);
        self.blocks.lock().ready.insert(lease.extent.offset(), block);
        self.arrived.notify_all();
        Ok(())
    }
}

fn decision(facts: &Facts, options: &ReadOptions) -> Decision {
    let mut wishes = Wishes { ..options.wishes };
    if wishes.chunk_size == 0 {
        let is_cached = facts.residency.iter().all(|&known| known == Residency::Resident);
        let usual =
            if is_cached && !facts.residency.is_empty() { CACHED_BLOCK } else { BLOCK_SIZE };
        wishes.chunk_size = block_size(facts, usual);
    }
    if matches!(wishes.engine, Engine::Ring | Engine::Map) {
        wishes.engine = Engine::Pool;
    }
    let facts = Facts { ring: false, ..facts.clone() };
    let mut decision = decide(&facts, &wishes);
    // A block is one read.
    decision.cut.size = decision.chunk_size;
    in_order(decision, facts.extent)
}
