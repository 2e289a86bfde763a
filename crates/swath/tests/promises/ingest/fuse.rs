//! FUSE may show another file under a name at each open.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use swath::ReadOptions;
use swath::ingest::IngestOptions;
use swath_reference::fuse::BindMount;

/// Stops a thread, also if the test fails.
struct StopGuard<'s>(&'s AtomicBool);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Files of one length and time that take turns below, where the file system above reports what it has seen.
#[test]
fn a_large_file_is_that_of_one_open() {
    const LEN: usize = 24 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    // Names are looked up at each open, attributes every five seconds.
    let options = ["-o", "attr_timeout=5,entry_timeout=0"];
    let Some(mount) = BindMount::new(folder.path(), &options) else { return };
    let below = |name: &str| mount.below().join(name);
    for (name, byte) in [("one", b'1'), ("other", b'2')] {
        fs::write(below(name), vec![byte; LEN]).expect("room");
        let file = fs::File::options().write(true).open(below(name)).expect("there");
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("set");
    }
    fs::hard_link(below("one"), below("file")).expect("linked");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for name in ["other", "one"].iter().cycle() {
                fs::hard_link(below(name), below("next")).expect("linked");
                fs::rename(below("next"), below("file")).expect("renamed");
                std::thread::sleep(Duration::from_millis(2));
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        let _stop = StopGuard(&is_over);
        let options = IngestOptions::new().with_read(ReadOptions::new().with_workers(4));
        for _ in 0..20 {
            let Ok(found) = options.ingest(vec![mount.seen().join("file")]) else { continue };
            let bytes = found.get(0).expect("one file").bytes;
            let first = bytes.iter().position(|byte| byte != &bytes[0]);
            assert_eq!((bytes.len(), first), (LEN, None), "bytes of two files");
        }
    });
}
