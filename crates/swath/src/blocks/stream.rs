//! A source that only comes in order: read by one worker at a time, taken apart by all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swath_os::machine;
use swath_plan::policy::{Engine, MOST_IN_FLIGHT};

use crate::blocks::consume::Consume;
use crate::blocks::plan::{Plan, Start};
use crate::engine::stream::{Stream, report};
use crate::error::Result;
use crate::failures::caught;
use crate::observe::Observer;
use crate::records::flow::{Flow, LEAST_TAIL};
use crate::records::piece::Grid;
use crate::records::window::Window;
use crate::report::{Report, Tally};
use crate::source::{Kind, Opened};

/// One stream while it is read.
pub(crate) struct StreamRun {
    source: Arc<Opened>,
    observer: Observer,
    plan: Arc<Plan>,
    slots: usize,
    reading: Mutex<Reading>,
}

struct Reading {
    flow: Flow,
    next_piece: u64,
}

impl StreamRun {
    /// Skips what is to be skipped.
    pub(crate) fn new(
        plan: &Arc<Plan>,
        source: Arc<Opened>,
        start: Start,
        observer: &Observer,
    ) -> Result<Self> {
        let options = &plan.options;
        let stream = Stream::starting(&source, observer, options)?;
        let base = options.offset;
        let flow = Flow {
            cut: plan.cut,
            grid: Grid {
                base,
                size: plan.block_size,
                first: start.block,
                source: start.source,
            },
            record_limit: plan.record_limit,
            memory: plan.memory,
            end: options.len.map(|len| base.saturating_add(len)),
            past: stream.pause(),
            carry: Vec::new(),
            tail: LEAST_TAIL,
            at_end: false,
            has_ended: false,
        };
        let slots = match (options.wishes.engine, options.wishes.workers) {
            (Engine::Serial, _) => 1,
            // What the kernel makes when it is read is little.
            (_, 0) if source.kind() == Kind::Made => 1,
            (_, 0) => machine::usable_cpus(),
            (_, workers) => usize::try_from(workers.min(MOST_IN_FLIGHT)).unwrap_or(1),
        };
        Ok(Self {
            source,
            observer: observer.clone(),
            plan: Arc::clone(plan),
            slots,
            reading: Mutex::new(Reading { flow, next_piece: start.piece }),
        })
    }

    /// Workers that take it apart.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Where the next source starts, when this one has ended.
    pub(crate) fn next_start(&self) -> Start {
        let reading = self.reading();
        let Grid { source, .. } = reading.flow.grid;
        let block = reading.flow.grid.behind(reading.flow.offset());
        Start { piece: reading.next_piece, block, source: source + 1 }
    }

    /// Reads and takes apart what is left.
    pub(crate) fn work(&self, consumer: &dyn Consume) {
        let mut window = Window::new(self.plan.options.pool.clone());
        let is_over = || consumer.failures().any();
        let mut recorder = self.observer.recorder(self.source.name());
        loop {
            let mut reading = self.reading();
            // For whoever reads it now.
            recorder.waited();
            if is_over() {
                return;
            }
            let number = reading.next_piece;
            let flow = &mut reading.flow;
            // After a panic in it, of a callback about progress say, a flow has ended.
            match caught(|| flow.next(&self.source, &self.observer, &mut window)) {
                Ok(Ok(None)) => return,
                Ok(Ok(Some(piece))) => {
                    reading.next_piece += 1;
                    drop(reading);
                    let (offset, len) = (piece.offset, piece.bytes.len() as u64);
                    recorder.mark();
                    consumer.consume(number, Some(piece), &is_over);
                    recorder.lap(self.plan.words.activity, offset, len);
                    continue;
                }
                Ok(Err(error)) => consumer.failures().not_read(number, error),
                Err(panic) => consumer.failures().panicked(number, panic),
            }
            return consumer.lost(number);
        }
    }

    /// How it went.
    pub(crate) fn finish(self) -> Report {
        let tally = Tally { ..self.reading().flow.past.tally };
        let mut report = report(&self.source, tally);
        report.workers = self.slots as u64;
        report.chunk_size = self.plan.block_size.get();
        report.chunks = report.bytes.div_ceil(report.chunk_size);
        report
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        // After a panic in it a flow has ended.
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
