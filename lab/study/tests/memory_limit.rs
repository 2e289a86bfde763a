//! A process can put itself under a memory limit and leave it. This is a separate test program, because the
//! limit holds for the whole process.

use std::fs::{self, File};
use std::io::{Read, Write};

use swath_os::residency::{Residency, residency};
use swath_study::memory_limit::MemoryLimit;

const LIMIT: u64 = 64 << 20;

fn memory_groups() -> String {
    let text = fs::read_to_string("/proc/self/cgroup").expect("proc");
    let of_memory = |line: &&str| line.contains(":memory:") || line.starts_with("0::");
    text.lines().filter(of_memory).collect::<Vec<_>>().join(" ")
}

#[test]
fn under_a_limit_the_page_cache_stays_below_it_and_behind_it_all_is_as_before() {
    let limit = match MemoryLimit::new(LIMIT) {
        Ok(limit) => limit,
        Err(error) => return swath_reference::skip("cgroups", error),
    };
    let before = memory_groups();
    let path =
        tempfile::Builder::new().tempfile_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    let len = 3 * LIMIT;
    {
        let _inside = limit.enter().expect("the group was made here");
        assert!(memory_groups().contains(&format!("swath-{}", std::process::id())));
        let at_hand = swath_os::machine::memory_at_hand().expect("proc");
        assert!(at_hand <= LIMIT, "{at_hand} bytes at hand under a limit of {LIMIT}");
        let mut file = path.as_file();
        let piece = vec![7; 1 << 20];
        for _ in 0..len >> 20 {
            file.write_all(&piece).expect("room");
        }
        file.sync_all().expect("written back");
        let mut back = Vec::with_capacity(1 << 20);
        let mut file = File::open(path.path()).expect("there");
        while (&mut file).take(1 << 20).read_to_end(&mut back).expect("readable") > 0 {
            back.clear();
        }
        match residency(&file, 0, len) {
            Ok(Residency { cached_pages, .. }) => {
                let cached = cached_pages * swath_os::machine::page_size() as u64;
                assert!(cached <= LIMIT, "{cached} bytes are cached");
            }
            Err(error) => swath_reference::skip("evictable-files", error),
        }
    }
    assert_eq!(memory_groups(), before);
}
