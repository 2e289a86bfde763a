//! Reads by priority class with faults, changes, cancellation and panics; and while the
//! priorities are changed.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use swath::classes::ClassPlan;
use swath::reading::Growth;
use swath::{CancelToken, ReadOptions, Reason};

use crate::trouble::inputs::{byte_at, faulty, file};

const MIB: u64 = 1 << 20;

/// Holds readers back until it is opened.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().expect("no panic") = true;
        self.1.notify_all();
    }

    fn pass(&self) {
        let mut open = self.0.lock().expect("no panic");
        while !*open {
            open = self.1.wait(open).expect("no panic");
        }
    }
}

fn assert_right(bytes: &[u8], offset: u64) {
    assert!(bytes.iter().zip(offset..).all(|(&byte, at)| byte == byte_at(at)));
}

/// One class for each MiB.
fn by_mib(count: u64) -> ClassPlan {
    let classes = u32::try_from(count).expect("small");
    ClassPlan::by_position(count * MIB, count * 8, classes)
}

#[test]
fn short_answers_interrupts_and_passing_failures_end_in_right_bytes() {
    for workers in [1, 3, 8] {
        let source = faulty(6 * MIB, |call, _| match call % 5 {
            0 => Some(Err(io::ErrorKind::Interrupted.into())),
            1 => Some(Ok(70_001)),
            2 if call % 3 == 0 => Some(Err(io::ErrorKind::WouldBlock.into())),
            _ => None,
        });
        let options = ReadOptions::new().with_workers(workers);
        let reading = options.read_prioritised(source, by_mib(6).with_window(1));
        let loaded = reading.expect("started").finish().expect("nothing lasting");
        assert_right(loaded.buffer(), 0);
        assert!(loaded.report.read.retries > 0);
        assert_eq!(loaded.report.max_skew, 1);
    }
}

#[test]
fn a_lasting_failure_is_told_with_its_bytes_and_what_was_complete_stays() {
    let source = faulty(4 * MIB, |_, offset| {
        (offset >= 2 * MIB).then(|| Err(io::Error::from_raw_os_error(5)))
    });
    let options = ReadOptions::new().with_workers(2);
    let reading = options.read_prioritised(source, by_mib(4).with_window(1)).expect("started");
    let error = reading.wait(3).expect_err("EIO");
    assert_eq!(error.raw_os_error(), Some(5));
    let extent = error.extent().expect("which bytes");
    let (offset, len) = (extent.offset(), extent.len());
    assert!(offset >= 2 * MIB && len > 0, "{error}");
    for class in [0, 1] {
        let class = reading.wait(class).expect("was complete before");
        class.chunks().for_each(|chunk| assert_right(chunk.bytes, chunk.range.start));
    }
    assert!(reading.bytes(0, 0..2 * MIB).is_some());
    assert_eq!(reading.finish().expect_err("EIO").raw_os_error(), Some(5));
}

#[test]
fn passing_failures_that_do_not_pass_end_the_read() {
    let source = faulty(MIB, |_, _| Some(Err(io::ErrorKind::TimedOut.into())));
    let reading = swath::classes::read_prioritised(source, by_mib(1)).expect("started");
    let error = reading.finish().expect_err("never passes");
    assert_eq!(error.io_kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_class_that_is_asked_for_while_reading_comes_next() {
    let gate = Arc::new(Gate::default());
    let (held, order) = (Arc::clone(&gate), Arc::new(Mutex::new(Vec::new())));
    let source = faulty(6 * MIB, move |call, _| {
        if call == 0 {
            held.pass();
        }
        None
    });
    let calls = Arc::clone(&order);
    let plan = by_mib(6).with_window(1).with_class_callback(move |class| {
        calls.lock().expect("no panic").push(class.class());
    });
    let options = ReadOptions::new().with_workers(1);
    let reading = options.read_prioritised(source, plan).expect("started");
    // Class 0 begins with the first call; until then every class may move.
    while !reading.prioritise(4) {
        std::thread::yield_now();
    }
    assert!(reading.prioritise(5));
    assert!(!reading.prioritise(77), "no such class");
    gate.open();
    reading.wait(3).expect("it comes last");
    reading.finish().expect("read");
    let order = order.lock().expect("no panic").clone();
    let asked: Vec<_> = order.iter().copied().filter(|&class| class != 0).collect();
    assert_eq!(asked, [5, 4, 1, 2, 3], "{order:?}");
}

#[test]
fn cancelling_and_dropping_end_the_read_and_leave_nothing_running() {
    let gate = Arc::new(Gate::default());
    let running = Arc::new(AtomicU64::new(0));
    let (held, inside) = (Arc::clone(&gate), Arc::clone(&running));
    let source = faulty(64 * MIB, move |_, offset| {
        inside.fetch_add(1, Ordering::SeqCst);
        if offset >= MIB {
            held.pass();
        }
        inside.fetch_sub(1, Ordering::SeqCst);
        None
    });
    let options = ReadOptions::new().with_workers(4);
    let reading = options.read_prioritised(source, by_mib(64).with_window(2)).expect("started");
    reading.wait(0).expect("not held up");
    reading.cancel();
    let error = reading.wait(63).expect_err("cancelled");
    assert_eq!(error.reason(), Reason::Cancelled);
    assert!(reading.class(0).is_some(), "complete before");
    assert!(reading.wait_for(0, Duration::ZERO).expect("complete").is_some());
    gate.open();
    drop(reading);
    assert_eq!(running.load(Ordering::SeqCst), 0, "the workers were joined");
}

#[test]
fn a_token_cancels_also_workers_that_are_parked() {
    let (token, gate) = (CancelToken::new(), Arc::new(Gate::default()));
    let held = Arc::clone(&gate);
    let source = faulty(8 * MIB, move |_, _| {
        held.pass();
        None
    });
    let options = ReadOptions::new().with_workers(8).with_cancel(token.clone());
    let plan = ClassPlan::by_position(8 * MIB, 8, 8).with_window(1);
    let reading = options.read_prioritised(source, plan).expect("started");
    assert!(reading.wait_for(0, Duration::from_millis(5)).expect("goes on").is_none());
    token.cancel();
    gate.open();
    assert_eq!(reading.finish().expect_err("cancelled").reason(), Reason::Cancelled);
    let before = options.read_prioritised(faulty(MIB, |_, _| None), by_mib(1));
    assert_eq!(before.expect_err("cancelled before").reason(), Reason::Cancelled);
}

#[test]
fn a_callback_that_panics_is_the_callers_panic() {
    let plan = by_mib(4).with_class_callback(|class| assert!(class.class() != 2, "planted"));
    let reading =
        swath::classes::read_prioritised(faulty(4 * MIB, |_, _| None), plan).expect("started");
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reading.finish()));
    let panic = ended.expect_err("it panicked");
    let text = panic.downcast_ref::<String>().map(String::as_str);
    assert!(
        text.or(panic.downcast_ref::<&str>().copied()).is_some_and(|t| t.contains("planted"))
    );
}

#[test]
fn a_callback_that_waits_for_its_own_read_is_told_so() {
    let slot: Arc<Mutex<Option<swath::classes::Prioritised>>> = Arc::default();
    let (own, told) = (Arc::clone(&slot), Arc::new(AtomicBool::new(false)));
    let (gate, says) = (Arc::new(Gate::default()), Arc::clone(&told));
    let held = Arc::clone(&gate);
    let source = faulty(2 * MIB, move |_, _| {
        held.pass();
        None
    });
    let plan = by_mib(2).with_window(1).with_class_callback(move |class| {
        if class.class() == 0
            && let Some(reading) = &*own.lock().expect("no panic")
        {
            let error = reading.wait(1).expect_err("would hang");
            says.store(error.reason() == Reason::Busy, Ordering::SeqCst);
        }
    });
    let options = ReadOptions::new().with_workers(1);
    *slot.lock().expect("no panic") = Some(options.read_prioritised(source, plan).expect("it"));
    gate.open();
    while !told.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let reading = slot.lock().expect("no panic").take().expect("put there");
    reading.finish().expect("it went on");
}

/// Changes the file when its first class is complete.
fn changed_after_the_first_class(
    change: fn(&Path),
    growth: Growth,
) -> Result<usize, swath::Error> {
    let file = file(24 << 20);
    let path = file.path().to_owned();
    let plan = ClassPlan::by_position(24 << 20, 240, 24).with_window(1).with_class_callback(
        move |class| {
            if class.class() == 0 {
                change(&path);
            }
        },
    );
    let options = ReadOptions::new().with_workers(1).with_growth(growth);
    let reading = options.read_prioritised(file.path(), plan)?;
    reading.wait(0)?;
    Ok(reading.finish()?.buffer().len())
}

fn truncate(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_len(5000).expect("shorter");
}

fn append(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).expect("it is there");
    file.write_all(b"more").expect("room");
}

#[test]
fn files_that_are_truncated_or_grow_meanwhile_are_errors_as_in_read() {
    let error = changed_after_the_first_class(truncate, Growth::Refused).expect_err("shorter");
    assert!(matches!(error.reason(), Reason::Truncated | Reason::Changed), "{error}");
    assert!(error.extent().is_some());
    let error = changed_after_the_first_class(truncate, Growth::Ignored).expect_err("shorter");
    assert!(matches!(error.reason(), Reason::Truncated | Reason::Changed), "{error}");
    let error = changed_after_the_first_class(append, Growth::Refused).expect_err("longer");
    assert_eq!(error.reason(), Reason::Changed);
    let len = changed_after_the_first_class(append, Growth::Ignored).expect("allowed");
    assert_eq!(len, 24 << 20);
}

#[test]
fn the_rate_and_progress_of_read_hold_for_classes() {
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let options = ReadOptions::new()
        .with_workers(3)
        .with_rate_bytes_per_s(1 << 40)
        .with_progress(move |progress| {
            assert_eq!(progress.total, Some(4 * MIB));
            seen.fetch_max(progress.bytes, Ordering::SeqCst);
        });
    let reading = options.read_prioritised(faulty(4 * MIB, |_, _| None), by_mib(4));
    reading.expect("started").finish().expect("read");
    assert_eq!(most.load(Ordering::SeqCst), 4 * MIB);
}
