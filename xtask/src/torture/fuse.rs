//! The tests of the command and of the library in a folder of FUSE: bindfs, which caches attributes
//! for a second, has no files without a name, and keeps removed files while they are open; and
//! sshfs, which caches attributes for longer, and renames as SFTP does.

use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::nextest::{self, TestRun};
use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// The tests that cannot pass there.
const LEFT_OUT: &str = include_str!("../../not-on-fuse.txt");

/// A file system that shows a folder at another place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FuseKind {
    Bindfs,
    /// By a server of SFTP on this machine, without a network.
    Sshfs,
}

/// Debian's place for the server.
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";

impl FuseKind {
    fn name(self) -> &'static str {
        match self {
            Self::Bindfs => "bindfs",
            Self::Sshfs => "sshfs",
        }
    }

    /// Returns the services that this machine lacks to mount it.
    fn lack(self, workspace: &Workspace) -> Option<String> {
        if !workspace.has(self.name()) {
            return Some(format!("{}: not installed", self.name()));
        }
        let lacks_server = self == Self::Sshfs && !Path::new(SFTP_SERVER).exists();
        lacks_server.then(|| format!("{SFTP_SERVER}: not installed"))
    }

    /// Shows the first folder at the second; returns the process that serves it.
    fn mount(self, workspace: &Workspace, [below, seen]: [&Path; 2]) -> Result<Vec<Child>> {
        if self == Self::Bindfs {
            process::run_quietly(workspace.command("bindfs").args([below, seen]))?;
            return Ok(Vec::new());
        }
        let (ours, theirs) = UnixStream::pair().context("no pair of sockets")?;
        let both = |end: &UnixStream| -> Result<[Stdio; 2]> {
            let end = || end.try_clone().map(|end| Stdio::from(OwnedFd::from(end)));
            Ok([end()?, end()?])
        };
        let ([from, to], [client_from, client_to]) = (both(&ours)?, both(&theirs)?);
        let server = Command::new(SFTP_SERVER).stdin(from).stdout(to).spawn()?;
        let mut client = Command::new("sshfs");
        client.arg(format!(":{}", below.display())).arg(seen);
        client.args(["-f", "-o", "passive,allow_other,default_permissions"]);
        let client = client.stdin(client_from).stdout(client_to).spawn()?;
        let served = vec![client, server];
        let before = fs::metadata(below)?.dev();
        for _ in 0..100 {
            if fs::metadata(seen)?.dev() != before {
                return Ok(served);
            }
            thread::sleep(Duration::from_millis(100));
        }
        bail!("sshfs shows nothing at {}", seen.display())
    }
}

/// A folder of FUSE; unmounted when it is dropped.
struct FuseMount {
    seen: PathBuf,
    served: Vec<Child>,
}

impl FuseMount {
    fn new(workspace: &Workspace, kind: FuseKind) -> Result<FuseMount> {
        let folder = workspace.target().join("fuse").join(kind.name());
        let (below, seen) = (folder.join("below"), folder.join("seen"));
        for path in [&below, &seen] {
            fs::create_dir_all(path)
                .with_context(|| format!("cannot create {}", path.display()))?;
        }
        // With the mode of /tmp, because tests become other users.
        fs::set_permissions(&below, Permissions::from_mode(0o1777))?;
        let served = kind.mount(workspace, [&below, &seen])?;
        Ok(FuseMount { seen, served })
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        // Lazily, because a failed test may have left a file open.
        let mut end = Command::new("fusermount3");
        let _ = process::run_quietly(end.arg("-uz").arg(&self.seen));
        for served in &mut self.served {
            let _ = served.kill();
            let _ = served.wait();
        }
    }
}

/// Runs the tests; returns their number, or `None` without any of these file systems.
pub(super) fn run(workspace: &Workspace) -> Result<Option<u64>> {
    let refused = if fs::File::open("/dev/fuse").is_err() {
        Some("/dev/fuse cannot be opened")
    } else {
        let has_nextest = programs::path(workspace, "cargo-nextest").is_some();
        (!has_nextest).then_some("no nextest to choose tests with")
    };
    if let Some(why) = refused {
        skips::note(workspace, "fuse", why)?;
        return Ok(None);
    }
    let mut cases = None;
    for kind in [FuseKind::Bindfs, FuseKind::Sshfs] {
        if let Some(why) = kind.lack(workspace) {
            skips::note(workspace, "fuse", &why)?;
            continue;
        }
        let mounted = FuseMount::new(workspace, kind)?;
        let variables = vec![("TMPDIR", mounted.seen.display().to_string())];
        let filter = filter(kind);
        // As a push has built them.
        let workspace = &Workspace::find()?.linted()?;
        let run = TestRun { filter: &filter, profile: "torture", variables };
        *cases.get_or_insert(0) += nextest::run(workspace, &run)?;
    }
    Ok(cases)
}

fn filter(kind: FuseKind) -> String {
    let (both, _) = LEFT_OUT.split_once("\n[sshfs]\n").unwrap_or((LEFT_OUT, ""));
    let lines = if kind == FuseKind::Sshfs { LEFT_OUT } else { both }.lines();
    let names = lines.filter(|it| !it.is_empty() && !it.starts_with(['#', '[']));
    let not = names.map(|name| match name.strip_suffix("::") {
        Some(module) => format!("test(/^{module}::/)"),
        None => format!("test(={name})"),
    });
    format!(
        "(binary_id(swath-cli::command) | binary_id(swath::promises)) & not ({})",
        not.collect::<Vec<_>>().join(" | ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_that_is_left_out_is_in_the_expression() {
        let filter = filter(FuseKind::Bindfs);
        assert!(filter.contains("test(/^fuse::/)") && !filter.contains("test(=fuse::"));
        assert!(filter.contains("| test(=copies_are_whole::holes_stay_holes)"), "{filter}");
        assert!(!filter.contains("the_input_is_never_its_own_output"), "{filter}");
        assert!(super::filter(FuseKind::Sshfs).contains("the_input_is_never_its_own_output"));
    }
}
