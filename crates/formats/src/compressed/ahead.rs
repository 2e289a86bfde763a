//! Decodes in order on one thread, while others write.
//!
//! A decoder keeps reading its recent output from the cache of its core. If threads took turns to
//! decode and to write, all of that would move from core to core.

use std::panic::resume_unwind;
use std::sync::mpsc::{IntoIter, sync_channel};
use std::thread::{Builder, scope};

use swath::machine::Mutex;

/// The most items that may wait to be written.
const WAITING: usize = 2;

/// Items from a thread, or from the iterator on demand.
pub(super) enum DecodedAhead<'i, I: Iterator> {
    Thread(IntoIter<I::Item>),
    Here(&'i Mutex<&'i mut I>),
}

impl<I: Iterator> Iterator for DecodedAhead<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        match self {
            Self::Thread(items) => items.next(),
            Self::Here(items) => items.lock().next(),
        }
    }
}

/// Calls `work` with `items`, which a thread takes from the iterator if one can be started. Resumes
/// a panic of that thread here.
pub(super) fn ahead<I, R>(items: &mut I, work: impl FnOnce(DecodedAhead<'_, I>) -> R) -> R
where
    I: Iterator<Item: Send> + Send,
{
    let items = Mutex::new(items);
    scope(|scope| {
        let (give, taken) = sync_channel(WAITING);
        let make = || {
            let give = give;
            let mut items = items.lock();
            // Sending fails if the receiver stopped after an error.
            while let Some(item) = items.next()
                && give.send(item).is_ok()
            {}
        };
        let thread =
            Builder::new().name(String::from("swath-decode")).spawn_scoped(scope, make);
        let Ok(thread) = thread else { return work(DecodedAhead::Here(&items)) };
        let done = work(DecodedAhead::Thread(taken.into_iter()));
        if let Err(panic) = thread.join() {
            resume_unwind(panic);
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_and_the_rest_stays() {
        let mut numbers = 0..1_000_usize;
        let taken: Vec<usize> = ahead(&mut numbers, |items| items.take(10).collect());
        assert_eq!(taken, (0..10).collect::<Vec<_>>());
        let next = numbers.next().expect("many are left");
        assert!((11..=10 + WAITING + 2).contains(&next), "{next}");
        let rest: Vec<usize> = ahead(&mut numbers, |items| items.collect());
        assert_eq!(rest, (next + 1..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_of_the_thread_goes_on_in_the_caller() {
        let mut items = (0..10).inspect(|&at| assert!(at < 5, "the fifth"));
        let all = std::panic::AssertUnwindSafe(|| ahead(&mut items, |items| items.count()));
        let panic = std::panic::catch_unwind(all).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the fifth"));
    }
}
