//! Machines that there are not, as folders.

use std::fs;

use tempfile::TempDir;

use super::*;

/// A machine with these files under its folder `node`.
fn machine(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = root.path().join("node").join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(path, text).expect("room on disk");
    }
    root
}

fn read(files: &[(&str, &str)]) -> io::Result<Topology> {
    Topology::read_in(machine(files).path())
}

/// The number of each node, and its processors.
fn listed(topology: &Topology) -> Vec<(usize, Vec<usize>)> {
    topology
        .nodes()
        .iter()
        .map(|node| (node.number, node.processors.iter().collect()))
        .collect()
}

/// Ends a test where a sandbox or the kernel has no memory policy. Other errors are ours.
pub(crate) fn skip(error: &io::Error) {
    use ErrorKind::{NotFound, PermissionDenied, Unsupported};
    assert!(matches!(error.kind(), NotFound | PermissionDenied | Unsupported), "{error}");
    swath_reference::skip("memory-policy", error);
}

const TWO: &[(&str, &str)] =
    &[("has_memory", "0-1\n"), ("node0/cpulist", "0-1,4-5\n"), ("node1/cpulist", "2-3,6-7\n")];

#[test]
fn nodes_have_the_processors_that_the_kernel_lists() {
    let two = read(TWO).expect("well formed");
    assert_eq!(listed(&two), [(0, vec![0, 1, 4, 5]), (1, vec![2, 3, 6, 7])]);
    assert_eq!(two.homes(), [0, 1]);
}

#[test]
fn numbers_have_gaps_and_exceed_64() {
    let files = [
        ("has_memory", "0,8,64,1023\n"),
        ("node0/cpulist", "0\n"),
        ("node8/cpulist", "8\n"),
        ("node64/cpulist", "64\n"),
        ("node1023/cpulist", "8191\n"),
    ];
    let topology = read(&files).expect("well formed");
    assert_eq!(topology.homes(), [0, 8, 64, 1023]);
    assert!(topology.has_memory(64) && !topology.has_memory(1));
}

#[test]
fn memory_without_a_processor_is_no_home_and_a_node_without_memory_is_left_out() {
    let files = [
        ("online", "0-3\n"),
        ("has_normal_memory", "0-1\n"),
        ("has_memory", "0,2\n"),
        ("node0/cpulist", "0-1\n"),
        ("node1/cpulist", "2\n"),
        ("node2/cpulist", "\n"),
        ("node3/cpulist", "3\n"),
    ];
    let topology = read(&files).expect("well formed");
    assert_eq!(listed(&topology), [(0, vec![0, 1]), (2, vec![])]);
    assert_eq!(topology.homes(), [0]);
}

#[test]
fn older_kernels_have_older_lists() {
    for list in LISTS {
        let files = [(list, "3\n"), ("node3/cpulist", "0\n"), ("node4/cpulist", "1\n")];
        assert_eq!(listed(&read(&files).expect("well formed")), [(3, vec![0])], "{list}");
    }
}

#[test]
fn a_node_that_has_gone_is_left_out() {
    let files = [("has_memory", "0-2\n"), ("node0/cpulist", "0\n"), ("node2/cpulist", "1\n")];
    assert_eq!(read(&files).expect("well formed").homes(), [0, 2]);
}

#[test]
fn without_sysfs_there_is_one_node_with_every_processor() {
    for files in [&[][..], &[("node0/cpulist", "0\n")]] {
        let topology = read(files).expect("one node");
        assert_eq!(topology.homes(), [0]);
        let limits = Limits::parse("Cpus_allowed_list:\t5\n").expect("well formed");
        assert_eq!(listed(&topology.within(&limits)), [(0, vec![5])]);
    }
}

#[test]
fn a_list_that_is_not_one_is_an_error_and_never_a_shorter_list() {
    let garbage = [
        "a",
        "0-",
        "-1",
        "3-1",
        "0,,1",
        "0,",
        "0-1,1",
        "1,0",
        "0 1",
        "+1",
        "0-3:1/2",
        "65536",
        "0-18446744073709551615",
        "99999999999999999999",
        "0x1",
        "0,\0",
    ];
    for list in garbage {
        let whole = [("has_memory", list), ("node0/cpulist", "0"), ("node1/cpulist", "1")];
        let one = [("has_memory", "0-1"), ("node0/cpulist", "0"), ("node1/cpulist", list)];
        for files in [whole, one] {
            let error = read(&files).expect_err(list);
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{list:?}");
        }
        let status = format!("Mems_allowed_list:\t{list}\n");
        assert!(Limits::parse(&status).is_err(), "{list:?}");
    }
    let root = machine(TWO);
    fs::write(root.path().join("node/has_memory"), b"0-1\xff").expect("room on disk");
    assert!(Topology::read_in(root.path()).is_err(), "not UTF-8");
}

#[test]
fn lists_are_read_in_order() {
    for (list, numbers) in [
        ("", &[][..]),
        ("\n", &[]),
        ("0", &[0]),
        ("0-3\n", &[0, 1, 2, 3]),
        ("0,2,4-5", &[0, 2, 4, 5]),
        ("0-1,2", &[0, 1, 2]),
        ("65535", &[65535]),
    ] {
        let read = Numbers::parse(list).expect("well formed");
        assert_eq!(read.iter().collect::<Vec<_>>(), numbers, "{list:?}");
        assert_eq!(read.is_empty(), numbers.is_empty());
        assert!(numbers.iter().all(|&number| read.contains(number)));
        assert!(!read.contains(6) && !read.contains(usize::MAX));
    }
}

#[test]
fn limits_take_away_nodes_and_processors() {
    let two = read(TWO).expect("well formed");
    for (status, left) in [
        ("", vec![(0, vec![0, 1, 4, 5]), (1, vec![2, 3, 6, 7])]),
        ("Mems_allowed:\t2\nMems_allowed_list:\t1\n", vec![(1, vec![2, 3, 6, 7])]),
        ("Cpus_allowed_list:\t1-4,7\n", vec![(0, vec![1, 4]), (1, vec![2, 3, 7])]),
        (
            "Cpus_allowed_list:\t4-5\nMems_allowed_list:\t0-1\n",
            vec![(0, vec![4, 5]), (1, vec![])],
        ),
        ("Cpus_allowed_list:\t2\nMems_allowed_list:\t0\n", vec![(0, vec![])]),
        ("Mems_allowed_list:\t5-9\n", vec![]),
    ] {
        let limits = Limits::parse(status).expect("well formed");
        assert_eq!(listed(&two.within(&limits)), left, "{status}");
    }
}

#[test]
fn every_number_of_small_lists_is_in_both_or_not() {
    let list = |bits: u32| {
        let numbers = (0..5).filter(|bit| bits >> bit & 1 == 1).map(|bit| bit.to_string());
        Numbers::parse(&numbers.collect::<Vec<_>>().join(",")).expect("well formed")
    };
    for one in 0..32 {
        for other in 0..32 {
            assert!(list(one).and(&list(other)).iter().eq(list(one & other).iter()));
        }
        let range = Numbers::parse("1-3").expect("well formed");
        assert!(range.and(&list(one)).iter().eq(list(one & 0b1110).iter()));
        assert!(list(one).and(&range).iter().eq(list(one & 0b1110).iter()));
    }
}

#[test]
fn this_machine_has_a_node_and_this_thread_is_on_one() {
    let machine = Topology::of_machine().expect("well formed");
    assert!(!machine.nodes().is_empty());
    let Ok(limits) = Limits::of_thread() else {
        return swath_reference::skip("proc", "not mounted");
    };
    assert!(!machine.within(&limits).nodes().is_empty());
    match current_node() {
        Ok(node) => assert!(node < 1 << 16, "{node}"),
        Err(error) => skip(&error),
    }
}

#[test]
fn the_limits_are_those_of_the_calling_thread() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(before) = sched_getaffinity(None) else { return };
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).expect("it runs on one");
    let (inner, outer) = std::thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).expect("a part of what it has");
            Limits::of_thread()
        });
        (pinned.join().expect("no panic"), Limits::of_thread())
    });
    let (Ok(inner), Ok(outer)) = (inner, outer) else {
        return swath_reference::skip("proc", "not mounted");
    };
    assert!(inner.processors.iter().eq([first]));
    assert!(outer.processors.iter().eq((0..CpuSet::MAX_CPU).filter(|&cpu| before.is_set(cpu))));
}
