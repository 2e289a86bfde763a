//! How many requests a source of the caller's gets at a time: as many as pay off, measured or
//! hinted.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use swath::classes::{ClassPlan, Prioritised};
use swath::reading::{ParallelRequests, SourceKind};
use swath::{Block, Cut, Error, ReadAt, ReadOptions, Source, SourceFacts, records_of};

const MIB: u64 = 1 << 20;
/// Longer than any machine takes to start the threads that are waited for.
const LONG: Duration = Duration::from_secs(20);

/// After as many bytes those of [`byte_at`] come again.
const PERIOD: u64 = 64 * 251;

fn byte_at(offset: u64) -> u8 {
    u8::try_from((offset / 64 * 7 + offset) % 251).expect("below 251")
}

/// Fills `target` with the bytes from `offset` on.
fn fill(mut target: &mut [u8], offset: u64) {
    static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(|| (0..PERIOD).map(byte_at).collect());
    let mut at = usize::try_from(offset % PERIOD).expect("small");
    while !target.is_empty() {
        let len = target.len().min(PATTERN.len() - at);
        let (part, rest) = target.split_at_mut(len);
        part.copy_from_slice(&PATTERN[at..at + len]);
        (target, at) = (rest, 0);
    }
}

/// Answers no request before `want` requests are in flight, and then all of them.
struct Gathering {
    facts: SourceFacts,
    want: usize,
    state: Mutex<State>,
    gathered: Condvar,
}

#[derive(Default)]
struct State {
    in_flight: usize,
    most: usize,
    /// Requests that are answered regardless of others.
    free: usize,
}

impl Gathering {
    fn new(len: u64, want: usize, facts: impl Fn(SourceFacts) -> SourceFacts) -> Arc<Self> {
        Arc::new(Self {
            facts: facts(SourceFacts::new(Some(len))),
            want,
            state: Mutex::default(),
            gathered: Condvar::new(),
        })
    }

    fn plain(len: u64, want: usize) -> Arc<Self> {
        Self::new(len, want, |facts| facts)
    }

    fn source(self: &Arc<Self>) -> Source {
        Source::custom(Arc::clone(self) as Arc<dyn ReadAt>)
    }

    fn lets_through(&self, requests: usize) {
        self.state.lock().expect("no thread panics with it").free = requests;
    }

    fn most(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).most
    }
}

impl ReadAt for Gathering {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(self.facts)
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state.lock().expect("no thread panics with it");
        state.in_flight += 1;
        state.most = state.most.max(state.in_flight);
        self.gathered.notify_all();
        let is_free = state.free > 0;
        state.free = state.free.saturating_sub(1);
        let waiting = |state: &mut State| !is_free && state.most < self.want;
        let (mut state, late) =
            self.gathered.wait_timeout_while(state, LONG, waiting).expect("nobody panics");
        assert!(!late.timed_out(), "{} of {} in flight", state.most, self.want);
        state.in_flight -= 1;
        drop(state);
        fill(target, offset);
        Ok(target.len())
    }
}

fn assert_bytes(bytes: &[u8], len: u64) {
    assert_eq!(bytes.len() as u64, len);
    let mut expected = vec![0; bytes.len()];
    fill(&mut expected, 0);
    if bytes != expected {
        let wrong = bytes.iter().zip(&expected).position(|(byte, wanted)| byte != wanted);
        panic!("the first byte that is wrong is {wrong:?}");
    }
}

#[test]
fn a_source_that_is_waited_for_gets_64_requests_without_being_asked() {
    let source = Gathering::plain(64 * MIB, 64);
    let loaded = ReadOptions::new().read(source.source()).expect("it answers");
    assert_bytes(&loaded.buffer, 64 * MIB);
    assert_eq!((source.most(), loaded.report.workers), (64, 64));
    assert!(loaded.report.reason.contains("to 64 workers, as it responds: 64"));
}

#[test]
fn as_many_as_there_are_requests_where_there_are_few() {
    let source = Gathering::plain(6 * MIB + 5, 7);
    let loaded = ReadOptions::new().read(source.source()).expect("it answers");
    assert_bytes(&loaded.buffer, 6 * MIB + 5);
    assert_eq!(source.most(), 7);
}

#[test]
fn scans_and_records_give_it_what_it_is_worth_too() {
    let sum = (0..64 * MIB).map(|at| u64::from(byte_at(at))).sum::<u64>();
    let source = Gathering::plain(64 * MIB, 64);
    let scanned = ReadOptions::new().sum(source.source()).expect("it answers");
    assert_eq!((scanned.value, scanned.report.workers), (sum, 64));
    let source = Gathering::plain(64 * MIB, 64);
    let records = records_of([source.source()]).with_cut(Cut::Fixed(4096));
    let len = |block: Block<'_>| -> Result<u64, Error> {
        Ok(block.records().map(|record| record.len() as u64).sum())
    };
    let counted = records.map_reduce(len, |left, right| left + right).expect("it answers");
    assert_eq!((counted.value, counted.report.workers), (Some(64 * MIB), 64));
}

#[test]
fn a_reader_gives_it_what_it_is_worth_too() {
    let source = Gathering::plain(64 * MIB, 32);
    // The first block is read here and now, before another thread is started.
    source.lets_through(1);
    let mut bytes = Vec::new();
    let reader = ReadOptions::new().reader(source.source());
    reader.expect("it is there").read_to_end(&mut bytes).expect("it answers");
    assert_bytes(&bytes, 64 * MIB);
    assert!(source.most() <= 64, "{}", source.most());
}

#[test]
fn classes_give_it_what_it_is_worth_too() {
    let source = Gathering::plain(64 * MIB, 32);
    let plan = ClassPlan::by_position(64 * MIB, 64, 2);
    let reading = ReadOptions::new().read_prioritised(source.source(), plan);
    let loaded = reading.and_then(Prioritised::finish).expect("it answers");
    assert_bytes(loaded.buffer(), 64 * MIB);
    assert!(loaded.report.read.workers >= 32, "{}", loaded.report.read.workers);
}

#[test]
fn what_the_source_says_is_what_it_gets() {
    let hinted = |facts: &dyn Fn(SourceFacts) -> SourceFacts, want| {
        let source = Gathering::new(32 * MIB, want, facts);
        let loaded = ReadOptions::new().read(source.source()).expect("it answers");
        assert_bytes(&loaded.buffer, 32 * MIB);
        (source.most(), loaded.report)
    };
    let (most, report) = hinted(&|facts| facts.with_queue_depth(5), 5);
    assert_eq!((most, report.workers, report.chunk_size), (5, 5, MIB));
    assert!(report.reason.contains("5 requests in flight, as it hints"), "{}", report.reason);
    let alone = |facts: SourceFacts| facts.with_parallel(ParallelRequests::DoNotPay);
    let (most, report) = hinted(&alone, 1);
    assert_eq!((most, report.workers), (1, 1));
    assert!(report.reason.contains("one request at a time"), "{}", report.reason);
    let large = |facts: SourceFacts| facts.with_request_size(8 * MIB);
    let (most, report) = hinted(&large, 4);
    assert_eq!((most, report.calls, report.chunk_size), (4, 4, 8 * MIB));
    let (most, report) = hinted(&|facts| facts.with_kind(SourceKind::Remote), 16);
    assert!(most >= 16 && report.reason.contains("another machine"), "{}", report.reason);
}

#[test]
fn what_the_caller_asks_for_comes_before_what_the_source_says() {
    let source = Gathering::new(32 * MIB, 3, |facts| facts.with_queue_depth(9));
    let options = ReadOptions::new().with_workers(3);
    let loaded = options.read(source.source()).expect("it answers");
    assert_eq!((source.most(), loaded.report.workers), (3, 3));
}

#[test]
fn other_hints_are_no_change_of_the_content() {
    struct Moody(AtomicUsize);
    impl ReadAt for Moody {
        fn facts(&self) -> io::Result<SourceFacts> {
            let depth = self.0.fetch_add(1, Ordering::Relaxed);
            Ok(SourceFacts::new(Some(4 * MIB)).with_queue_depth(depth))
        }
        fn read_at(&self, target: &mut [u8], _: u64) -> io::Result<usize> {
            target.fill(7);
            Ok(target.len())
        }
    }
    let source = Source::custom(Arc::new(Moody(AtomicUsize::new(1))));
    assert_eq!(ReadOptions::new().read(source).expect("unchanged").buffer.len(), 4 << 20);
}

#[test]
fn a_source_that_takes_one_request_at_a_time_gets_a_bounded_number() {
    struct OneByOne(Mutex<()>, AtomicUsize, AtomicUsize);
    impl ReadAt for OneByOne {
        fn facts(&self) -> io::Result<SourceFacts> {
            Ok(SourceFacts::new(Some(200 * MIB)))
        }
        fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
            let waiting = self.1.fetch_add(1, Ordering::SeqCst) + 1;
            self.2.fetch_max(waiting, Ordering::SeqCst);
            let lane = self.0.lock().expect("no thread panics with it");
            std::thread::sleep(Duration::from_millis(3));
            drop(lane);
            self.1.fetch_sub(1, Ordering::SeqCst);
            fill(target, offset);
            Ok(target.len())
        }
    }
    let source = Arc::new(OneByOne(Mutex::default(), AtomicUsize::new(0), AtomicUsize::new(0)));
    let custom = Source::custom(Arc::clone(&source) as Arc<dyn ReadAt>);
    let loaded = ReadOptions::new().read(custom).expect("it answers");
    assert_bytes(&loaded.buffer, 200 * MIB);
    assert!(source.2.load(Ordering::SeqCst) <= 64);
}
