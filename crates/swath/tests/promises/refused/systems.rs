//! Every file system that can be mounted here: the same promises on each.

use std::fs;
use std::io::Write;
use std::path::Path;

use swath::append::{AppendOptions, Mode};
use swath::sink::Replace;
use swath::{OutputOptions, Reason, WriteOptions};

use crate::refused::child::{mount, mount_image, with_own_mounts};
use crate::refused::ways::{Way, bytes, names, read};

const MIB: u64 = 1 << 20;

/// Creates, replaces, refuses and checkpoints.
fn keeps_every_promise(folder: &Path) {
    for way in Way::ALL {
        let path = folder.join(format!("{way:?}"));
        for len in [300_000, 0, 1, 70_000] {
            let bytes = bytes(len);
            way.leave(&path, &bytes).unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
            assert!(read(&path) == bytes, "{way:?}, {len} bytes");
        }
    }
    let long = folder.join("n".repeat(if folder.ends_with("short") { 140 } else { 250 }));
    swath::write(&long, b"first").expect("a long name");
    swath::write(&long, b"second").expect("a long name");
    assert_eq!(read(&long), b"second");

    let refused =
        WriteOptions::new().with_output(OutputOptions::new().with_replace(Replace::Refused));
    let error = refused.write(&long, b"third").expect_err("it is there");
    assert_eq!(error.io_kind(), std::io::ErrorKind::AlreadyExists);

    let held = WriteOptions::new().create(&long, 10).expect("begun");
    let error = swath::write(&long, b"third").expect_err("somebody else");
    assert_eq!(error.reason(), Reason::Busy);
    drop(held);
    for mode in [Mode::Plain, Mode::Segments] {
        checkpoints(&folder.join(format!("log {mode:?}")), mode);
    }
    assert_eq!(names(folder).len(), Way::ALL.len() + 3, "{:?}", names(folder));
}

fn checkpoints(path: &Path, mode: Mode) {
    let out = AppendOptions::new().with_mode(mode).create(path).expect("begun");
    let mut wanted = Vec::new();
    for round in 0..3 {
        let bytes = bytes(100_000 + round);
        (&mut &out).write_all(&bytes).expect("written");
        wanted.extend(bytes);
        out.checkpoint().expect("left");
        assert!(read(path) == wanted, "{mode:?}, round {round}");
    }
    drop(out);
    assert!(read(path) == wanted, "{mode:?}, without a commit");
    let options = AppendOptions::new().with_mode(mode);
    let mut out = options.append_to_existing(path).expect("begun");
    out.write_all(b"after").expect("written");
    out.commit().expect("committed");
    wanted.extend(b"after");
    assert!(read(path) == wanted, "{mode:?}, gone on with");
}

#[test]
fn this_file_system_keeps_every_promise() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    keeps_every_promise(folder.path());
}

#[test]
fn ext4_keeps_every_promise() {
    with_own_mounts("systems::ext4_keeps_every_promise", || {
        let mounted = mount_image("ext4", 64 * MIB, "loop");
        mounted.iter().for_each(|folder| keeps_every_promise(folder));
    });
}

#[test]
fn xfs_keeps_every_promise() {
    with_own_mounts("systems::xfs_keeps_every_promise", || {
        let mounted = mount_image("xfs", 400 * MIB, "loop");
        mounted.iter().for_each(|folder| keeps_every_promise(folder));
    });
}

#[test]
fn btrfs_keeps_every_promise() {
    with_own_mounts("systems::btrfs_keeps_every_promise", || {
        let mounted = mount_image("btrfs", 256 * MIB, "loop");
        mounted.iter().for_each(|folder| keeps_every_promise(folder));
    });
}

#[test]
fn a_file_system_in_memory_keeps_every_promise() {
    with_own_mounts("systems::a_file_system_in_memory_keeps_every_promise", || {
        let mounted = mount("root", &["-t", "tmpfs", "none"]);
        mounted.iter().for_each(|folder| keeps_every_promise(folder));
    });
}

#[test]
fn an_overlay_keeps_every_promise() {
    with_own_mounts("systems::an_overlay_keeps_every_promise", || {
        let Some(below) = mount("root", &["-t", "tmpfs", "none"]) else { return };
        let layers = ["lower", "upper", "work"].map(|name| below.join(name));
        layers.iter().for_each(|layer| fs::create_dir(layer).expect("made"));
        let [lower, upper, work] = layers.each_ref().map(|layer| layer.display());
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        fs::write(layers[0].join("Write"), b"of the lower layer").expect("written");
        let mounted = mount("overlay", &["-t", "overlay", "-o", &options, "none"]);
        mounted.iter().for_each(|folder| keeps_every_promise(folder));
    });
}
