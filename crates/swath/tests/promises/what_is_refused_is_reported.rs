//! The ring or `O_DIRECT` refused by a sandbox, descriptors or memory exhausted: a reported
//! fallback or a typed error.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use swath::append::{Direct, OrderedOptions};
use swath::fallbacks::DirectUse;
use swath::sink::Replace;
use swath::{Engine, Fallback, OutputOptions, PageCache, ReadOptions, Report, WriteOptions};

const LEN: usize = (20 << 20) + 99;
const EPERM: u32 = 1;
const EINVAL: u32 = 22;
const ENOLCK: u32 = 37;
const ENOSYS: u32 = 38;
const EOPNOTSUPP: u32 = 95;

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

#[cfg(target_arch = "x86_64")]
const OPENAT: i64 = 257;
#[cfg(target_arch = "aarch64")]
const OPENAT: i64 = 56;
#[cfg(target_arch = "x86_64")]
const FLOCK: i64 = 73;
#[cfg(target_arch = "aarch64")]
const FLOCK: i64 = 32;
#[cfg(target_arch = "x86_64")]
const LINKAT: i64 = 265;
#[cfg(target_arch = "aarch64")]
const LINKAT: i64 = 37;
#[cfg(target_arch = "x86_64")]
const PRLIMIT64: i64 = 302;
#[cfg(target_arch = "aarch64")]
const PRLIMIT64: i64 = 261;
const IO_URING_SETUP: i64 = 425;
const IO_URING_ENTER: i64 = 426;

#[cfg(target_arch = "x86_64")]
const O_DIRECT: u64 = 0o40000;
#[cfg(target_arch = "aarch64")]
const O_DIRECT: u64 = 0o200000;

fn file() -> tempfile::NamedTempFile {
    let mut file =
        tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    file.write_all(&swath_reference::bytes(5, LEN)).expect("room on disk");
    file.as_file().sync_all().expect("room on disk");
    file
}

fn evict(path: &Path) {
    let file = std::fs::File::open(path).expect("it is there");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("regular");
}

/// Runs `work` on a thread for which, as for its children, `call` fails with `errno`.
fn refusing<R: Send>(
    call: i64,
    condition: Option<SeccompCondition>,
    errno: u32,
    work: impl FnOnce() -> R + Send,
) -> Option<R> {
    let rules = condition.map(|only| SeccompRule::new(vec![only]).expect("one condition"));
    let rules = BTreeMap::from([(call, rules.into_iter().collect())]);
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), ARCH);
    let program = BpfProgram::try_from(filter.expect("a filter")).expect("a program");
    std::thread::scope(|scope| {
        let filtered = scope.spawn(move || match seccompiler::apply_filter(&program) {
            Ok(()) => Some(work()),
            Err(error) => {
                swath_reference::skip("seccomp", error);
                None
            }
        });
        filtered.join().expect("no panic")
    })
}

#[test]
fn a_ring_that_is_refused_becomes_a_pool_and_is_reported() {
    let file = file();
    for call in [IO_URING_SETUP, IO_URING_ENTER] {
        for engine in [Engine::Ring, Engine::Auto] {
            evict(file.path());
            let options =
                ReadOptions::new().with_engine(engine).with_page_cache(PageCache::Bypass);
            let loaded = refusing(call, None, EPERM, || options.read(file.path()));
            let Some(loaded) = loaded else { return };
            let loaded = loaded.expect("falls back");
            assert!(*loaded.buffer == swath_reference::bytes(5, LEN), "the same bytes");
            let report = loaded.report;
            assert_eq!(report.engine, Engine::Pool, "{report:?}");
            let refused = |it: &Fallback| matches!(it, Fallback::RingRefused { .. });
            assert!(report.fallbacks.iter().any(refused), "{report:?}");
            assert!(report.direct_bytes > 0, "still direct: {report:?}");
        }
    }
}

/// Refuses to open anything with `O_DIRECT`, as file systems do that do not support it.
fn without_direct<R: Send>(work: impl FnOnce() -> R + Send) -> Option<R> {
    let bit = SeccompCmpOp::MaskedEq(O_DIRECT);
    let direct = SeccompCondition::new(2, SeccompCmpArgLen::Dword, bit, O_DIRECT);
    refusing(OPENAT, Some(direct.expect("a condition")), EINVAL, work)
}

#[test]
fn a_refused_o_direct_is_read_through_the_page_cache_and_reported() {
    let file = file();
    evict(file.path());
    let options = ReadOptions::new().with_page_cache(PageCache::Bypass);
    let loaded = without_direct(|| options.read(file.path()));
    let Some(loaded) = loaded else { return };
    let loaded = loaded.expect("falls back");
    assert!(*loaded.buffer == swath_reference::bytes(5, LEN), "the same bytes");
    assert_eq!((loaded.report.page_cache, loaded.report.direct_bytes), (PageCache::Drop, 0));
    let told = loaded.report.fallbacks;
    assert!(
        told[0].is_direct_refused() && told[0].to_string().contains("O_DIRECT"),
        "{told:?}"
    );
}

#[test]
fn a_program_can_ask_whether_o_direct_was_refused() {
    let file = file();
    evict(file.path());
    let options = ReadOptions::new().with_page_cache(PageCache::Bypass);
    let Some(loaded) = without_direct(|| options.read(file.path())) else { return };
    let is_open = |it: &Fallback| matches!(it, Fallback::DirectRefused { at: DirectUse::Open, why } if !why.is_empty());
    let told = loaded.expect("falls back").report.fallbacks;
    assert!(told.iter().any(is_open), "{told:?}");
    let target = file.path().with_extension("written");
    let options = OrderedOptions::new().with_direct(Direct::Yes);
    let written = without_direct(|| options.ordered(&target).and_then(|out| out.commit()));
    let Some(written) = written else { return };
    let told = written.expect("falls back").fallbacks;
    std::fs::remove_file(&target).expect("it was written");
    let is_write = |it: &Fallback| matches!(it, Fallback::DirectRefused { at: DirectUse::Write, why } if !why.is_empty());
    assert!(matches!(&told[..], [it] if is_write(it)), "{told:?}");
    let plain = ReadOptions::new().read(file.path()).expect("it is there");
    assert!(!plain.report.fallbacks.iter().any(Fallback::is_direct_refused));
}

#[test]
fn threads_that_cannot_be_started_are_done_without() {
    let file = file();
    let clone3 = 435; // everywhere
    let options = ReadOptions::new().with_engine(Engine::Pool).with_workers(4);
    let fixed = options.clone().with_schedule(swath::reading::Schedule::Static);
    for options in [options, fixed] {
        // EAGAIN: too many processes.
        let loaded = refusing(clone3, None, 11, || options.read(file.path()));
        let Some(loaded) = loaded else { return };
        let loaded = loaded.expect("this thread does it all");
        assert!(*loaded.buffer == swath_reference::bytes(5, LEN), "the same bytes");
        assert_is_alone(&loaded.report);
        let counting = |block: swath::Block<'_>| Ok::<_, swath::Error>(block.bytes.len());
        let scan = || options.records(file.path()).map_reduce(counting, |a, b| a + b);
        let Some(counted) = refusing(clone3, None, 11, scan) else { return };
        assert_is_alone(&counted.expect("this thread does it all").report);
    }
}

/// That a report speaks of one worker, and of the second as not started.
fn assert_is_alone(report: &Report) {
    let is_second =
        |it: &Fallback| matches!(it, Fallback::WorkerNotStarted { index: Some(1), .. });
    assert!(report.fallbacks.iter().any(is_second), "{:?}", report.fallbacks);
    assert_eq!(report.workers, 1, "{report:?}");
}

#[test]
fn a_reader_without_threads_reads_every_byte_once() {
    let file = file();
    // clone3 has one number everywhere; EAGAIN: too many processes.
    let read = || {
        let mut all = Vec::new();
        let mut reader = swath::reader(file.path()).expect("opens");
        std::io::Read::read_to_end(&mut reader, &mut all).map(|_| all)
    };
    let Some(all) = refusing(435, None, 11, read) else { return };
    assert!(all.expect("read here") == swath_reference::bytes(5, LEN), "the same bytes");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("listed").file_name();
    let mut names: Vec<_> = entries.map(|it| name(it).to_string_lossy().into()).collect();
    names.sort();
    names
}

#[test]
fn without_flock_a_file_is_written_and_no_lock_stays() {
    for errno in [ENOSYS, EPERM, EOPNOTSUPP, ENOLCK] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        for bytes in ["first", "second"] {
            let options = WriteOptions::new();
            let write = || options.write(&path, bytes.as_bytes());
            let Some(written) = refusing(FLOCK, None, errno, write) else { return };
            let report = written.unwrap_or_else(|error| panic!("{errno}: {error:?}"));
            assert!(report.fallbacks.contains(&Fallback::NoLocks), "{errno}: {report:?}");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), bytes);
            assert_eq!(names(folder.path()), ["out"], "{errno}");
        }
    }
}

#[test]
fn without_linkat_a_hidden_file_is_renamed() {
    for errno in [EPERM, ENOSYS, EOPNOTSUPP] {
        for replace in [Replace::Refused, Replace::Allowed] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("out");
            let output = OutputOptions::new().with_replace(replace);
            let options = WriteOptions::new().with_output(output);
            let (first, second) = (options.clone(), options);
            let Some(first) = refusing(LINKAT, None, errno, || first.write(&path, b"first"))
            else {
                return;
            };
            first.unwrap_or_else(|error| panic!("{errno}: {error:?}"));
            let second = refusing(LINKAT, None, errno, || second.write(&path, b"second"));
            let is_replaced = replace == Replace::Allowed;
            assert_eq!(second.expect("as before").is_ok(), is_replaced, "{errno}");
            let bytes = std::fs::read_to_string(&path).expect("there");
            assert_eq!(bytes, if is_replaced { "second" } else { "first" }, "{errno}");
            assert_eq!(names(folder.path()), ["out"], "{errno}");
            let mode = std::fs::metadata(&path).expect("there").permissions().mode();
            let made = std::fs::File::create(folder.path().join("new")).expect("room");
            assert_eq!(mode, made.metadata().expect("there").permissions().mode(), "{errno}");
        }
    }
}

#[test]
fn a_limit_that_cannot_be_asked_for_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    for errno in [EPERM, ENOSYS] {
        let bytes = swath_reference::bytes(5, 3 << 20);
        let read = refusing(PRLIMIT64, None, errno, || {
            swath::write(&path, &bytes)?;
            swath::read(&path)
        });
        let Some(read) = read else { return };
        assert!(*read.expect("no limit") == bytes, "{errno}");
    }
}
