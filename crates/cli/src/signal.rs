//! Ctrl-C and similar signals, for commands that take long and leave nothing unfinished.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use swath::CancelToken;
use swath_study::{hidden, threads};

use crate::output::complain;

/// The first signal finishes the current run and says so, the second one ends the program. If no thread
/// can be started to wait for signals, the first one ends the program.
pub(crate) fn stop_on_signal(cancel: &CancelToken) -> Result<()> {
    static AGAIN: AtomicBool = AtomicBool::new(false);
    let cancel = cancel.clone();
    let stop = move || {
        // Relaxed: it guards nothing.
        if AGAIN.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        cancel.cancel();
        complain("stopping after the current run; Ctrl-C again ends it at once");
    };
    if !can_wait() {
        complain(
            "note: no thread can be started to wait for Ctrl-C, so it ends the program at once",
        );
        return Ok(());
    }
    ctrlc::set_handler(stop).context("cannot wait for Ctrl-C")
}

/// Whether a signal is about to end the program.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Does not return once a signal is about to end the program: an error that the command meets then, such
/// as a folder that is gone, is not reported.
pub(crate) fn let_it_end() {
    // Pairs with the store in `remove_on_signal`.
    while ENDING.load(Ordering::Acquire) {
        std::thread::park();
    }
}

/// Removes `folder` when a signal arrives, and ends the program. If that is not possible, the next run
/// that makes such a folder removes it.
pub(crate) fn remove_on_signal(folder: &Path) {
    if !can_wait() {
        return;
    }
    let folder = folder.to_owned();
    let _ = ctrlc::set_handler(move || {
        // Release: pairs with the load in `let_it_end`.
        ENDING.store(true, Ordering::Release);
        // The program ends, and the next run tries again.
        let _ = hidden::remove(&folder);
        std::process::exit(130);
    });
}

/// Whether a thread can be started that waits for signals. Without one, a handler would swallow them and
/// nothing would stop the program.
fn can_wait() -> bool {
    threads::available(2) == 2
}
