//! Messages about a source that is not a file have no words about files in them: no `O_DIRECT`,
//! no flag of the command, no map.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::reading::Reuse;
use swath::{
    Engine, Error, PageCache, ReadAt, ReadOptions, Report, Source, SourceFacts, records_of,
};

const MIB: u64 = 1 << 20;

/// Grows, or shrinks, each time its length is queried.
struct Moody {
    len: AtomicU64,
    by: i64,
    ends_at: u64,
}

impl ReadAt for Moody {
    fn facts(&self) -> io::Result<SourceFacts> {
        let len = self.len.load(Ordering::SeqCst);
        self.len.store(len.saturating_add_signed(self.by), Ordering::SeqCst);
        Ok(SourceFacts::new(Some(len)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.ends_at.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = target.len().min(left);
        target[..len].fill(7);
        Ok(len)
    }
}

fn moody(by: i64, ends_at: u64) -> Source {
    Source::custom(Arc::new(Moody { len: (4 * MIB).into(), by, ends_at }))
}

fn steady() -> Source {
    moody(0, u64::MAX)
}

const WORDS: [&str; 6] =
    ["O_DIRECT", "follow-size", "truncated", "_mapped", "file system", "cached"];

fn assert_no_words_of_files(said: &str) {
    let found: Vec<_> = WORDS.iter().filter(|word| said.contains(**word)).collect();
    assert!(found.is_empty(), "{found:?} in: {said}");
}

fn said(error: &Error) -> String {
    format!("{error:?}; try: {}", error.what_to_try())
}

fn told(report: &Report) -> String {
    let told: Vec<String> = report.fallbacks.iter().map(ToString::to_string).collect();
    format!("{}; {}", report.reason, told.join("; "))
}

fn options() -> Vec<ReadOptions> {
    let new = ReadOptions::new;
    let mut all = vec![new(), new().with_reuse(Reuse::Once)];
    all.extend([PageCache::Bypass, PageCache::Drop].map(|way| new().with_page_cache(way)));
    let engines = [Engine::Ring, Engine::Pool, Engine::Serial];
    all.extend(engines.map(|engine| new().with_engine(engine)));
    all.extend(engines.map(|engine| {
        new().with_engine(engine).with_page_cache(PageCache::Bypass).with_chunk_size(1000)
    }));
    all
}

#[test]
fn reports_of_a_source_say_nothing_of_files() {
    for options in options() {
        let read = options.read(steady()).expect("it answers").report;
        let summed = options.sum(steady()).expect("it answers").report;
        assert_no_words_of_files(&told(&read));
        assert_no_words_of_files(&told(&summed));
    }
}

#[test]
fn reports_of_copies_say_nothing_of_what_only_one_file_can() {
    let mut files = [(); 2].map(|()| tempfile::NamedTempFile::new().expect("a temporary file"));
    for file in &mut files {
        file.write_all(&[7; 1 << 20]).expect("room");
    }
    for options in options() {
        let copies = Source::mirrored(files.iter().map(tempfile::NamedTempFile::path));
        let read = options.read(copies).expect("they are there").report;
        assert_no_words_of_files(&told(&read));
    }
}

#[test]
fn a_source_that_changed_or_ends_early_gets_no_advice_on_files() {
    for options in options() {
        for source in [|| moody(1, u64::MAX), || moody(-1, u64::MAX), || moody(0, MIB)] {
            let mut bytes = Vec::new();
            let reader = options.reader(source()).expect("it opens");
            let read = { reader }.read_to_end(&mut bytes).expect_err("it is not what it said");
            let own = read.downcast::<Error>().expect("our own");
            for error in [
                options.read(source()).expect_err("it is not what it said"),
                options.sum(source()).expect_err("it is not what it said"),
                own,
            ] {
                assert_no_words_of_files(&said(&error));
                assert!(!error.what_to_try().is_empty(), "{error:?}");
            }
        }
    }
}

#[test]
fn nobody_is_told_to_map_what_cannot_be_mapped() {
    let options = ReadOptions::new().with_engine(Engine::Map);
    let records = options.records_of([steady()]);
    for error in [
        options.read(steady()).expect_err("no file"),
        options.sum(steady()).expect_err("no file"),
        records.map_blocks(|_| Ok::<_, Error>(())).expect_err("no file"),
    ] {
        assert_no_words_of_files(&said(&error));
    }
    let counted = records_of([steady()]).map_blocks(|_| Ok::<_, Error>(()));
    assert!(counted.is_ok(), "without that wish it is read");
}

#[test]
fn a_file_is_told_what_it_can_do() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&[7; 100]).expect("room");
    let mut reader = ReadOptions::new().reader(file.path()).expect("it is there");
    file.write_all(&[7; 100]).expect("room");
    let error = reader.read_to_end(&mut Vec::new()).expect_err("it has grown");
    let error = error.downcast::<Error>().expect("our own");
    assert!(error.what_to_try().contains("--follow-size first"), "{error}");
}
