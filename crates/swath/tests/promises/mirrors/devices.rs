//! Real devices: one that fails, a disk that is full, a file system that shares blocks.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use swath::heal::HealOptions;
use swath::mirror::{Mirrored, Verify};
use swath::{Engine, ReadOptions, Source, manifest};
use swath_reference::{bytes, skip};

use crate::mirrors::copies::texts;

const MIB: usize = 1 << 20;

/// Returns why a command did not do what it should.
fn run(command: &mut Command) -> Result<String, String> {
    match command.output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A loop device over a file whose second half is gone; detached when dropped.
struct Failing {
    device: PathBuf,
    _backing: tempfile::NamedTempFile,
}

impl Failing {
    fn new(right: &[u8]) -> Option<Self> {
        let backing = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
        let backing = backing.expect("a temporary file");
        std::fs::write(backing.path(), right).expect("room");
        let made = run(Command::new("losetup").args(["--find", "--show"]).arg(backing.path()));
        match made {
            Ok(device) => {
                backing.as_file().set_len(right.len() as u64 / 2).expect("shorter");
                Some(Self { device: device.into(), _backing: backing })
            }
            Err(why) => {
                skip("loop-devices", why);
                None
            }
        }
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        let detached = run(Command::new("losetup").arg("--detach").arg(&self.device));
        assert!(detached.is_ok(), "losetup attached it");
    }
}

#[test]
fn what_a_device_fails_at_comes_from_another_copy() {
    let right = bytes(31, 16 * MIB);
    let Some(failing) = Failing::new(&right) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("good");
    std::fs::write(&good, &right).expect("room");
    let sums = Arc::new(manifest::of(&good).expect("readable"));
    for verify in [Verify::None, Verify::Manifest(sums)] {
        for engine in [Engine::Auto, Engine::Serial, Engine::Pool] {
            let options = ReadOptions::new().with_engine(engine);
            let source = Mirrored::new([&failing.device, &good]).with_verify(verify.clone());
            let loaded = options.read(source).expect("the file is good");
            assert!(loaded.buffer[..] == right[..], "{engine}");
            let device = &loaded.report.mirrors[0];
            if engine == Engine::Serial {
                assert!(device.errors <= 4, "{device:?}");
            }
            assert_eq!(device.errors, device.fail_overs, "{device:?}");
            if device.errors > 0 {
                let told = texts(&loaded.report.fallbacks).join("\n");
                assert!(told.contains("os error 5"), "{told}");
            }
        }
    }
    let error = ReadOptions::new().read(Source::mirrored([&failing.device]));
    assert!(format!("{:?}", error.expect_err("no other copy")).contains("os error 5"));
}

/// A file system, unmounted when dropped.
struct Mounted {
    folder: tempfile::TempDir,
    _image: Option<tempfile::NamedTempFile>,
}

impl Mounted {
    fn new(arguments: &[&str], image: Option<tempfile::NamedTempFile>) -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("mount");
        command.args(arguments);
        if let Some(image) = &image {
            command.arg(image.path());
        }
        run(command.arg(folder.path()))?;
        Ok(Self { folder, _image: image })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run(Command::new("umount").arg(self.folder.path()));
    }
}

fn flip(path: &Path, offset: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).expect("there");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("inside");
    file.write_all_at(&[byte[0] ^ 1], offset).expect("room");
}

#[test]
fn a_copy_on_a_full_disk_stays_as_it_is() {
    let full = match Mounted::new(&["-t", "tmpfs", "-o", "size=8m", "none"], None) {
        Ok(full) => full,
        Err(why) => return skip("root", why),
    };
    let right = bytes(32, 5 * MIB);
    let folder = tempfile::tempdir().expect("a folder");
    let (good, bad) = (folder.path().join("good"), full.path().join("bad"));
    std::fs::write(&good, &right).expect("room");
    std::fs::write(&bad, &right).expect("room");
    flip(&bad, 3 * MIB as u64);
    let damaged = std::fs::read(&bad).expect("there");
    let sums = Verify::Manifest(Arc::new(manifest::of(&good).expect("readable")));
    let healed = HealOptions::new().heal(&[&good, &bad], &sums).expect("one is good");
    let error = healed.failure().expect("no room");
    assert_eq!(error.raw_os_error(), Some(28), "{error:?}");
    assert_eq!(error.path(), bad);
    assert!(std::fs::read(&bad).expect("there") == damaged);
    assert_eq!(std::fs::read_dir(full.path()).expect("a folder").count(), 1);
}

#[test]
fn what_is_good_is_shared_with_the_old_file_where_the_file_system_can() {
    let image = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
    let image = image.expect("a temporary file");
    image.as_file().set_len(400 << 20).expect("a hole costs nothing");
    if let Err(why) = run(Command::new("mkfs.xfs").args(["-q", "-f"]).arg(image.path())) {
        return skip("reflink", why);
    }
    let disk = match Mounted::new(&["-o", "loop"], Some(image)) {
        Ok(disk) => disk,
        Err(why) => return skip("loop-devices", why),
    };
    let right = bytes(33, 8 * MIB + 5);
    let paths = ["a", "b"].map(|name| disk.path().join(name));
    paths.iter().for_each(|path| std::fs::write(path, &right).expect("room"));
    let sums = Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable")));
    flip(&paths[1], 2 * MIB as u64 + 9);
    let healed = HealOptions::new().heal(&paths, &sums).expect("room");
    let rewritten = healed.copies[1].rewritten.expect("it was bad");
    assert_eq!(rewritten.healed_bytes, MIB as u64);
    assert_eq!(rewritten.cloned_bytes, 7 * MIB as u64, "{rewritten:?}");
    assert_eq!(rewritten.copied_bytes, 5);
    assert!(std::fs::read(&paths[1]).expect("there") == right);
}
