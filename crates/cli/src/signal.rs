//! Ctrl-C and similar signals: commands leave nothing unfinished, and commands that take long finish
//! their current run first.
//!
//! A thread waits for the signals of every command that writes. It removes what must not stay, and ends the
//! program by the same signal. If it cannot be started, a signal ends the program at once, as it does for
//! commands that only read.
//!
//! A command that runs programs of the user gives each of them a process group of its own, and passes on
//! all signals that end it, stop it or let it go on:
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
    /// It removes the lock files of writers, as every signal does.
    End,
    /// It also removes a folder. If that is not possible, the next run that makes such a folder does it.
    Remove(HiddenPlace),
    /// It ends the current run only; the second one ends the program.
    Stop(CancelToken),
}

static FIRST: Mutex<First> = Mutex::new(First::End);
/// Whether a thread waits for signals.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether a signal is about to end the program.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Programs that the command has started: a signal ends them before it ends the command, whose end they
/// would take for the end of their input. While it is locked, none is started.
static CHILDREN: Mutex<Vec<Weak<Mutex<Group>>>> = Mutex::new(Vec::new());

/// Bytes of stack of the thread: it does little.
const STACK: usize = 256 << 10;

fn first() -> MutexGuard<'static, First> {
    FIRST.lock()
}

/// Which signals the thread receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// `SIGHUP`, `SIGINT` and `SIGTERM`.
    Ending,
    /// All that end the program, stop it or let it go on.
    All,
}

/// Signals are received by a thread until this is dropped.
#[derive(Debug)]
pub(crate) struct Watch(EndingSignals);

impl Watch {
    /// Begins before the command starts any thread. `None`: signals end the program at once.
    pub(crate) fn begin(held: Held) -> Option<Self> {
        let signals = EndingSignals::hold_all().ok()?;
        let mut watch = Self(signals);
        // Relaxed: all of this is one thread. A program may run several commands, one after the other.
        if !IS_WATCHED.load(Ordering::Relaxed) {
            let locks = Locks::watch();
            let thread = Builder::new().name(String::from("swath-signals")).stack_size(STACK);
            // It waits for all, which a later command may need. Without a thread, `watch` is dropped.
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
        // None is started from here on.
        let _children = end_children(signal);
        let _ = signals.release();
        let _no_locks = locks.remove();
        // A folder that was made since the signal came.
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
        // A child that cannot be sent a signal goes on, and finds its pipes closed.
        let _ = child.lock().send(signal);
    }
}

/// Stops the programs, then this one; or lets them go on, as this one does already.
fn pause(signal: i32) {
    let children = children();
    if signal == EndingSignals::STOP {
        send(&children, signal);
        // If this one cannot be stopped, the others are not stopped either.
        let _ = stop();
    }
    send(&children, EndingSignals::GO_ON);
}

fn end_children(signal: i32) -> Children {
    let children = children();
    if children.iter().any(|child| child.strong_count() > 0) {
        // Release: pairs with the load in `let_it_end`. Before the child ends, which is not an error then.
        ENDING.store(true, Ordering::Release);
        send(&children, signal);
        // One that is stopped receives it only then.
        send(&children, EndingSignals::GO_ON);
    }
    children
}

/// Starts a program. A signal that ends the command is passed on to it first, until all owners have
/// dropped it.
///
/// # Errors
///
/// The errors of [`Command::spawn`].
pub(crate) fn start(command: &mut Command) -> io::Result<Arc<Mutex<Group>>> {
    let mut children = children();
    // Relaxed: it is set before the command starts any thread. If no thread can pass signals on, a terminal
    // must reach the program by itself.
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

/// Does not return once a signal is about to end the program: an error that the command meets then, such
/// as a folder that is gone, is not reported.
pub(crate) fn let_it_end() {
    while is_ending() {
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

/// A signal waits until what is returned is called with a folder; from then on it removes the folder and ends the
/// program.
pub(crate) fn remove_on_signal() -> impl FnOnce(&HiddenPlace) {
    let delay = EndDelay::begin();
    move |folder| {
        *first() = First::Remove(folder.clone());
        drop(delay);
    }
}
