//! Keeps each output of one call in the folder to which its path led at first.
//!
//! A mount may end while a call writes one output after another. Its path then leads into the folder below it, and
//! an output there would be missing on the mount.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::error::Common;
use crate::locks::Mutex;
use crate::sink::fs::{Fs, Located};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct SameFolders {
    fs: Arc<dyn Fs>,
    /// Folder and name of each output, by its path. An open folder keeps its inode number.
    first: Mutex<HashMap<PathBuf, Located>>,
}

impl SameFolders {
    /// Wraps `fs` with the folders to which `outputs` lead now. A path that leads nowhere is noted at its first use.
    pub(crate) fn of(fs: &Arc<dyn Fs>, outputs: &[&Path]) -> Arc<Self> {
        let same = Self { fs: Arc::clone(fs), first: Mutex::new(HashMap::new()) };
        for output in outputs {
            // The step that writes it reports the error.
            let _ = same.locate(output);
        }
        Arc::new(same)
    }
}

impl Fs for SameFolders {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        let located = self.fs.locate(path)?;
        let folder = located.folder.own_facts()?.identity;
        // An entry is whole or missing, even after a panic.
        let mut first = self.first.lock();
        let at = || Located { folder: Arc::clone(&located.folder), name: located.name.clone() };
        let kept = first.entry(path.to_owned()).or_insert_with(at);
        if kept.folder.own_facts()?.identity == folder && kept.name == located.name {
            return Ok(located);
        }
        let number = Errno::NOTCONN.raw_os_error();
        let text = "its path leads to another folder or name than before, as by a link that was put there, or where a mount has ended";
        Err(Common { number, text: text.into() }.into())
    }
}
