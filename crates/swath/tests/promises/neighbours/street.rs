//! A folder that two users write to, and what is private next to it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};

pub(crate) const NOBODY: u32 = 65534;
pub(crate) const OLD: &[u8] = b"the old bytes";
const SEGMENT: &str = "segment-0123456789abcdef";

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The owner of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Like `/tmp`: all users may create files, and only owners may move theirs.
    Everybodys,
    /// The neighbour's, who may move everything in it.
    Neighbours,
}

/// The file at the target before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    /// A file that only the writer may read.
    Mine,
    /// A file of the neighbour's.
    Theirs,
}

/// See the [module](self).
pub(crate) struct Street {
    pub(crate) before: Before,
    root: tempfile::TempDir,
    /// The folder itself, wherever it is moved.
    folder: File,
    /// A folder of segments of the writer's, in the same folder.
    mine: File,
    private: Vec<Seen>,
    segments: Vec<Seen>,
}

/// The facts about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    owner: u32,
    mode: u32,
    bytes: Vec<u8>,
}

/// Runs `act` as the neighbour: as another user if this one is root.
pub(crate) fn as_neighbour<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let become_nobody = || {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        rustix::thread::set_thread_groups(&[]).expect("root may");
        rustix::thread::set_thread_res_gid(group, group, group).expect("root may");
        rustix::thread::set_thread_res_uid(user, user, user).expect("root may");
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if is_root() {
                become_nobody();
            }
            act()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("mine");
}

fn give_away(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    }
}

fn make_file(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).expect("room");
    set_mode(path, mode);
}

fn make_folder(path: &Path, mode: u32) {
    fs::create_dir(path).expect("made");
    set_mode(path, mode);
}

fn make_segments(path: &Path) {
    make_folder(path, 0o700);
    make_file(&path.join(SEGMENT), b"committed bytes", 0o600);
    make_file(&path.join("MANIFEST"), b"names them", 0o600);
}

impl Street {
    pub(crate) fn new(whose: Whose, before: Before) -> Self {
        // In memory, if there is such a folder: none of this is about a disk.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let root = root.expect("a folder");
        set_mode(root.path(), 0o755);
        let path = |name: &str| root.path().join(name);
        make_folder(&path("private"), 0o700);
        make_file(&path("private/secret"), b"a secret", 0o600);
        make_file(&path("private/program"), b"a program", 0o4755);
        make_segments(&path("private/segments"));
        make_folder(&path("corner"), 0o755);
        let shared = path("corner/shared");
        make_folder(&shared, if whose == Whose::Everybodys { 0o1777 } else { 0o755 });
        make_segments(&shared.join("mine"));
        let out = shared.join("out");
        match before {
            Before::Nothing => {}
            Before::Mine => make_file(&out, OLD, 0o600),
            Before::Theirs => {
                make_file(&out, OLD, 0o666);
                give_away(&out);
            }
        }
        if whose == Whose::Neighbours {
            give_away(&path("corner"));
            give_away(&shared);
        }
        let open = |path: &Path| File::open(path).expect("there");
        let (folder, mine) = (open(&shared), open(&shared.join("mine")));
        let mut street = Self { before, root, folder, mine, private: vec![], segments: vec![] };
        street.private = seen(&street.private());
        street.segments = seen(&by_descriptor(&street.mine));
        street
    }

    pub(crate) fn private(&self) -> PathBuf {
        self.root.path().join("private")
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.path().join("corner/shared")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder().join("out")
    }

    /// Returns the target in the folder that was named first, wherever that is now.
    pub(crate) fn target(&self) -> PathBuf {
        by_descriptor(&self.folder).join("out")
    }

    /// Whether these are the facts of the writer's folder that was there before.
    pub(crate) fn is_mine(&self, facts: &fs::Metadata) -> bool {
        self.mine.metadata().is_ok_and(|mine| mine.ino() == facts.ino())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(by_descriptor(&self.folder)).expect("listed");
        let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name()).ok();
        entries.filter_map(|it| name(it)?.into_string().ok()).collect()
    }

    /// Fails if something has happened to what was not written to.
    pub(crate) fn check_private(&self) -> Result<(), String> {
        let now = [seen(&self.private()), seen(&by_descriptor(&self.mine))].concat();
        let then = [self.private.clone(), self.segments.clone()].concat();
        let changed = then.iter().find(|seen| !now.contains(seen));
        let appeared = now.iter().find(|seen| !then.contains(seen));
        match (changed, appeared) {
            (None, None) => Ok(()),
            (changed, appeared) => Err(format!("{changed:?} has become {appeared:?}")),
        }
    }
}

fn by_descriptor(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Everything below a folder, and the folder itself.
fn seen(folder: &Path) -> Vec<Seen> {
    let mut all = Vec::new();
    let mut ways = vec![PathBuf::new()];
    while let Some(path) = ways.pop() {
        let whole = folder.join(&path);
        let facts = fs::symlink_metadata(whole.join(".")).or(fs::symlink_metadata(&whole));
        let facts = facts.expect("there");
        let mut bytes = Vec::new();
        if facts.is_dir() {
            for entry in fs::read_dir(&whole).expect("listed") {
                ways.push(path.join(entry.expect("an entry").file_name()));
            }
        } else if facts.is_file() {
            File::open(&whole).expect("mine").read_to_end(&mut bytes).expect("read");
        }
        let mode = facts.mode();
        all.push(Seen { path, owner: facts.uid(), mode, bytes });
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}
