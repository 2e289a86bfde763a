//! The kernel's file system, slowed down: calls that give names take longer, so that a kill more
//! often falls between them; optionally, files must have names.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use crate::hooked::{Call, Hook};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slow {
    pub(crate) nameless: bool,
}

fn gives_names(call: Call) -> bool {
    use Call::{Create, CreateFolder, Link, Lock, Remove, RemoveFolder, Rename, RenameNew};
    matches!(
        call,
        Lock | Create | Link | Rename | RenameNew | Remove | CreateFolder | RemoveFolder
    )
}

fn linger(call: Call) {
    if gives_names(call) {
        sleep(Duration::from_micros(300));
    }
}

impl Hook for Slow {
    fn before(&self, call: Call) -> io::Result<()> {
        // Without such a rename only the long way remains: two names for a moment.
        if !self.nameless && matches!(call, Call::CreateNameless | Call::RenameNew) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        linger(call);
        Ok(())
    }

    fn after(&self, call: Call) {
        linger(call);
    }
}
