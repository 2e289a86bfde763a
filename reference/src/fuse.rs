//! A folder that FUSE shows at a second path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// See the [module](self). Unmounted when dropped.
pub struct BindMount {
    folder: PathBuf,
}

impl BindMount {
    /// Creates the folders `below` and `seen` in `folder`, and shows the first at the second by
    /// bindfs with these options. `None`, with a [line](crate::skip) about the skip, if this
    /// machine cannot.
    ///
    /// # Panics
    ///
    /// If the folders cannot be created.
    pub fn new(folder: &Path, options: &[&str]) -> Option<Self> {
        Self::by(folder, |below, seen| {
            let mut command = Command::new("bindfs");
            command.args(options).args([below, seen]);
            command
        })
    }

    /// As [`new`](Self::new), by the command that `mount` makes of the two folders, both empty.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn by(folder: &Path, mount: impl FnOnce(&Path, &Path) -> Command) -> Option<Self> {
        let mounted = Self { folder: folder.to_owned() };
        for path in [mounted.below(), mounted.seen()] {
            fs::create_dir(path).expect("room");
        }
        let mut command = mount(&mounted.below(), &mounted.seen());
        let refused = match command.output() {
            Ok(output) if output.status.success() => return Some(mounted),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => format!("{}: {error}", command.get_program().display()),
        };
        std::mem::forget(mounted);
        crate::skip("fuse", refused.trim());
        None
    }

    /// Returns the original folder.
    pub fn below(&self) -> PathBuf {
        self.folder.join("below")
    }

    /// Returns the folder at which FUSE shows it.
    pub fn seen(&self) -> PathBuf {
        self.folder.join("seen")
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        let ended = Command::new("fusermount3").arg("-uz").arg(self.seen()).status();
        if !ended.is_ok_and(|status| status.success()) {
            let _ = Command::new("umount").arg("-l").arg(self.seen()).status();
        }
    }
}
