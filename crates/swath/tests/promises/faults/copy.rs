//! Copies.

use swath::copy::CopyOptions;
use swath::{OutputOptions, ReadOptions};
use swath_reference::bytes;

use crate::faults::faulty::strike_everywhere;

#[test]
fn whichever_call_fails_the_target_is_the_old_one_or_the_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("source");
    for (len, workers) in [(0, 1), (1000, 1), (3_000_000, 1), (3_000_000, 3)] {
        let new = bytes(1, len);
        std::fs::write(&source, &new).expect("room");
        let failures = strike_everywhere(28, &new, |path, fs| {
            let options = CopyOptions::new()
                .with_read(ReadOptions::new().with_workers(workers))
                .with_output(OutputOptions::new().with_fs(fs));
            options.copy(&source, path).map(drop)
        });
        assert!(failures > 10, "{failures} of its calls failed");
    }
}
