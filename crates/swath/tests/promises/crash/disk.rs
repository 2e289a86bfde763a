//! The disk of a simulated machine: its files and folders, and the calls that were made.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path};

use swath::sink::{Facts, FileKind};

use super::world::{FileNode, FolderNode, Inode, Node, World};

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call does nothing and returns this error number.
    Error(i32),
    /// The call does what it should, and returns this error number: a lost reply.
    ErrorAfter(i32),
    /// A write takes only half; other calls are not affected.
    Short,
    /// The power fails: this call and all after it do nothing.
    Crash,
}

/// One call that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Lock,
    Create,
    Write,
    SetLen,
    Allocate,
    Attributes,
    Sync,
    Link,
    Rename,
    Remove,
    List,
    SyncFolder,
}

/// One disk, and the faults planned for it.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) world: World,
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: Vec<(usize, Fault)>,
    pub(crate) is_crashed: bool,
    pub(crate) locked: Vec<(Inode, OsString)>,
}

/// The kernel's error with this number.
pub(crate) fn number(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

/// The writer and owner of everything here.
pub(crate) const USER: u32 = 1000;
pub(crate) const ENOENT: i32 = 2;
pub(crate) const EIO: i32 = 5;
pub(crate) const EEXIST: i32 = 17;
pub(crate) const ENOTDIR: i32 = 20;
pub(crate) const EISDIR: i32 = 21;
pub(crate) const ENOTEMPTY: i32 = 39;

impl Disk {
    pub(crate) fn fault_at(&self, index: usize) -> Option<Fault> {
        self.faults.iter().find(|(at, _)| *at == index).map(|(_, fault)| *fault)
    }

    pub(crate) fn folder(&mut self, inode: Inode) -> &mut FolderNode {
        match &mut self.world.nodes[inode] {
            Node::Folder(folder) => folder,
            Node::File(_) => unreachable!("opened as a folder"),
        }
    }

    /// Returns the target of a name in an open folder.
    pub(crate) fn named(&mut self, folder: Inode, name: &OsStr) -> Option<Inode> {
        self.folder(folder).names.get(name).copied()
    }

    /// The folder that `path` leads to.
    pub(crate) fn folder_at(&self, path: &Path) -> io::Result<Inode> {
        let inode = self.find(path)?.ok_or_else(|| number(ENOENT))?;
        match &self.world.nodes[inode] {
            Node::Folder(_) => Ok(inode),
            Node::File(_) => Err(number(ENOTDIR)),
        }
    }

    pub(crate) fn file(&mut self, inode: Inode) -> &mut FileNode {
        match &mut self.world.nodes[inode] {
            Node::File(file) => file,
            Node::Folder(_) => unreachable!("opened as a file"),
        }
    }

    /// The folder that `path` is in, and its name there.
    pub(crate) fn parent(&self, path: &Path) -> io::Result<(Inode, OsString)> {
        let name = path.file_name().ok_or_else(|| number(EISDIR))?.to_owned();
        Ok((self.folder_at(path.parent().unwrap_or(Path::new("/")))?, name))
    }

    pub(crate) fn find(&self, path: &Path) -> io::Result<Option<Inode>> {
        let mut inode = 0;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let Node::Folder(folder) = &self.world.nodes[inode] else {
                return Err(number(ENOTDIR));
            };
            match folder.names.get(name) {
                Some(&next) => inode = next,
                None => return Ok(None),
            }
        }
        Ok(Some(inode))
    }

    pub(crate) fn add(&mut self, folder: Inode, name: &OsStr, node: Node) -> io::Result<Inode> {
        let inode = self.world.nodes.len();
        let folder = self.folder(folder);
        if folder.names.contains_key(name) {
            return Err(number(EEXIST));
        }
        folder.add(name.to_owned(), inode);
        self.world.nodes.push(node);
        Ok(inode)
    }

    pub(crate) fn facts(&self, inode: Inode) -> Facts {
        let names = self.world.nodes.iter().filter_map(|node| match node {
            Node::Folder(folder) => Some(folder.names.values()),
            Node::File(_) => None,
        });
        let links = names.flatten().filter(|&&named| named == inode).count() as u64;
        let (kind, len, mode) = match &self.world.nodes[inode] {
            Node::File(file) => (FileKind::File, file.bytes.len() as u64, 0o644),
            Node::Folder(_) => (FileKind::Folder, 0, 0o755),
        };
        let identity = (1, inode as u64);
        Facts { kind, len, links, identity, owner: USER, mode, modified: None }
    }

    /// Within one folder: a rename across folders would be two changes.
    pub(crate) fn rename(
        &mut self,
        folder: Inode,
        (from, to): (&OsStr, &OsStr),
        may_replace: bool,
    ) -> io::Result<()> {
        let inode = self.named(folder, from).ok_or_else(|| number(ENOENT))?;
        if let Some(there) = self.named(folder, to) {
            let ours_is_folder = matches!(self.world.nodes[inode], Node::Folder(_));
            match &self.world.nodes[there] {
                _ if !may_replace => return Err(number(EEXIST)),
                Node::Folder(_) if !ours_is_folder => return Err(number(EISDIR)),
                Node::Folder(folder) if !folder.names.is_empty() => {
                    return Err(number(ENOTEMPTY));
                }
                Node::File(_) if ours_is_folder => return Err(number(ENOTDIR)),
                _ => {}
            }
        }
        self.folder(folder).rename(from.to_owned(), to.to_owned(), inode);
        Ok(())
    }
}
