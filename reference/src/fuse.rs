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
        let mount = Self { folder: folder.to_owned() };
        for path in [mount.below(), mount.seen()] {
            fs::create_dir(path).expect("room");
        }
        let mut command = Command::new("bindfs");
        command.args(options).arg(mount.below()).arg(mount.seen());
        let refused = match command.output() {
            Ok(output) if output.status.success() => return Some(mount),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => format!("bindfs: {error}"),
        };
        std::mem::forget(mount);
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
