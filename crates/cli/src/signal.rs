//! Ctrl-C and similar signals: commands leave no unfinished files, and long commands finish their
//! current run first.
//!
//! A thread waits for the signals of every command that writes. It removes unfinished files, and ends the program
//! by the same signal. If the thread cannot be started, a signal ends the program at once, as it does for commands
//! that only read.
//!
//! A command that runs programs of the user gives each a process group of its own, and passes on all signals that
//! end, stop or continue it:
//!
//! ```text
//! Ctrl-C ──SIGINT──▶ swath ──SIGINT──▶ the groups, then swath ends by SIGINT
//! Ctrl-Z ──SIGTSTP─▶ swath ──SIGTSTP─▶ the groups, then swath stops
//! fg     ──SIGCONT─▶ swath ──SIGCONT─▶ the groups
//! ```

use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Builder;

use swath::CancelToken;
use swath::machine::{EndDelay, Locks};
use swath_os::ending::{EndingSignals, end_by, stop};
use swath_os::group::{Group, Grouping};
use swath_os::hidden::{self, HiddenPlace};
use swath_os::locks::{Mutex, MutexGuard};

use crate::output::complain;

/// The action of the first signal before the program ends.
enum First {
    /// Removes the lock files of writers, as every signal does.
    End,
    /// Also removes a folder. If that fails, the next run that creates such a folder does it.
    Remove(HiddenPlace),
    /// Ends only the current run; the second signal ends the program.
    Stop(CancelToken),
}

static FIRST: Mutex<First> = Mutex::new(First::End);
/// Whether a thread waits for signals.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether a signal is about to end the program.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Programs that the command has started: a signal ends them before the command, whose end they would take for
/// the end of their input. While this is locked, no program is started.
static CHILDREN: Mutex<Vec<Weak<Mutex<Group>>>> = Mutex::new(Vec::new());

/// Bytes of stack for the thread, which needs little.
const STACK: usize = 256 << 10;

fn first() -> MutexGuard<'static, First> {
    FIRST.lock()
}

/// The signals that the thread receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// `SIGHUP`, `SIGINT` and `SIGTERM`.
    Ending,
    /// All that end, stop or continue the program.
    All,
}

/// Until this is dropped, a thread receives signals.
#[derive(Debug)]
pub(crate) struct Watch(EndingSignals);

impl Watch {
    /// Begins to watch, before the command starts any thread. `None`: signals end the program at once.
    pub(crate) fn begin(held: Held) -> Option<Self> {
        let signals = EndingSignals::hold_all().ok()?;
        let mut watch = Self(signals);
        // Relaxed: only one thread runs this. A program may run several commands, one after the other.
        if !IS_WATCHED.load(Ordering::Relaxed) {
            let locks = Locks::watch();
            let thread = Builder::new().name(String::from("swath-signals")).stack_size(STACK);
            // The thread waits for all signals, which a later command may need. Without a thread, `watch` is dropped.
            thread.spawn(move || wait(signals, locks)).ok()?;
            IS_WATCHED.store(true, Ordering::Relaxed);
        }
        if held == Held::Ending {
            watch.0 = signals.narrowed().ok()?;
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
        if let EndingSignals::STOP | EndingSignals::GO_ON = signal {
            pause(signal);
            continue;
        }
        match std::mem::replace(&mut *first(), First::End) {
            First::Stop(cancel) => {
                cancel.cancel();
                complain("stopping after the current run; Ctrl-C again ends it at once");
                continue;
            }
            // Release: pairs with the loads in `let_it_end` and `is_ending`.
            First::End => ENDING.store(true, Ordering::Release),
            First::Remove(folder) => {
                // Release: pairs with the load in `let_it_end`.
                ENDING.store(true, Ordering::Release);
                // Removing may take long: another signal ends the program at once.
                let _ = signals.release();
                // The program ends, and the next run tries again.
                let _ = hidden::remove(&folder);
            }
        }
        // No program is started after this.
        let _children = end_children(signal);
        let _ = signals.release();
        let _no_locks = locks.remove();
        // A folder that was created after the signal came.
        if let First::Remove(folder) = std::mem::replace(&mut *first(), First::End) {
            let _ = hidden::remove(&folder);
        }
        end_by(signal);
    }
}

type Children = MutexGuard<'static, Vec<Weak<Mutex<Group>>>>;

fn children() -> Children {
    CHILDREN.lock()
}

/// Sends a signal to the programs that the command has started.
fn send(children: &Children, signal: i32) {
    for child in children.iter().filter_map(Weak::upgrade) {
        // A child that cannot be signalled continues, and finds its pipes closed.
        let _ = child.lock().send(signal);
    }
}

/// Stops the programs, then this one; or continues them, as this one has been already.
fn pause(signal: i32) {
    let children = children();
    if signal == EndingSignals::STOP {
        send(&children, signal);
        // A failure to stop this program is ignored.
        let _ = stop();
    }
    send(&children, EndingSignals::GO_ON);
}

fn end_children(signal: i32) -> Children {
    let children = children();
    if children.iter().any(|child| child.strong_count() > 0) {
        // Release: pairs with the load in `let_it_end`. Before the child's end, which then is not an error.
        ENDING.store(true, Ordering::Release);
        send(&children, signal);
        // A stopped program receives it only when it continues.
        send(&children, EndingSignals::GO_ON);
    }
    children
}

/// Starts a program. Until all owners have dropped it, a signal that ends the command is first passed on
/// to it.
///
/// # Errors
///
/// The errors of [`Command::spawn`].
pub(crate) fn start(command: &mut Command) -> io::Result<Arc<Mutex<Group>>> {
    let mut children = children();
    // Relaxed: set before the command starts any thread. If no thread can pass signals on, those of a terminal
    // must reach the program directly.
    let grouping = match IS_WATCHED.load(Ordering::Relaxed) {
        true => Grouping::Own,
        false => Grouping::Shared,
    };
    let child = Arc::new(Mutex::new(Group::start(command, grouping)?));
    children.retain(|child| child.strong_count() > 0);
    children.push(Arc::downgrade(&child));
    Ok(child)
}

/// Whether a signal is about to end the program.
pub(crate) fn is_ending() -> bool {
    // Pairs with the stores in `wait`.
    ENDING.load(Ordering::Acquire)
}

/// Does not return once a signal is about to end the program: errors that the command gets then, such as a
/// removed folder, are not reported.
pub(crate) fn let_it_end() {
    while is_ending() {
        std::thread::park();
    }
}

/// Makes the first signal finish the current run with a message, and the second one end the program.
pub(crate) fn stop_on_signal(cancel: &CancelToken) {
    if !IS_WATCHED.load(Ordering::Relaxed) {
        complain(
            "note: no thread can be started to wait for Ctrl-C, so it ends the program at once",
        );
    }
    *first() = First::Stop(cancel.clone());
}

/// Delays signals until the returned function is called with a folder; after that a signal removes the folder and ends
/// the program.
pub(crate) fn remove_on_signal() -> impl FnOnce(&HiddenPlace) {
    let delay = EndDelay::begin();
    move |folder| {
        *first() = First::Remove(folder.clone());
        drop(delay);
    }
}
