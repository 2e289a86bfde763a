//! A loop over items on several threads, with the output of the serial loop.

use swath_os::machine;
use swath_plan::fallback::Fallback;

use crate::append::ordered::{Ordered, Ticket};
use crate::error::{Error, Result};
use crate::failures::{FailureLog, caught};
use crate::locks::Mutex;
use crate::threads;
use crate::timeline::{Activity, Recorder};

/// The state that the workers of one loop share.
struct MapLoop<'l, I, F, E> {
    ordered: &'l Ordered,
    f: &'l F,
    /// `None` once no more items are taken.
    items: Mutex<Option<I>>,
    failures: FailureLog<E>,
}

/// See [`Ordered::map_ordered`].
pub(super) fn run<I, F, E>(
    ordered: &Ordered,
    items: I,
    workers: usize,
    f: &F,
) -> std::result::Result<(), E>
where
    I: Iterator<Item: Send> + Send,
    F: Fn(I::Item, &mut Ticket) -> std::result::Result<(), E> + Sync,
    E: From<Error> + Send,
{
    let workers = if workers == 0 { machine::usable_cpus() } else { workers };
    ordered.tickets().widen(workers);
    let items = Mutex::new(Some(items));
    let work = MapLoop { ordered, f, items, failures: FailureLog::default() };
    if let Some((started, error)) = threads::run(workers, &|_| work.work()) {
        ordered.tickets().fell_back(Fallback::not_started(started, &error));
    }
    ordered.end(&work.failures)
}

impl<I, F, E> MapLoop<'_, I, F, E>
where
    I: Iterator<Item: Send> + Send,
    F: Fn(I::Item, &mut Ticket) -> std::result::Result<(), E> + Sync,
    E: From<Error> + Send,
{
    fn work(&self) {
        let mut recorder = self.ordered.tickets().recorder();
        loop {
            // Unwind-safe: after a panic the items are gone and the ticket poisons the output. The
            // item that poisoned the output has a smaller number, or none.
            let next = self.failures.attempt(u64::MAX, || Ok(self.next()?));
            recorder.waited();
            match next.flatten() {
                Some((item, ticket)) => self.call(item, ticket, &mut recorder),
                None => return,
            }
        }
    }

    /// Returns the next item and its place. Holds the lock while the window is full: the other
    /// workers wait for room too.
    fn next(&self) -> Result<Option<(I::Item, Ticket)>> {
        let mut items = self.items.lock();
        // Put back only if the iterator returns: it is not called again after a panic.
        let Some(mut rest) = items.take() else { return Ok(None) };
        // A panic counts as an item too: its place, never filled, poisons the output.
        let item = caught(|| rest.next());
        if let Ok(None) = item {
            return Ok(None);
        }
        let ticket = self.ordered.ticket();
        match item {
            Err(panic) => {
                let index = ticket.as_ref().map_or(u64::MAX, Ticket::index);
                self.failures.panicked(index, panic);
                Ok(None)
            }
            Ok(item) => {
                let ticket = ticket?;
                *items = Some(rest);
                Ok(item.map(|item| (item, ticket)))
            }
        }
    }

    fn call(&self, item: I::Item, mut ticket: Ticket, recorder: &mut Recorder) {
        let called = self.failures.attempt(ticket.index(), || {
            let made = (self.f)(item, &mut ticket);
            let len = ticket.buffer().len() as u64;
            recorder.lap_if(&made, Activity::Compute, 0, len);
            made?;
            Ok(ticket.done()?)
        });
        // The write has been recorded already.
        recorder.mark();
        if called.is_none() {
            // Another worker must not wait for a full window for ever: the dropped ticket has
            // poisoned the output.
            *self.items.lock() = None;
        }
    }
}
