//! The folders of one call's outputs: each is the one that its path led to at first.
//!
//! A mount may end while a call writes one output after another. Its path then leads into the folder that it covered,
//! and what is written there is lost to those who look for it on the mount.

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
    /// By the path of the output: its folder, which keeps its number while it is open, and its name there.
    first: Mutex<HashMap<PathBuf, Located>>,
}

impl SameFolders {
    /// `fs`, with the folders that `outputs` lead to now. Those that lead nowhere are noted at their first use.
    pub(crate) fn of(fs: &Arc<dyn Fs>, outputs: &[&Path]) -> Arc<Self> {
        let same = Self { fs: Arc::clone(fs), first: Mutex::new(HashMap::new()) };
        for output in outputs {
            // Its own step reports why.
            let _ = same.locate(output);
        }
        Arc::new(same)
    }
}

impl Fs for SameFolders {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        let located = self.fs.locate(path)?;
        let folder = located.folder.own_facts()?.identity;
        // An entry is whole or missing, also after a panic.
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
