//! Lists every file below a folder with several threads; the result does not depend on which thread
//! lists which folder.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, RawDir, fstat, statat};
use rustix::io::Errno;
use swath_os::links::open_long;

use super::file_reader::is_out_of_descriptors;
use super::glob::Glob;
use super::listing::{Listing, as_path};
use super::options::Symlinks;
use super::sort_names::{NameEntry, sort_names};
use crate::error::{Error, Operation, Result};
use crate::locks::{Condvar, Mutex};
use crate::observe::CancelToken;
use crate::threads;

/// The files to keep.
#[derive(Clone, Copy)]
pub(super) enum WalkFilter<'g> {
    All,
    Matching(&'g Glob<'g>),
}

impl WalkFilter<'_> {
    fn file(self, path: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Matching(glob) => glob.matches(path),
        }
    }

    fn folder(self, path: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Matching(glob) => glob.may_match_in(path),
        }
    }
}

/// A folder and its contents.
#[derive(Default)]
struct Node {
    /// The path, with a slash at its end.
    path: Vec<u8>,
    parent: Option<usize>,
    identity: Option<(u64, u64)>,
    /// The names of the folder's files, one after the other.
    names: Vec<u8>,
    files: Vec<NameEntry>,
    folders: Vec<usize>,
    broken: Vec<(Vec<u8>, Error)>,
    left_out: u64,
    special: Option<Vec<u8>>,
    calls: u64,
}

struct Walk<'g> {
    symlinks: Symlinks,
    kept: WalkFilter<'g>,
    base_len: usize,
    cancel: Option<&'g CancelToken>,
    tree: Mutex<Tree>,
    changed: Condvar,
}

#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    waiting: VecDeque<usize>,
    busy: usize,
    /// There are too few descriptors for several threads, so the first continues alone.
    alone: bool,
}

impl Tree {
    /// Whether a helper is worth starting.
    fn is_much(&self) -> bool {
        self.waiting.len() >= MANY && !self.alone
    }
}

/// A thread that lists folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    First,
    Helper,
}

/// Waiting folders from which helpers are worth starting.
const MANY: usize = 16;
const HELPERS: usize = 7;

/// Appends every file below `base` to `listing`. A folder that cannot be listed gets a broken
/// entry of its own.
///
/// # Errors
///
/// If the call is cancelled.
pub(super) fn walk(
    base: &Path,
    symlinks: Symlinks,
    kept: WalkFilter<'_>,
    cancel: Option<&CancelToken>,
    listing: &mut Listing,
) -> Result<()> {
    let mut path = base.as_os_str().as_bytes().to_vec();
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    let base_len = path.len();
    let tree = Tree {
        nodes: vec![Node { path, ..Node::default() }],
        waiting: VecDeque::from([0]),
        busy: 0,
        alone: false,
    };
    let walk = Walk {
        symlinks,
        kept,
        base_len,
        cancel,
        tree: Mutex::new(tree),
        changed: Condvar::new(),
    };
    let help = |_: usize| {
        while let Some(index) = walk.next(Who::Helper) {
            walk.list(index);
        }
    };
    std::thread::scope(|scope| {
        let (mut helpers, most) = (0, swath_os::machine::usable_cpus_at_start() - 1);
        while let Some(index) = walk.next(Who::First) {
            walk.list(index);
            if helpers < most.min(HELPERS) && walk.tree.lock().is_much() {
                // If refused, no further helper is started.
                let started = threads::start(scope, helpers + 1, &help);
                helpers = if started.is_ok() { helpers + 1 } else { most };
            }
        }
    });
    if cancel.is_some_and(CancelToken::is_cancelled) {
        return Err(Error::cancelled(Operation::Open, base));
    }
    let tree = walk.tree.into_inner();
    append(tree.nodes, listing);
    Ok(())
}

/// Appends each folder's files first, then its subfolders in order.
fn append(mut nodes: Vec<Node>, listing: &mut Listing) {
    let mut stack = vec![0];
    while let Some(index) = stack.pop() {
        let node = std::mem::take(&mut nodes[index]);
        for file in &node.files {
            let name = &node.names[file.start as usize..][..file.len as usize];
            listing.push(&node.path, name, file.inode);
        }
        for (path, error) in node.broken {
            listing.push_broken(&path, error);
        }
        listing.left_out += node.left_out;
        listing.special = listing.special.take().or(node.special);
        listing.walk_calls += node.calls;
        let mut folders = node.folders;
        // Without the slash at the end: "a" comes before "a-b".
        let name = |index: usize| nodes[index].path.split_last().map(|(_, name)| name);
        folders.sort_unstable_by(|&a, &b| name(b).cmp(&name(a)));
        stack.extend(folders);
    }
}

impl Walk<'_> {
    /// Waits for a folder to list; `None` when no thread can find another one.
    fn next(&self, who: Who) -> Option<usize> {
        let mut tree = self.tree.lock();
        loop {
            if self.cancel.is_some_and(CancelToken::is_cancelled) {
                tree.waiting.clear();
            }
            if tree.alone && who == Who::Helper {
                return None;
            }
            // Last in, first out: few folders wait, and names of one folder stay together.
            if !(tree.alone && tree.busy > 0)
                && let Some(index) = tree.waiting.pop_back()
            {
                tree.busy += 1;
                return Some(index);
            }
            if tree.busy == 0 {
                return None;
            }
            tree = self.changed.wait(tree);
        }
    }

    fn list(&self, index: usize) {
        let (path, parent) = {
            let tree = self.tree.lock();
            (tree.nodes[index].path.clone(), tree.nodes[index].parent)
        };
        let mut node = Node { path, parent, ..Node::default() };
        let mut below = Vec::new();
        if let Err(error) = self.read(&mut node, &mut below) {
            if is_out_of_descriptors(error.raw_os_error()) && self.put_back(index) {
                return;
            }
            let path = node.path.clone();
            let error = Error::io(Operation::Open, as_path(&path), error);
            node.broken.push((path, error));
        }
        sort_names(&node.names, &mut node.files);
        node.broken.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut tree = self.tree.lock();
        for path in below {
            let at = tree.nodes.len();
            tree.nodes.push(Node { path, parent: Some(index), ..Node::default() });
            node.folders.push(at);
            tree.waiting.push_back(at);
        }
        tree.nodes[index] = node;
        tree.busy -= 1;
        drop(tree);
        self.changed.notify_all();
    }

    /// Leaves a folder for later, when the other threads have closed theirs; returns `false` if there
    /// are no other threads.
    fn put_back(&self, index: usize) -> bool {
        let mut tree = self.tree.lock();
        if tree.busy <= 1 {
            return false;
        }
        tree.alone = true;
        tree.waiting.push_back(index);
        tree.busy -= 1;
        drop(tree);
        self.changed.notify_all();
        true
    }

    fn read(&self, node: &mut Node, below: &mut Vec<Vec<u8>>) -> io::Result<()> {
        let path: &[u8] = if node.path.is_empty() { b"." } else { &node.path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open_long(as_path(path), flags)?;
        node.calls += 2;
        if self.symlinks == Symlinks::Follow {
            let stat = fstat(&folder)?;
            node.calls += 1;
            if self.is_above(node.parent, stat.st_dev, stat.st_ino) {
                return Err(Errno::LOOP.into());
            }
            node.identity = Some((stat.st_dev, stat.st_ino));
        }
        let folder = File::from(folder);
        let mut memory = [MaybeUninit::<u8>::uninit(); 64 << 10];
        let mut entries = RawDir::new(&folder, &mut memory);
        loop {
            node.calls += u64::from(entries.is_buffer_empty());
            let Some(entry) = entries.next() else { return Ok(()) };
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                node.calls += 1;
                let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
                kind = stat.map_or(FileType::RegularFile, |stat| {
                    FileType::from_raw_mode(stat.st_mode)
                });
            }
            if kind == FileType::Symlink {
                kind = match self.symlinks {
                    Symlinks::Skip => FileType::Unknown,
                    // Reading reports a link that leads nowhere.
                    Symlinks::Files | Symlinks::Follow => {
                        node.calls += 1;
                        statat(&folder, name, AtFlags::empty())
                            .map_or(FileType::RegularFile, |stat| {
                                FileType::from_raw_mode(stat.st_mode)
                            })
                    }
                };
                if kind == FileType::Directory && self.symlinks == Symlinks::Files {
                    kind = FileType::Unknown;
                }
            }
            self.found(node, below, name.to_bytes(), kind, entry.ino());
        }
    }

    fn found(
        &self,
        node: &mut Node,
        below: &mut Vec<Vec<u8>>,
        name: &[u8],
        kind: FileType,
        inode: u64,
    ) {
        let inside = || [&node.path[self.base_len..], name].concat();
        match kind {
            FileType::Directory => {
                if self.kept.folder(&inside()) {
                    below.push([&node.path, name, b"/"].concat());
                }
            }
            FileType::RegularFile => {
                if matches!(self.kept, WalkFilter::All) || self.kept.file(&inside()) {
                    let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                    let (start, len) = (narrow(node.names.len()), narrow(name.len()));
                    node.names.extend_from_slice(name);
                    node.files.push(NameEntry { start, len, inode });
                }
            }
            _ => {
                node.left_out += 1;
                let is_special = kind != FileType::Unknown && self.kept.file(&inside());
                if is_special && node.special.is_none() {
                    node.special = Some([&node.path, name].concat());
                }
            }
        }
    }

    /// Whether the folder is one of those above.
    fn is_above(&self, mut parent: Option<usize>, device: u64, inode: u64) -> bool {
        let tree = self.tree.lock();
        while let Some(index) = parent {
            if tree.nodes[index].identity == Some((device, inode)) {
                return true;
            }
            parent = tree.nodes[index].parent;
        }
        false
    }
}
