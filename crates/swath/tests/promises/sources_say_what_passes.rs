//! The errors of a caller's source: that they pass and when, that it has changed, that it refuses a request.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use swath::classes::{ClassPlan, Prioritised};
use swath::{
    CancelToken, Error, ReadAt, ReadOptions, Reason, Result, Source, SourceFacts, SourceTrouble,
};

const MIB: u64 = 1 << 20;
/// The pause that the source asks for; long compared with reading memory.
const AFTER: Duration = Duration::from_millis(300);

/// Fails this often at `bad`, with `trouble`; records when each offset was requested.
struct Troubled {
    len: Option<u64>,
    bad: u64,
    times: AtomicU64,
    trouble: SourceTrouble,
    asked: Mutex<Vec<(u64, Instant)>>,
}

impl Troubled {
    fn new(len: u64, bad: u64, times: u64, trouble: SourceTrouble) -> Arc<Self> {
        let (times, asked) = (times.into(), Mutex::default());
        Arc::new(Self { len: Some(len), bad, times, trouble, asked })
    }

    fn source(self: &Arc<Self>) -> Source {
        Source::custom(Arc::clone(self) as Arc<dyn ReadAt>)
    }

    fn asked(&self) -> Vec<(u64, Instant)> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the bad offset was requested, each time.
    fn asked_for_bad(&self) -> Vec<Instant> {
        let asked = self.asked();
        asked.into_iter().filter(|&(offset, _)| offset == self.bad).map(|(_, at)| at).collect()
    }
}

impl ReadAt for Troubled {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(self.len))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.asked.lock().expect("no thread panics with it").push((offset, Instant::now()));
        let left = |times: u64| times.checked_sub(1);
        let is_bad = offset == self.bad;
        if is_bad && self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return Err(self.trouble.because("503 Slow Down"));
        }
        let end = self.len.unwrap_or(4 * MIB);
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = target.len().min(left);
        target[..len].fill(7);
        Ok(len)
    }
}

/// Every way of reading all of it.
fn verbs() -> Vec<fn(&ReadOptions, Source) -> Result<u64>> {
    vec![
        |options, source| Ok(options.read(source)?.buffer.len() as u64),
        |options, source| Ok(options.sum(source)?.value / 7),
        |options, source| {
            let mut bytes = Vec::new();
            let read = options.reader(source)?.read_to_end(&mut bytes);
            let own = |error: io::Error| error.downcast::<Error>().expect("our own");
            read.map(|len| len as u64).map_err(own)
        },
        |options, source| {
            let reading = options.read_prioritised(source, ClassPlan::of_whole(8, 2))?;
            Ok(Prioritised::finish(reading)?.buffer().len() as u64)
        },
    ]
}

#[test]
fn what_passes_is_asked_for_again_no_sooner_than_the_source_says() {
    for verb in verbs() {
        for len in [10_000, 4 * MIB] {
            let trouble = SourceTrouble::Passing(AFTER);
            let source = Troubled::new(len, 0, 2, trouble);
            assert_eq!(verb(&ReadOptions::new(), source.source()).expect("it passed"), len);
            let asked = source.asked_for_bad();
            assert!(asked.len() >= 3, "{asked:?}");
            assert!(
                asked.windows(2).take(2).all(|pair| pair[1] - pair[0] >= AFTER),
                "{asked:?}"
            );
        }
    }
}

#[test]
fn nobody_waits_for_what_passes_while_other_bytes_could_be_read() {
    let source = Troubled::new(16 * MIB, 0, 1, SourceTrouble::Passing(AFTER));
    let options = ReadOptions::new().with_workers(1).with_chunk_size(1 << 20);
    let loaded = options.read(source.source()).expect("it passed");
    assert_eq!((loaded.buffer.len() as u64, loaded.report.retries), (16 * MIB, 1));
    let asked = source.asked();
    assert_eq!(asked.last().map(|&(offset, _)| offset < 2 * MIB), Some(true), "{asked:?}");
    let first_retry = asked.iter().skip(1).position(|&(offset, _)| offset == 0);
    assert!(first_retry.is_some_and(|others| others >= 14), "the rest came first: {asked:?}");
}

#[test]
fn what_passes_too_often_ends_the_read_and_says_what_to_try() {
    let source = Troubled::new(4 * MIB, 2 * MIB, 1000, SourceTrouble::Passing(Duration::ZERO));
    let error = ReadOptions::new().read(source.source()).expect_err("it never passes");
    assert_eq!((error.reason(), error.io_kind()), (Reason::Io, io::ErrorKind::TimedOut));
    assert_eq!(error.what_to_try(), "read it again later, or with fewer workers");
    assert!(format!("{error:?}").contains("503 Slow Down"), "{error:?}");
    assert_eq!(source.asked_for_bad().len(), 4, "once, and three times again");
}

#[test]
fn what_has_changed_or_is_refused_is_not_asked_for_again() {
    for (trouble, reason) in
        [(SourceTrouble::Changed, Reason::Changed), (SourceTrouble::Refused, Reason::Io)]
    {
        for verb in verbs() {
            let source = Troubled::new(4 * MIB, 0, 1000, trouble);
            let error = verb(&ReadOptions::new(), source.source()).expect_err("it lasts");
            assert_eq!(error.reason(), reason, "{error:?}");
            assert!(error.extent().is_some() && !error.what_to_try().is_empty(), "{error:?}");
            assert_eq!(source.asked_for_bad().len(), 1, "{trouble:?}");
        }
    }
}

#[test]
fn a_stream_waits_for_what_passes_too() {
    let trouble = SourceTrouble::Passing(AFTER);
    let source = Troubled::new(0, 0, 2, trouble);
    let mut stream = Troubled { len: None, ..Arc::into_inner(source).expect("the only one") };
    stream.times = 2.into();
    let source = Arc::new(stream);
    let loaded = ReadOptions::new().read(source.source()).expect("it passed");
    assert_eq!((loaded.buffer.len() as u64, loaded.report.retries), (4 * MIB, 2));
    let asked = source.asked_for_bad();
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= AFTER), "{asked:?}");
}

#[test]
fn a_read_that_waits_for_what_passes_is_cancelled_soon() {
    struct Never(AtomicUsize, CancelToken);
    impl ReadAt for Never {
        fn facts(&self) -> io::Result<SourceFacts> {
            Ok(SourceFacts::new(Some(MIB / 2)))
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::SeqCst);
            self.1.cancel();
            Err(SourceTrouble::Passing(Duration::from_secs(3600)).because("not today"))
        }
    }
    for verb in verbs() {
        let token = CancelToken::new();
        let source = Arc::new(Never(0.into(), token.clone()));
        let custom = Source::custom(Arc::clone(&source) as Arc<dyn ReadAt>);
        let error =
            verb(&ReadOptions::new().with_cancel(token), custom).expect_err("cancelled");
        assert_eq!(error.reason(), Reason::Cancelled, "{error:?}");
        assert!(source.0.load(Ordering::SeqCst) <= 8);
    }
}

/// Claims to have returned more than there was room for.
struct Boasting(usize);

impl ReadAt for Boasting {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(4 * MIB)))
    }

    fn read_at(&self, target: &mut [u8], _: u64) -> io::Result<usize> {
        target.fill(7);
        Ok(target.len().saturating_add(self.0))
    }
}

#[test]
fn a_source_that_gives_more_than_there_is_room_for_is_broken() {
    for more in [1, usize::MAX] {
        for verb in verbs() {
            let source = Source::custom(Arc::new(Boasting(more)));
            let error = verb(&ReadOptions::new(), source).expect_err("it cannot be");
            assert!(format!("{error:?}").contains("for a buffer of"), "{error:?}");
        }
    }
}
