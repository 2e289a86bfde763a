//! Threads that do nothing but write what has a place.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::append::ordered::shared::Shared;

/// Starts `count` of them, or as many as can be; with none, those who finish tickets write.
pub(super) fn start(shared: &Arc<Shared>, count: usize) -> Vec<JoinHandle<()>> {
    let start = |index: usize| {
        let shared = Arc::clone(shared);
        let thread = thread::Builder::new().name(format!("swath-write-{index}"));
        thread.spawn(move || shared.write_on())
    };
    let started: Vec<_> = (0..count).map_while(|index| start(index).ok()).collect();
    shared.hire(started.len());
    started
}
