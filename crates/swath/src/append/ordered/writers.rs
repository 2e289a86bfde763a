//! Threads that only write chunks that have a place.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::append::ordered::tickets::Tickets;
use crate::threads;

/// Starts up to `count` writers; without any, the threads that finish tickets write.
pub(super) fn start(tickets: &Arc<Tickets>, count: usize) -> Vec<JoinHandle<()>> {
    let start = |index: usize| {
        let tickets = Arc::clone(tickets);
        threads::start_for_good(index, Box::new(move || tickets.write_on()))
    };
    let started: Vec<_> = (0..count).map_while(|index| start(index).ok()).collect();
    tickets.hire(started.len());
    started
}
