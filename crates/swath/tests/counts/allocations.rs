//! Allocations: a thread takes some, a unit of work few or none.

use std::process::Command;

use stats_alloc::Region;

use crate::cases::{Inputs, WORKERS};
use crate::{ALLOCATOR, CASES, Case};

/// Set in the process that counts: other tests of this program would count too.
const ALONE: &str = "SWATH_TEST_ALLOCATIONS_ALONE";

#[test]
fn the_same_work_allocates_no_more_with_more_workers() {
    if std::env::var_os(ALONE).is_none() {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "allocations::the_same_work_allocates_no_more_with_more_workers"])
            .args(["--nocapture", "--test-threads=1"])
            .env(ALONE, "")
            .output()
            .expect("started");
        print!("{}", String::from_utf8_lossy(&child.stdout));
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = Inputs::made(folder.path());
    let mut wrong = Vec::new();
    for Case { name, run, units, allocations, .. } in CASES {
        for workers in WORKERS {
            inputs.clear();
            let region = Region::new(ALLOCATOR);
            run(&inputs, workers).expect(name);
            let counted = region.change();
            let count = (counted.allocations + counted.reallocations) as u64;
            println!("{name} × {workers} on {units} units: {count} allocations");
            if !allocations.allows(count, units, workers) {
                wrong.push(format!("{name} × {workers}: {count} allocations"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
