//! A loop over items on several threads, that leaves what the serial loop would have left.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use swath_os::machine;

use crate::append::ordered::{Ordered, Ticket};
use crate::error::{Error, Result};
use crate::timeline::{Activity, Recorder};

/// What is shared by the workers of one loop.
struct Loop<'l, I, F, E> {
    ordered: &'l Ordered,
    f: &'l F,
    /// `None` once nobody is to take another item.
    items: Mutex<Option<I>>,
    first: Mutex<Option<(u64, End<E>)>>,
}

/// Why the loop does not go on.
enum End<E> {
    Failed(E),
    Panicked(Box<dyn Any + Send>),
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
    ordered.shared().widen(workers);
    let work = Loop { ordered, f, items: Mutex::new(Some(items)), first: Mutex::new(None) };
    std::thread::scope(|scope| {
        for worker in 1..workers {
            let thread = std::thread::Builder::new().name(format!("swath-{worker}"));
            if let Err(error) = thread.spawn_scoped(scope, || work.work()) {
                let what = format!("worker {worker} not started ({error})");
                ordered.shared().fell_back(what);
                break;
            }
        }
        work.work();
    });
    match lock(&work.first).take() {
        None => Ok(()),
        Some((_, End::Failed(error))) => Err(error),
        Some((_, End::Panicked(panic))) => resume_unwind(panic),
    }
}

impl<I, F, E> Loop<'_, I, F, E>
where
    I: Iterator<Item: Send> + Send,
    F: Fn(I::Item, &mut Ticket) -> std::result::Result<(), E> + Sync,
    E: From<Error> + Send,
{
    fn work(&self) {
        let mut recorder = self.ordered.shared().recorder();
        loop {
            // Nothing is looked at after a panic but what is whole again: the lock of the items
            // is emptied, a ticket poisons.
            let next = catch_unwind(AssertUnwindSafe(|| self.next()));
            recorder.waited();
            match next {
                Ok(Ok(Some((item, ticket)))) => self.call(item, ticket, &mut recorder),
                Ok(Ok(None)) => return,
                // Whoever spoiled it has a smaller number, or none.
                Ok(Err(error)) => return self.end(u64::MAX, End::Failed(error.into())),
                Err(panic) => return self.end(u64::MAX, End::Panicked(panic)),
            }
        }
    }

    /// The next item and its place. The lock is held while the window is full: the others wait
    /// for the same.
    fn next(&self) -> Result<Option<(I::Item, Ticket)>> {
        let mut items = lock(&self.items);
        // Put back only if the iterator returns: it is not asked again after a panic.
        let Some(mut rest) = items.take() else { return Ok(None) };
        let Some(item) = rest.next() else { return Ok(None) };
        let ticket = self.ordered.ticket()?;
        *items = Some(rest);
        Ok(Some((item, ticket)))
    }

    fn call(&self, item: I::Item, mut ticket: Ticket, recorder: &mut Recorder) {
        let index = ticket.index();
        let called = catch_unwind(AssertUnwindSafe(|| {
            let made = (self.f)(item, &mut ticket);
            let len = ticket.buffer().len() as u64;
            recorder.lap_if(&made, Activity::Compute, (0, len));
            made?;
            Ok(ticket.done()?)
        }));
        // What was written is told already.
        recorder.mark();
        match called {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.end(index, End::Failed(error)),
            Err(panic) => self.end(index, End::Panicked(panic)),
        }
    }

    /// Remembers why item `index` was the last, unless an earlier one was.
    fn end(&self, index: u64, end: End<E>) {
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|(other, _)| index < *other) {
            *first = Some((index, end));
        }
        drop(first);
        // Not under a full window for ever: the ticket that ended has poisoned the file.
        *lock(&self.items) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
