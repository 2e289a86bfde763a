//! A file system in memory that fails, or loses power, at any call.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swath::sink::{Facts, Fs, FsFile, FsFolder, Located, Lock};

use super::disk::{
    Call, Disk, EEXIST, EIO, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, Fault, USER, number,
};
use super::world::{BLOCK, FileNode, FolderNode, Inode, Node, World};

/// The abilities of this file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    pub(crate) nameless: bool,
    pub(crate) links: bool,
    pub(crate) rename_new: bool,
    pub(crate) reflink: bool,
    pub(crate) copy: bool,
}

impl Abilities {
    pub(crate) const ALL: Self =
        Self { nameless: true, links: true, rename_new: true, reflink: true, copy: true };
    /// Files must have names, and nothing is shared.
    pub(crate) const FEW: Self =
        Self { nameless: false, links: true, rename_new: false, reflink: false, copy: false };
    /// As FAT: not even two names for one file.
    pub(crate) const FEWEST: Self =
        Self { nameless: false, links: false, rename_new: false, reflink: false, copy: false };
    pub(crate) const KINDS: [Self; 3] = [Self::ALL, Self::FEW, Self::FEWEST];
}

/// See the [module](self). Clones are the same file system.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedFs {
    disk: Arc<Mutex<Disk>>,
    abilities: Abilities,
}

#[derive(Debug)]
struct SimulatedFile {
    fs: SimulatedFs,
    inode: Inode,
}

#[derive(Debug)]
struct SimulatedFolder {
    fs: SimulatedFs,
    inode: Inode,
}

#[derive(Debug)]
struct SimulatedLock {
    fs: SimulatedFs,
    place: (Inode, OsString),
}

fn unsupported() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

impl SimulatedFs {
    pub(crate) fn new(abilities: Abilities) -> Self {
        Self::of(World::new(), abilities)
    }

    /// The machine starts again with this disk.
    pub(crate) fn of(world: World, abilities: Abilities) -> Self {
        let disk =
            Disk { world, calls: vec![], faults: vec![], is_crashed: false, locked: vec![] };
        Self { disk: Arc::new(Mutex::new(disk)), abilities }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets each fault happen at the call with its index, counted from now.
    pub(crate) fn plan(&self, faults: &[(usize, Fault)]) {
        let mut disk = self.disk();
        disk.calls.clear();
        disk.faults = faults.to_vec();
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.disk().calls.clone()
    }

    /// A copy of everything, as it is now.
    pub(crate) fn world(&self) -> World {
        self.disk().world.clone()
    }

    pub(crate) fn abilities(&self) -> Abilities {
        self.abilities
    }

    /// Makes a file that has always existed.
    pub(crate) fn prepare(&self, path: &Path, bytes: &[u8]) {
        self.prepare_node(path, Node::File(FileNode::settled(bytes)));
    }

    pub(crate) fn prepare_folder(&self, path: &Path) {
        self.prepare_node(path, Node::Folder(FolderNode::default()));
    }

    fn prepare_node(&self, path: &Path, node: Node) {
        let mut disk = self.disk();
        let (folder, name) = disk.parent(path).expect("there");
        disk.add(folder, &name, node).expect("a free name");
        disk.folder(folder).synced();
    }

    /// Makes everything done so far count as having always existed.
    pub(crate) fn settle(&self) {
        for node in &mut self.disk().world.nodes {
            match node {
                Node::File(file) => file.synced(),
                Node::Folder(folder) => folder.synced(),
            }
        }
    }

    /// Returns the bytes that a reader sees: `None` if nothing is there.
    pub(crate) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let mut disk = self.disk();
        let inode = disk.find(path).ok()??;
        match &mut disk.world.nodes[inode] {
            Node::File(file) => Some(file.bytes.clone()),
            Node::Folder(_) => None,
        }
    }

    /// The names in a folder, in order; empty if there is no such folder.
    pub(crate) fn names(&self, folder: &Path) -> Vec<String> {
        let mut disk = self.disk();
        let Ok(folder) = disk.folder_at(folder) else { return Vec::new() };
        disk.folder(folder)
            .names
            .keys()
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Makes one call: counts it, lets it fail, or does it.
    fn call<T>(
        &self,
        call: Call,
        act: impl FnOnce(&mut Disk) -> io::Result<T>,
    ) -> io::Result<T> {
        self.call_or_fail(call, act, |_| ())
    }

    /// As [`call`](Self::call); `failed` is what an error does to the disk.
    fn call_or_fail<T>(
        &self,
        call: Call,
        act: impl FnOnce(&mut Disk) -> io::Result<T>,
        failed: impl FnOnce(&mut Disk),
    ) -> io::Result<T> {
        let mut disk = self.disk();
        if disk.is_crashed {
            return Err(number(EIO));
        }
        let index = disk.calls.len();
        disk.calls.push(call);
        match disk.fault_at(index) {
            Some(Fault::Crash) => {
                disk.is_crashed = true;
                Err(number(EIO))
            }
            Some(Fault::Error(errno)) => {
                failed(&mut disk);
                Err(number(errno))
            }
            Some(Fault::ErrorAfter(errno)) => {
                let done = act(&mut disk);
                // What it made may lock the disk when it is dropped.
                drop(disk);
                done?;
                Err(number(errno))
            }
            Some(Fault::Short) | None => act(&mut disk),
        }
    }

    fn is_short(&self) -> bool {
        let disk = self.disk();
        disk.fault_at(disk.calls.len()) == Some(Fault::Short)
    }

    fn open_inode(&self, inode: Inode) -> Arc<dyn FsFile> {
        Arc::new(SimulatedFile { fs: self.clone(), inode })
    }
}

fn at(offset: u64) -> usize {
    usize::try_from(offset).expect("small")
}

impl SimulatedFile {
    fn inode_of(&self, from: &dyn FsFile) -> io::Result<Inode> {
        let from = from.as_any().downcast_ref::<SimulatedFile>();
        from.map(|from| from.inode).ok_or_else(unsupported)
    }

    fn copy(&self, from: Inode, from_offset: u64, to_offset: u64, len: u64) -> io::Result<u64> {
        self.fs.call(Call::Write, |disk| {
            let bytes = disk.file(from).bytes.clone();
            let start = at(from_offset).min(bytes.len());
            let end = at(from_offset + len).min(bytes.len());
            disk.file(self.inode).write(at(to_offset), &bytes[start..end]);
            Ok((end - start) as u64)
        })
    }
}

impl FsFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let taken = if self.fs.is_short() { bytes.len().div_ceil(2) } else { bytes.len() };
        self.fs.call(Call::Write, |disk| {
            disk.file(self.inode).write(at(offset), &bytes[..taken]);
            Ok(taken)
        })
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.fs.call(Call::Read, |disk| {
            let bytes = &disk.file(self.inode).bytes;
            let rest = bytes.get(at(offset)..).unwrap_or(&[]);
            let len = rest.len().min(into.len());
            into[..len].copy_from_slice(&rest[..len]);
            Ok(len)
        })
    }

    fn facts(&self) -> io::Result<Facts> {
        self.fs.call(Call::Read, |disk| Ok(disk.facts(self.inode)))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.fs.call(Call::SetLen, |disk| {
            disk.file(self.inode).set_len(at(len));
            Ok(())
        })
    }

    fn allocate(&self, _offset: u64, _len: u64) -> io::Result<()> {
        self.fs.call(Call::Allocate, |_| Ok(()))
    }

    fn clone_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<()> {
        let aligned =
            [from_offset, to_offset, len].iter().all(|&it| at(it).is_multiple_of(BLOCK));
        if !self.fs.abilities.reflink || !aligned {
            return Err(unsupported());
        }
        self.copy(self.inode_of(from)?, from_offset, to_offset, len).map(|_| ())
    }

    fn copy_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<u64> {
        if !self.fs.abilities.copy {
            return Err(unsupported());
        }
        let len = if self.fs.is_short() { len.div_ceil(2) } else { len };
        self.copy(self.inode_of(from)?, from_offset, to_offset, len)
    }

    fn copy_attributes(
        &self,
        folder: &dyn FsFolder,
        name: &OsStr,
        seen: &Facts,
    ) -> io::Result<bool> {
        let folder = folder.as_any().downcast_ref::<SimulatedFolder>();
        let folder = folder.ok_or_else(unsupported)?.inode;
        self.fs.call(Call::Attributes, |disk| {
            let there = disk.named(folder, name);
            Ok(there.is_some_and(|inode| disk.facts(inode).identity == seen.identity))
        })
    }

    fn set_mode(&self, _mode: u32) -> io::Result<()> {
        self.fs.call(Call::Attributes, |_| Ok(()))
    }

    fn sync(&self) -> io::Result<()> {
        let done = |disk: &mut Disk| {
            disk.file(self.inode).synced();
            Ok(())
        };
        let failed = |disk: &mut Disk| disk.file(self.inode).sync_failed();
        self.fs.call_or_fail(Call::Sync, done, failed)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Lock for SimulatedLock {
    fn owner(&self) -> u32 {
        USER
    }
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut disk = self.fs.disk();
        disk.locked.retain(|place| place != &self.place);
        if !disk.is_crashed {
            let (folder, name) = self.place.clone();
            disk.folder(folder).remove(name);
        }
    }
}

impl Fs for SimulatedFs {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        self.call(Call::Read, |disk| {
            let (inode, name) = disk.parent(path)?;
            Ok(Located { folder: Arc::new(SimulatedFolder { fs: self.clone(), inode }), name })
        })
    }
}

impl SimulatedFolder {
    fn open_folder_of(&self, inode: Inode) -> Arc<dyn FsFolder> {
        Arc::new(Self { fs: self.fs.clone(), inode })
    }

    fn create(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.fs.call(Call::Create, |disk| {
            let inode = disk.add(self.inode, name, Node::File(FileNode::default()))?;
            Ok(self.fs.open_inode(inode))
        })
    }
}

impl FsFolder for SimulatedFolder {
    fn own_facts(&self) -> io::Result<Facts> {
        self.fs.call(Call::Read, |disk| Ok(disk.facts(self.inode)))
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.fs.call(Call::Read, |_| Ok(true))
    }

    fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        self.fs.call(Call::Read, |disk| {
            Ok(disk.named(self.inode, name).map(|inode| disk.facts(inode)))
        })
    }

    fn may_write(&self, name: &OsStr) -> io::Result<()> {
        self.fs.call(Call::Read, |disk| {
            disk.named(self.inode, name).map(|_| ()).ok_or_else(|| number(ENOENT))
        })
    }

    fn lock(&self, name: &OsStr, _user: Option<u32>) -> io::Result<Option<Box<dyn Lock>>> {
        let place = (self.inode, name.to_owned());
        self.fs.call(Call::Lock, |disk| {
            if disk.locked.contains(&place) {
                return Ok(None);
            }
            if disk.named(self.inode, name).is_none() {
                disk.add(self.inode, name, Node::File(FileNode::default()))?;
            }
            disk.locked.push(place.clone());
            let lock = SimulatedLock { fs: self.fs.clone(), place: place.clone() };
            Ok(Some(Box::new(lock) as Box<dyn Lock>))
        })
    }

    fn create_nameless(&self) -> io::Result<Arc<dyn FsFile>> {
        if !self.fs.abilities.nameless {
            return Err(unsupported());
        }
        self.fs.call(Call::Create, |disk| {
            disk.world.nodes.push(Node::File(FileNode::default()));
            Ok(self.fs.open_inode(disk.world.nodes.len() - 1))
        })
    }

    fn create_new(&self, name: &OsStr, _mode: u32) -> io::Result<Arc<dyn FsFile>> {
        self.create(name)
    }

    fn open(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.fs.call(Call::Read, |disk| {
            let inode = disk.named(self.inode, name).ok_or_else(|| number(ENOENT))?;
            match disk.world.nodes[inode] {
                Node::File(_) => Ok(self.fs.open_inode(inode)),
                Node::Folder(_) => Err(number(EISDIR)),
            }
        })
    }

    fn open_to_write(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.open(name)
    }

    fn link(&self, file: &dyn FsFile, name: &OsStr) -> io::Result<()> {
        if !self.fs.abilities.links {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let file = file.as_any().downcast_ref::<SimulatedFile>().ok_or_else(unsupported)?;
        self.fs.call(Call::Link, |disk| {
            let folder = disk.folder(self.inode);
            if folder.names.contains_key(name) {
                return Err(number(EEXIST));
            }
            folder.add(name.to_owned(), file.inode);
            Ok(())
        })
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.fs.call(Call::Rename, |disk| disk.rename(self.inode, (from, to), true))
    }

    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        if !self.fs.abilities.rename_new {
            return Err(unsupported());
        }
        self.fs.call(Call::Rename, |disk| disk.rename(self.inode, (from, to), false))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.fs.call(Call::Remove, |disk| {
            let inode = disk.named(self.inode, name).ok_or_else(|| number(ENOENT))?;
            if matches!(disk.world.nodes[inode], Node::Folder(_)) {
                return Err(number(EISDIR));
            }
            disk.folder(self.inode).remove(name.to_owned());
            Ok(())
        })
    }

    fn create_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        self.fs.call(Call::Create, |disk| {
            let inode = disk.add(self.inode, name, Node::Folder(FolderNode::default()))?;
            Ok(self.open_folder_of(inode))
        })
    }

    fn open_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        self.fs.call(Call::Read, |disk| {
            let inode = disk.named(self.inode, name).ok_or_else(|| number(ENOENT))?;
            match disk.world.nodes[inode] {
                Node::Folder(_) => Ok(self.open_folder_of(inode)),
                Node::File(_) => Err(number(ENOTDIR)),
            }
        })
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.fs.call(Call::Remove, |disk| {
            let inode = disk.named(self.inode, name).ok_or_else(|| number(ENOENT))?;
            match &disk.world.nodes[inode] {
                Node::File(_) => return Err(number(ENOTDIR)),
                Node::Folder(folder) if !folder.names.is_empty() => {
                    return Err(number(ENOTEMPTY));
                }
                Node::Folder(_) => {}
            }
            disk.folder(self.inode).remove(name.to_owned());
            Ok(())
        })
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.fs.call(Call::List, |disk| {
            Ok(disk.folder(self.inode).names.keys().cloned().collect())
        })
    }

    fn set_mode(&self, _mode: u32) -> io::Result<()> {
        self.fs.call(Call::Attributes, |_| Ok(()))
    }

    fn sync(&self) -> io::Result<()> {
        let failed = |disk: &mut Disk| disk.folder(self.inode).sync_failed();
        let done = |disk: &mut Disk| {
            disk.folder(self.inode).synced();
            Ok(())
        };
        self.fs.call_or_fail(Call::SyncFolder, done, failed)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
