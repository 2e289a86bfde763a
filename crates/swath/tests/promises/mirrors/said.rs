//! Copies that are the caller's own sources, and say what an error means.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use swath::mirror::{Mirrored, Verify};
use swath::{Engine, ReadAt, ReadOptions, Reason, Result, Source, SourceFacts, SourceTrouble};

const LEN: usize = 8 << 20;
const AFTER: Duration = Duration::from_millis(200);
const HEARD: Duration = Duration::from_millis(100);

/// Returns `trouble` at some of its first calls; from then on its bytes are different.
struct Copy {
    calls: AtomicU64,
    troubled: std::ops::Range<u64>,
    trouble: SourceTrouble,
    after: u8,
}

impl Copy {
    fn source(troubled: std::ops::Range<u64>, trouble: SourceTrouble, after: u8) -> Source {
        Source::custom(Arc::new(Self { calls: AtomicU64::new(0), troubled, trouble, after }))
    }
}

impl ReadAt for Copy {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(LEN as u64)))
    }

    fn read_at(&self, target: &mut [u8], _: u64) -> io::Result<usize> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.troubled.contains(&call) {
            return Err(self.trouble.because("412"));
        }
        if call >= self.troubled.end {
            // Began before the reader had heard of the trouble, perhaps, and ends after that.
            std::thread::sleep(HEARD);
        }
        target.fill(if call < self.troubled.start { b'o' } else { self.after });
        Ok(target.len())
    }
}

fn read(copies: [Source; 2], options: &ReadOptions) -> Result<Vec<u8>> {
    let source = Source::from(Mirrored::new(copies).with_verify(Verify::None));
    options.read(source).map(|loaded| loaded.buffer.to_vec())
}

fn ways() -> [ReadOptions; 3] {
    let pool = ReadOptions::new().with_engine(Engine::Pool).with_workers(3);
    [ReadOptions::new(), ReadOptions::new().with_engine(Engine::Serial), pool]
}

#[test]
fn nothing_is_taken_any_more_from_a_copy_that_says_that_it_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, vec![b'o'; LEN]).expect("room on disk");
    for options in ways() {
        for first in [0, 1, 3] {
            for swapped in [false, true] {
                let changed = Copy::source(first..first + 1, SourceTrouble::Changed, b'N');
                let mut copies = [changed, Source::from(&*file)];
                if swapped {
                    copies.reverse();
                }
                let bytes = read(copies, &options).expect("one copy is whole");
                assert!(bytes == vec![b'o'; LEN], "changed at call {first}");
            }
        }
    }
}

#[test]
fn where_all_copies_changed_so_did_the_source() {
    for options in ways() {
        let changed = || Copy::source(2..u64::MAX, SourceTrouble::Changed, b'N');
        let error = read([changed(), changed()], &options).expect_err("no copy is left");
        assert_eq!(error.reason(), Reason::Changed, "{error:?}");
    }
}

#[test]
fn what_passes_in_all_copies_is_asked_for_no_sooner_than_they_say() {
    for options in ways() {
        let passing = |after| Copy::source(0..1, SourceTrouble::Passing(after), b'o');
        let started = Instant::now();
        let bytes = read([passing(AFTER), passing(AFTER / 2)], &options.with_workers(1));
        assert!(bytes.expect("it passed") == vec![b'o'; LEN]);
        assert!(started.elapsed() >= AFTER, "{:?}", started.elapsed());
    }
}
