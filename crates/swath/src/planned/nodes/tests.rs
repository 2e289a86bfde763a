//! Reads on fictitious machines, down to the kernel's policy for their memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Write};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use swath_os::memory::Pages;

use super::*;
use crate::buffer::BufferPool;
use crate::ingest::{Files, IngestOptions};
use crate::prioritised::ClassPlan;
use crate::read::Loaded;

const LARGE: usize = 32 << 20;
const EPERM: u32 = 1;

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

#[cfg(target_arch = "x86_64")]
const MBIND: i64 = 237;
#[cfg(target_arch = "aarch64")]
const MBIND: i64 = 235;
#[cfg(target_arch = "x86_64")]
const GET_MEMPOLICY: i64 = 239;
#[cfg(target_arch = "aarch64")]
const GET_MEMPOLICY: i64 = 236;

type Machine = fn() -> io::Result<Topology>;

fn machine(files: &[(&str, &str)]) -> io::Result<Topology> {
    let root = tempfile::tempdir()?;
    for (name, text) in files {
        let path = root.path().join("node").join(name);
        fs::create_dir_all(path.parent().expect("inside"))?;
        fs::write(path, text)?;
    }
    Topology::read_in(root.path())
}

/// Two nodes. Node 1 need not exist: the kernel leaves it out as long as there is another.
fn two() -> io::Result<Topology> {
    machine(&[("has_memory", "0-1"), ("node0/cpulist", "0"), ("node1/cpulist", "1")])
}

fn three() -> io::Result<Topology> {
    let two = [("node0/cpulist", "0"), ("node1/cpulist", "1"), ("node2/cpulist", "2")];
    machine(&[&[("has_memory", "0-2")], &two[..]].concat())
}

fn one() -> io::Result<Topology> {
    machine(&[])
}

fn one_and_far_memory() -> io::Result<Topology> {
    machine(&[("has_memory", "0-1"), ("node0/cpulist", "0-1"), ("node1/cpulist", "")])
}

fn unknown() -> io::Result<Topology> {
    machine(&[("has_memory", "some")])
}

fn never() -> io::Result<Topology> {
    panic!("the nodes were looked up")
}

/// Whether this thread may set the memory policy for node 0, and has no policy of its own.
fn is_able() -> bool {
    let unsupported = |why| Err(Error::new(ErrorKind::Unsupported, why));
    let able = || {
        if !MemoryPolicy::of_thread()?.is_default() {
            return unsupported("this thread has a policy");
        }
        if !Topology::of_machine()?.within(&Limits::of_thread()?).has_memory(0) {
            return unsupported("this thread may not use node 0");
        }
        Pages::map(4096)?.interleave(&[0, 1])
    };
    let Err(error) = able() else { return true };
    // Other errors are faults of Swath.
    assert!(
        matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported),
        "{error}"
    );
    swath_reference::skip("memory-policy", error);
    false
}

fn file(len: usize) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&swath_reference::bytes(3, len)).expect("room on disk");
    file
}

fn options(numa: Numa, machine: Machine) -> ReadOptions {
    let mut options = ReadOptions::new().with_numa(numa).with_workers(2);
    options.topology = Some(machine);
    // Without memory that another test has placed.
    options.with_pool(BufferPool::new(0))
}

fn policy(loaded: &Loaded) -> MemoryPolicy {
    MemoryPolicy::of_memory(&loaded.buffer).expect("it can be asked")
}

#[test]
fn results_are_spread_where_the_plan_or_the_caller_says_so() {
    if !is_able() {
        return;
    }
    let file = file(LARGE);
    let (small, large) = ((LARGE - (2 << 20)) as u64, LARGE as u64);
    for (numa, machine, workers, len, spread) in [
        (Numa::Auto, two as Machine, 2, large, true),
        (Numa::Auto, two, 1, large, false),
        (Numa::Auto, never, 2, small, false),
        (Numa::Auto, three, 2, large, false),
        (Numa::Auto, one, 2, large, false),
        (Numa::Auto, one_and_far_memory, 2, large, false),
        (Numa::Interleave, two, 2, large, true),
        (Numa::Interleave, two, 1, 100_000, true),
        (Numa::Interleave, three, 2, large, true),
        (Numa::Interleave, one, 2, large, false),
        (Numa::Interleave, one_and_far_memory, 2, large, false),
        (Numa::FirstTouch, never, 2, large, false),
    ] {
        let options = options(numa, machine).with_workers(workers).with_len(len);
        let loaded = options.read(file.path()).expect("readable");
        assert_eq!(policy(&loaded).interleaves(), spread, "{numa:?} {workers} {len}");
        assert_eq!(policy(&loaded).is_default(), !spread);
        assert_eq!(loaded.report.fallbacks, []);
        let expected = swath_reference::read(file.path(), 0, Some(len)).expect("readable");
        assert!(loaded.buffer[..] == expected);
    }
}

#[test]
fn a_result_near_the_caller_prefers_its_node_where_there_are_several() {
    if !is_able() {
        return;
    }
    let file = file(100_000);
    for (machine, preferred) in [(two as Machine, true), (one, false)] {
        let loaded = options(Numa::Caller, machine).read(file.path()).expect("readable");
        let policy = policy(&loaded);
        assert!(!policy.interleaves() && policy.is_default() != preferred, "{policy:?}");
        assert_eq!(loaded.report.fallbacks, []);
    }
    let elsewhere: Machine =
        || machine(&[("has_memory", "8-9"), ("node8/cpulist", "0"), ("node9/cpulist", "1")]);
    let loaded = options(Numa::Caller, elsewhere).read(file.path()).expect("readable");
    let [Fallback::NotPlaced { why }] = &loaded.report.fallbacks[..] else {
        panic!("{:?}", loaded.report.fallbacks)
    };
    assert!(why.ends_with("of the caller has no memory for this process"), "{why}");
}

#[test]
fn a_small_read_does_not_look_for_nodes() {
    let file = file(8192);
    for numa in [Numa::Auto, Numa::FirstTouch, Numa::Caller, Numa::Interleave] {
        let options = options(numa, never).with_workers(0);
        let loaded = options.read(file.path()).expect("readable");
        assert_eq!(loaded.buffer.len(), 8192);
        assert_eq!(loaded.report.fallbacks, []);
    }
}

#[test]
fn memory_of_the_caller_and_populated_memory_stay_where_they_are() {
    let file = file(LARGE);
    let mut target = vec![1; LARGE];
    for numa in [Numa::Auto, Numa::Caller, Numa::Interleave] {
        let options = options(numa, never).with_pool(BufferPool::new(2 * LARGE));
        options.read_into(file.path(), &mut target).expect("readable");
        let mut first = options.clone();
        first.topology = Some(one);
        drop(first.read(file.path()).expect("readable"));
        let again = options.read(file.path()).expect("readable");
        assert_eq!(again.report.populated_bytes, 0, "it came from the pool");
        assert!(again.buffer[..] == target);
    }
}

#[test]
fn classes_are_results_too() {
    if !is_able() {
        return;
    }
    let file = file(LARGE);
    for (machine, spread) in [(two as Machine, true), (one, false)] {
        let plan = ClassPlan::by_position(LARGE as u64, 8, 2);
        let reading = options(Numa::Auto, machine).read_prioritised(file.path(), plan);
        let loaded = reading.and_then(|reading| reading.finish()).expect("readable");
        let policy = MemoryPolicy::of_memory(loaded.buffer()).expect("it can be asked");
        assert_eq!(policy.interleaves(), spread);
        assert_eq!(loaded.report.read.fallbacks, []);
    }
    let plan = ClassPlan::by_position(LARGE as u64, 8, 2);
    let reading = options(Numa::Interleave, unknown).read_prioritised(file.path(), plan);
    let loaded = reading.and_then(|reading| reading.finish()).expect("readable");
    assert_eq!(loaded.report.read.fallbacks.len(), 1, "{:?}", loaded.report.read.fallbacks);
}

#[test]
fn nodes_that_cannot_be_looked_up_are_reported_only_if_it_matters_to_the_caller() {
    let file = file(LARGE);
    for numa in [Numa::Auto, Numa::Caller, Numa::Interleave] {
        let loaded = options(numa, unknown).read(file.path()).expect("readable");
        let texts: Vec<_> = loaded.report.fallbacks.iter().map(Fallback::to_string).collect();
        let expected =
            "NUMA placement refused (not a list of numbers: \"some\"), first touch".to_owned();
        assert_eq!(texts, if numa == Numa::Auto { vec![] } else { vec![expected] });
    }
}

/// Runs `work` on a thread that may not make `call`, nor may its children.
fn forbidding<R: Send>(call: i64, work: impl FnOnce() -> R + Send) -> Option<R> {
    let rules = BTreeMap::from([(call, vec![])]);
    let refused = SeccompAction::Errno(EPERM);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, ARCH);
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
fn a_refused_placement_is_first_touch_and_no_failure() {
    if !is_able() {
        return;
    }
    let file = file(LARGE);
    for (numa, reported) in [(Numa::Auto, 0), (Numa::Caller, 1), (Numa::Interleave, 1)] {
        let read = || options(numa, two).read(file.path()).expect("readable");
        let Some(loaded) = forbidding(MBIND, read) else { return };
        assert!(policy(&loaded).is_default(), "{numa:?}");
        assert_eq!(loaded.buffer.len(), LARGE);
        assert_eq!(loaded.report.fallbacks.len(), reported, "{:?}", loaded.report.fallbacks);
    }
}

#[test]
fn where_the_policy_of_the_thread_is_unknown_only_the_caller_places_memory() {
    if !is_able() {
        return;
    }
    let file = file(LARGE);
    for (numa, spread) in [(Numa::Auto, false), (Numa::Interleave, true)] {
        let read = || options(numa, two).read(file.path()).expect("readable");
        let Some(loaded) = forbidding(GET_MEMPOLICY, read) else { return };
        assert_eq!(policy(&loaded).interleaves(), spread, "{numa:?}");
        assert_eq!(loaded.report.fallbacks, []);
    }
}

#[test]
fn many_files_report_a_placement_that_they_do_not_use() {
    let file = file(10);
    for (numa, reported) in
        [(Numa::Auto, 0), (Numa::FirstTouch, 0), (Numa::Caller, 1), (Numa::Interleave, 1)]
    {
        let options = IngestOptions::new().with_read(ReadOptions::new().with_numa(numa));
        let ingested = options.ingest(Files::paths([file.path()])).expect("readable");
        assert_eq!(ingested.report().fallbacks.len(), reported, "{numa:?}");
    }
}
