//! Full disks and exhausted quotas.

use std::path::Path;
use std::process::Command;

use crate::refused::child::{mount, mount_image, run, with_own_mounts};
use crate::refused::ways::{all_refuse, bytes, names, read};

const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;
const MIB: u64 = 1 << 20;

#[test]
fn a_full_disk_in_memory_is_an_error_of_every_way_of_writing() {
    let name = "full::a_full_disk_in_memory_is_an_error_of_every_way_of_writing";
    with_own_mounts(name, || {
        let Some(folder) = mount("root", &["-t", "tmpfs", "-o", "size=2m", "none"]) else {
            return;
        };
        all_refuse(&folder, &bytes(4 << 20), ENOSPC);
    });
}

#[test]
fn a_full_ext4_is_an_error_of_every_way_of_writing() {
    with_own_mounts("full::a_full_ext4_is_an_error_of_every_way_of_writing", || {
        let Some(folder) = mount_image("ext4", 16 * MIB, "loop") else { return };
        all_refuse(&folder, &bytes(20 << 20), ENOSPC);
    });
}

/// Not a single block is left: not even for the commit itself.
#[test]
fn a_disk_without_a_block_keeps_what_it_has() {
    with_own_mounts("full::a_disk_without_a_block_keeps_what_it_has", || {
        let Some(folder) = mount_image("ext4", 16 * MIB, "loop") else { return };
        swath::write(folder.join("out"), b"old").expect("there is room yet");
        fill(&folder);
        let before = names(&folder);
        for len in [0, 1, 5000, 200_000] {
            // Zero bytes need no block, and a few may still find one.
            match swath::write(folder.join("out"), bytes(len)) {
                Ok(_) => assert_eq!(read(&folder.join("out")), bytes(len)),
                Err(error) => {
                    assert_eq!(error.raw_os_error(), Some(ENOSPC), "{error:?}");
                    assert!(len > 0, "{error:?}");
                }
            }
            assert_eq!(names(&folder), before);
        }
        assert!(swath::write(folder.join("out"), bytes(200_000)).is_err());
    });
}

/// Takes every block and, with empty files, what is left of the folder's.
fn fill(folder: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(folder.join("ballast")).expect("made");
    for len in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![1; len]).is_ok() {}
    }
    let _ = file.sync_all();
}

#[test]
fn a_used_up_quota_is_an_error_of_every_way_of_writing() {
    let name = "full::a_used_up_quota_is_an_error_of_every_way_of_writing";
    with_own_mounts(name, || {
        // For a folder: that limit applies to root too, unlike the quota of a user.
        let Some(folder) = mount_image("btrfs", 256 * MIB, "loop") else { return };
        let part = folder.join("part");
        let btrfs =
            |words: &[&str], path: &Path| run(Command::new("btrfs").args(words).arg(path));
        let limited = btrfs(&["subvolume", "create"], &part)
            .and_then(|()| btrfs(&["quota", "enable"], &folder))
            .and_then(|()| btrfs(&["qgroup", "limit", "3M"], &part));
        if let Err(why) = limited {
            return swath_reference::skip("quota", why);
        }
        all_refuse(&part, &bytes(8 << 20), EDQUOT);
    });
}
