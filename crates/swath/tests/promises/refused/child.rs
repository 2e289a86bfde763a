//! This test program again, in a process of its own: with private mounts, or as another user.

use std::path::Path;
use std::process::{Command, Stdio};

const IN_CHILD: &str = "SWATH_TEST_IN_CHILD";

/// Runs `body` in a child that runs only the test `name` of this module, through `command` if there is one.
///
/// Returns `false` if the command itself cannot be run here.
pub(crate) fn in_child(name: &str, command: &[&str], body: impl FnOnce()) -> bool {
    if std::env::var_os(IN_CHILD).is_some() {
        body();
        return true;
    }
    let program = std::env::current_exe().expect("this program");
    let mut child = match command {
        [] => Command::new(&program),
        [first, rest @ ..] => {
            let works =
                Command::new(first).args(rest).arg("true").stderr(Stdio::null()).status();
            if !works.is_ok_and(|status| status.success()) {
                return false;
            }
            let mut child = Command::new(first);
            child.args(rest).arg(&program);
            child
        }
    };
    child.args(["--exact", &format!("refused::{name}"), "--nocapture"]).env(IN_CHILD, "1");
    let output = child.output().expect("started");
    print!("{}", String::from_utf8_lossy(&output.stderr));
    swath_reference::assert_one_passed(&output);
    true
}

/// Runs `body` in a child whose mounts end with it. Records a skip if that is not allowed.
pub(crate) fn with_own_mounts(name: &str, body: impl FnOnce()) {
    let command = ["unshare", "--mount", "--propagation", "private"];
    if !in_child(name, &command, body) {
        swath_reference::skip("root", "mounts of its own need it");
    }
}

/// A folder that something is mounted on, until it is dropped.
pub(crate) struct Mounted(tempfile::TempDir);

impl std::ops::Deref for Mounted {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Otherwise the mount ends with this process, and the folder stays.
        let _ = run(Command::new("umount").arg(self.0.path()));
    }
}

/// Mounts something on a fresh folder; `None`, with a message, if that is not possible.
pub(crate) fn mount(capability: &str, arguments: &[&str]) -> Option<Mounted> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("mount");
    match run(command.args(arguments).arg(folder.path())) {
        Ok(()) => Some(Mounted(folder)),
        Err(why) => {
            swath_reference::skip(capability, why);
            None
        }
    }
}

/// Makes a file system in a file and mounts it.
pub(crate) fn mount_image(kind: &str, len: u64, options: &str) -> Option<Mounted> {
    let image = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
    let (file, path) = image.expect("a temporary file").into_parts();
    file.set_len(len).expect("a hole costs nothing");
    let made = run(Command::new(format!("mkfs.{kind}")).args(["-q", path_of(&path)]));
    if let Err(why) = made {
        swath_reference::skip("loop-devices", why);
        return None;
    }
    let folder = mount("loop-devices", &["-t", kind, "-o", options, path_of(&path)]);
    // The mount keeps the image; nothing is left of it when the mounts end.
    path.close().expect("removed");
    folder
}

fn path_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("{}: {error}", command.get_program().to_string_lossy())),
    }
}
