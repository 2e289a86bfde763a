//! Ctrl-C, for commands that take long and leave nothing unfinished behind.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use swath::CancelToken;

/// The first signal lets the run on its way end, the second one ends the program.
pub(crate) fn stop_on_signal(cancel: &CancelToken) -> Result<()> {
    static AGAIN: AtomicBool = AtomicBool::new(false);
    let cancel = cancel.clone();
    let stop = move || {
        // Relaxed: it guards nothing.
        if AGAIN.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        cancel.cancel();
    };
    ctrlc::set_handler(stop).context("cannot wait for Ctrl-C")
}
