//! The limits that a command runs under.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use swath_reference::skip;

#[derive(Debug)]
pub(crate) enum Limit<'l> {
    None,
    /// The thread that runs the command must be one that cannot start threads.
    NoThreads,
    /// This many descriptors in addition to the standard streams.
    Descriptors(usize),
    /// Less address space than half a gibibyte.
    AddressSpace,
    /// No file may be longer than some kilobytes, standard output among them.
    FileSize,
    /// A file system with little room.
    Disk(&'l Disk),
    FullOutput,
    Closed,
    Group(&'l Group),
}

impl Limit<'_> {
    /// `swath` under this limit.
    pub(crate) fn command(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_swath");
        let line = match self {
            Self::None | Self::NoThreads | Self::FullOutput | Self::Disk(_) => {
                return Command::new(program);
            }
            // The loader needs one for libraries: standard input is opened again before `main`.
            Self::Descriptors(0) => String::from(r#"ulimit -n 3; exec "$0" "$@" <&-"#),
            Self::Descriptors(free) => format!(r#"ulimit -n {}; exec "$0" "$@""#, 3 + free),
            Self::AddressSpace => String::from(r#"ulimit -v 400000; exec "$0" "$@""#),
            Self::FileSize => String::from(r#"ulimit -f 8; exec "$0" "$@""#),
            Self::Closed => String::from(r#"exec "$0" "$@" <&- >&- 2>&-"#),
            Self::Group(group) => {
                let tasks = group.0.join("cgroup.procs");
                format!(r#"echo $$ > '{}' && exec "$0" "$@""#, tasks.display())
            }
        };
        let mut command = Command::new("sh");
        command.args(["-c", &line, program]);
        command
    }
}

/// A control group of this test, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Group(PathBuf);

impl Group {
    /// One that has this many bytes.
    pub(crate) fn of_memory(bytes: u64) -> Option<Self> {
        let files = ["memory.limit_in_bytes", "memory.max"];
        Self::of("memory", files, &bytes.to_string())
    }

    /// One whose only process cannot start a thread.
    pub(crate) fn of_one_process() -> Option<Self> {
        Self::of("pids", ["pids.max"; 2], "1")
    }

    /// Returns the limit of the first version of control groups, else of the second.
    fn of(controller: &str, files: [&str; 2], limit: &str) -> Option<Self> {
        let name = format!("swath-limits-{controller}-{}", std::process::id());
        let mut refused = String::from("there are no control groups");
        for (parent, file) in [controller, ""].iter().zip(files) {
            let group = Path::new("/sys/fs/cgroup").join(parent).join(&name);
            if !group.with_file_name("cgroup.procs").exists() {
                continue;
            }
            let made = fs::create_dir(&group).map(|()| Self(group));
            match made.and_then(|own| fs::write(own.0.join(file), limit).map(|()| own)) {
                Ok(own) => return Some(own),
                Err(error) => refused = error.to_string(),
            }
        }
        skip("cgroups", refused);
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A file system in memory with room for a few pages.
#[derive(Debug)]
pub(crate) struct Disk(tempfile::TempDir);

impl Disk {
    pub(crate) fn small() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=32k", "tmpfs"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(folder)),
            Ok(output) => {
                skip("root", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skip("root", error);
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// Where everything that is written is refused.
pub(crate) fn full() -> File {
    File::options().write(true).open("/dev/full").expect("every Linux has it")
}
