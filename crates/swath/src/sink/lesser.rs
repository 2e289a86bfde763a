//! The kernel's file system with some features removed, for tests.

use std::io;
use std::sync::Arc;

use crate::sink::fs::Fs;
use crate::sink::hooked::{Call, Hook, Hooked};

/// The missing services.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LesserFs {
    pub(crate) no_nameless: bool,
    pub(crate) no_locks: bool,
    pub(crate) no_rename_new: bool,
    pub(crate) no_links: bool,
}

impl LesserFs {
    /// Files must have names: NFS, most of FUSE.
    pub(crate) const NAMED: Self =
        Self { no_nameless: true, no_locks: false, no_rename_new: false, no_links: false };

    pub(crate) fn fs(self) -> Arc<dyn Fs> {
        Arc::new(Hooked(Arc::new(self)))
    }
}

impl Hook for LesserFs {
    fn before(&self, call: Call) -> io::Result<()> {
        let is_missing = match call {
            Call::CreateNameless => self.no_nameless,
            Call::Lock => self.no_locks,
            Call::RenameNew => self.no_rename_new,
            Call::Link => self.no_links,
            _ => false,
        };
        if is_missing { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
    }
}
