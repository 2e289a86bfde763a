//! Ctrl-C and similar signals: commands leave nothing unfinished, and commands that take long finish
//! their current run first.
//!
//! A thread waits for the signals of every command that writes. It removes what must not stay, and ends the
//! program by the same signal. If it cannot be started, a signal ends the program at once, as it does for
//! commands that only read.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Builder;

use swath::CancelToken;
use swath::machine::{EndingSignals, Locks, end_by, pass_on};
use swath_study::hidden;

use crate::output::complain;

/// What the first signal does before it ends the program.
enum First {
    /// It removes the lock files of writers, as every signal does.
    End,
    /// It also removes a folder. If that is not possible, the next run that makes such a folder does it.
    Remove(PathBuf),
    /// It ends the current run only; the second one ends the program.
    Stop(CancelToken),
}

static FIRST: Mutex<First> = Mutex::new(First::End);
/// Whether a thread waits for signals.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether a signal is about to end the program.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Programs that the command has started: a signal ends them before it ends the command, whose end they
/// would take for the end of their input.
static CHILDREN: Mutex<Vec<Weak<Mutex<Child>>>> = Mutex::new(Vec::new());

/// Bytes of stack of the thread: it does little.
const STACK: usize = 256 << 10;

fn first() -> MutexGuard<'static, First> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Signals are received by a thread until this is dropped.
#[derive(Debug)]
pub(crate) struct Watch(EndingSignals);

impl Watch {
    /// Begins before the command starts any thread. `None`: signals end the program at once.
    pub(crate) fn begin() -> Option<Self> {
        let signals = EndingSignals::hold().ok()?;
        let watch = Self(signals);
        // Relaxed: all of this is one thread. A program may run several commands, one after the other.
        if !IS_WATCHED.load(Ordering::Relaxed) {
            let locks = Locks::watch();
            let thread = Builder::new().name(String::from("swath-signals")).stack_size(STACK);
            // Without a thread, `watch` is dropped.
            thread.spawn(move || wait(signals, locks)).ok()?;
            IS_WATCHED.store(true, Ordering::Relaxed);
        }
        Some(watch)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *first() = First::End;
        // It does not fail.
        let _ = self.0.release();
    }
}

fn wait(signals: EndingSignals, locks: Locks) {
    while let Ok(signal) = signals.wait() {
        match std::mem::replace(&mut *first(), First::End) {
            First::Stop(cancel) => {
                cancel.cancel();
                complain("stopping after the current run; Ctrl-C again ends it at once");
                continue;
            }
            First::End => {}
            First::Remove(folder) => {
                // Release: pairs with the load in `let_it_end`.
                ENDING.store(true, Ordering::Release);
                // Removing may take long: another signal ends the program at once.
                let _ = signals.release();
                // The program ends, and the next run tries again.
                let _ = hidden::remove(&folder);
            }
        }
        end_children(signal);
        let _ = signals.release();
        locks.remove();
        end_by(signal);
    }
}

fn end_children(signal: i32) {
    let children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    for child in children.iter().filter_map(Weak::upgrade) {
        // Release: pairs with the load in `let_it_end`. Before the child ends, which is not an error then.
        ENDING.store(true, Ordering::Release);
        // A child that cannot be sent a signal goes on, and finds its pipes closed.
        let _ = pass_on(signal, &mut child.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A signal that ends the command is passed on to `child` first, until all owners have dropped it.
pub(crate) fn pass_on_to(child: &Arc<Mutex<Child>>) {
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    children.retain(|child| child.strong_count() > 0);
    children.push(Arc::downgrade(child));
}

/// Does not return once a signal is about to end the program: an error that the command meets then, such
/// as a folder that is gone, is not reported.
pub(crate) fn let_it_end() {
    // Pairs with the store in `wait`.
    while ENDING.load(Ordering::Acquire) {
        std::thread::park();
    }
}

/// The first signal finishes the current run and says so, the second one ends the program.
pub(crate) fn stop_on_signal(cancel: &CancelToken) {
    if !IS_WATCHED.load(Ordering::Relaxed) {
        complain(
            "note: no thread can be started to wait for Ctrl-C, so it ends the program at once",
        );
    }
    *first() = First::Stop(cancel.clone());
}

/// A signal removes `folder` and ends the program.
pub(crate) fn remove_on_signal(folder: &Path) {
    *first() = First::Remove(folder.to_owned());
}
