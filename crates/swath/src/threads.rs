//! The threads of one call: named, started in one place, and done with fewer of them where the machine
//! has no more.
//!
//! Nothing here is generic: what starts threads would be compiled again for every closure that runs on
//! one.

use std::io;
use std::ops::Range;
use std::thread::{Builder, Scope};

/// Runs `work(slot)` for each of `slots` on a thread of its own, and `here` on this one, which hears
/// which slot is the first without a thread, and why. Returns when all have ended.
pub(crate) fn beside(
    slots: Range<usize>,
    work: &(dyn Fn(usize) + Sync),
    here: &mut dyn FnMut(usize, Option<io::Error>),
) {
    std::thread::scope(|scope| {
        let mut refused = None;
        let mut started = slots.start;
        while started < slots.end {
            if let Err(error) = start(scope, started, work) {
                refused = Some(error);
                break;
            }
            started += 1;
        }
        here(started, refused);
    });
}

/// Starts the thread of one slot.
///
/// # Errors
///
/// Those of starting a thread.
pub(crate) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    slot: usize,
    work: &'scope (dyn Fn(usize) + Sync),
) -> io::Result<()> {
    let thread = Builder::new().name(format!("swath-{slot}"));
    thread.spawn_scoped(scope, move || work(slot)).map(drop)
}
