//! A real device that fails: a loop device whose backing file has become shorter gives the
//! kernel's own EIO, through every engine.

use std::path::PathBuf;
use std::process::Command;

use swath::{Engine, PageCache, ReadOptions};

const MIB: u64 = 1 << 20;

/// A loop device over a file, detached when dropped.
struct Loop {
    device: PathBuf,
    _backing: tempfile::NamedTempFile,
}

impl Loop {
    /// 16 MiB, the last half of which is gone; `None`, with a message, if it cannot be made.
    fn with_a_missing_half() -> Option<Self> {
        let backing = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
        let backing = backing.expect("a temporary file");
        backing.as_file().set_len(16 * MIB).expect("a hole costs nothing");
        let made =
            Command::new("losetup").args(["--find", "--show"]).arg(backing.path()).output();
        let device = match made {
            Ok(output) if output.status.success() => {
                PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
            }
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr);
                swath_reference::skip("loop-devices", why.trim());
                return None;
            }
            Err(error) => {
                swath_reference::skip("loop-devices", format!("losetup: {error}"));
                return None;
            }
        };
        backing.as_file().set_len(8 * MIB).expect("shorter");
        Some(Self { device, _backing: backing })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.device).status();
        assert!(detached.is_ok_and(|status| status.success()), "losetup attached it");
    }
}

#[test]
fn an_input_error_of_a_device_is_an_error_with_its_bytes_in_every_engine() {
    let Some(failing) = Loop::with_a_missing_half() else { return };
    for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring] {
        for page_cache in [PageCache::Keep, PageCache::Bypass] {
            let options = ReadOptions::new().with_engine(engine).with_page_cache(page_cache);
            let what = format!("{engine} {page_cache}");
            let first = options.clone().with_len(4 * MIB).read(&failing.device);
            assert!(first.expect(&what).buffer.iter().all(|&byte| byte == 0), "{what}");
            let error = options.read(&failing.device).expect_err(&what);
            assert_eq!(error.raw_os_error(), Some(5), "{what}: {error:?}");
            let extent = error.extent().expect("it was about bytes");
            let (offset, len) = (extent.offset(), extent.len());
            assert!(offset + len > 8 * MIB && offset + len <= 16 * MIB, "{what}: {error}");
            assert_eq!(options.sum(&failing.device).expect_err(&what).raw_os_error(), Some(5));
        }
    }
}
