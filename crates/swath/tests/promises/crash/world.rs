//! The page cache, and the part of it that could be on the disk.
//!
//! Bytes are certain after a sync of their file, names after a sync of their folder. Until then
//! each block of each write, each length and each change of a folder may have reached the disk
//! or not, in any combination. What a failed sync should have written stays uncertain for ever:
//! the kernel has dropped it, and a second sync only pretends.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// The unit in which bytes reach the disk; small, so that small files tear.
pub(crate) const BLOCK: usize = 8;

pub(crate) type Inode = usize;

/// A change of a file's bytes.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    kind: ChangeKind,
    fate: Fate,
}

#[derive(Clone, Debug)]
enum ChangeKind {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

/// A change of a folder's names.
#[derive(Clone, Debug)]
pub(crate) struct NameChange {
    kind: NameChangeKind,
    fate: Fate,
}

#[derive(Clone, Debug)]
enum NameChangeKind {
    Add(OsString, Inode),
    Remove(OsString),
    Rename { from: OsString, to: OsString, inode: Inode },
}

/// The fate of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// No sync yet: it may be on the disk.
    Open,
    /// A sync failed: it may be on the disk, and no later sync will make sure.
    Doomed,
    /// On the disk, but after something that is not certain.
    Certain,
}

/// The contents of an inode.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    File(FileNode),
    Folder(FolderNode),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FileNode {
    /// The bytes that reads show.
    pub(crate) bytes: Vec<u8>,
    settled: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FolderNode {
    /// The names that look-ups show.
    pub(crate) names: BTreeMap<OsString, Inode>,
    settled: BTreeMap<OsString, Inode>,
    changes: Vec<NameChange>,
}

/// How much of the uncertain data of files has reached the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss {
    /// All of it did.
    Nothing,
    /// None of it did.
    Everything,
    /// The lengths did; the bytes are zeros.
    Bytes,
    /// The lengths did; the bytes are what the blocks held before.
    BytesButStale,
    /// The bytes did, the lengths did not.
    Lengths,
    /// Every other block did, starting with the first or the second.
    Alternate(usize),
    /// The blocks whose bit is set.
    Some(u64),
}

impl Loss {
    pub(crate) const ALL: [Loss; 10] = [
        Loss::Nothing,
        Loss::Everything,
        Loss::Bytes,
        Loss::BytesButStale,
        Loss::Lengths,
        Loss::Alternate(0),
        Loss::Alternate(1),
        Loss::Some(0x0000_ffff_00ff_0f0f),
        Loss::Some(0xffff_0000_ff00_f0f1),
        Loss::Some(0x9e37_79b9_7f4a_7c15),
    ];

    fn keeps_block(self, index: usize) -> bool {
        match self {
            Loss::Nothing | Loss::Lengths => true,
            Loss::Everything | Loss::Bytes | Loss::BytesButStale => false,
            Loss::Alternate(first) => index % 2 == first,
            Loss::Some(mask) => mask >> (index % 64) & 1 == 1,
        }
    }

    fn keeps_lengths(self) -> bool {
        !matches!(self, Loss::Everything | Loss::Lengths)
    }
}

fn write_into(image: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if image.len() < offset + bytes.len() {
        image.resize(offset + bytes.len(), 0);
    }
    image[offset..offset + bytes.len()].copy_from_slice(bytes);
}

impl FileNode {
    /// A file that has always existed.
    pub(crate) fn settled(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), settled: bytes.to_vec(), changes: Vec::new() }
    }

    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        write_into(&mut self.bytes, offset, bytes);
        let kind = ChangeKind::Write { offset, bytes: bytes.to_vec() };
        self.changes.push(Change { kind, fate: Fate::Open });
    }

    pub(crate) fn set_len(&mut self, len: usize) {
        if len != self.bytes.len() {
            self.bytes.resize(len, 0);
            self.changes.push(Change { kind: ChangeKind::SetLen(len), fate: Fate::Open });
        }
    }

    pub(crate) fn synced(&mut self) {
        for change in &mut self.changes {
            if change.fate == Fate::Open {
                change.fate = Fate::Certain;
            }
        }
        if self.changes.iter().all(|change| change.fate == Fate::Certain) {
            self.settled.clone_from(&self.bytes);
            self.changes.clear();
        }
    }

    pub(crate) fn sync_failed(&mut self) {
        for change in &mut self.changes {
            if change.fate == Fate::Open {
                change.fate = Fate::Doomed;
            }
        }
    }

    /// The bytes that a disk could contain.
    fn on_disk(&self, loss: Loss) -> Vec<u8> {
        let mut image = self.settled.clone();
        let mut certain_len = image.len();
        let mut block = 0;
        for Change { kind, fate } in &self.changes {
            let certain = *fate == Fate::Certain;
            match kind {
                ChangeKind::SetLen(len) if certain || loss.keeps_lengths() => {
                    image.resize(*len, 0);
                    certain_len = if certain { *len } else { certain_len };
                }
                ChangeKind::SetLen(_) => {}
                ChangeKind::Write { offset, bytes } => {
                    if certain {
                        certain_len = certain_len.max(offset + bytes.len());
                    }
                    for (index, piece) in bytes.chunks(BLOCK).enumerate() {
                        let at = offset + index * BLOCK;
                        if certain || loss.keeps_block(block) {
                            write_into(&mut image, at, piece);
                        } else if loss.keeps_lengths() && image.len() < at + piece.len() {
                            let stale = u8::from(matches!(loss, Loss::BytesButStale)) * 0xAA;
                            image.resize(at + piece.len(), stale);
                        }
                        block += 1;
                    }
                }
            }
        }
        if !loss.keeps_lengths() {
            image.truncate(certain_len);
        }
        image
    }
}

impl FolderNode {
    fn change(&mut self, kind: NameChangeKind) {
        apply(&mut self.names, &kind);
        self.changes.push(NameChange { kind, fate: Fate::Open });
    }

    pub(crate) fn add(&mut self, name: OsString, inode: Inode) {
        self.change(NameChangeKind::Add(name, inode));
    }

    pub(crate) fn remove(&mut self, name: OsString) {
        self.change(NameChangeKind::Remove(name));
    }

    /// In one step, as the journals of file systems do it.
    pub(crate) fn rename(&mut self, from: OsString, to: OsString, inode: Inode) {
        self.change(NameChangeKind::Rename { from, to, inode });
    }

    pub(crate) fn synced(&mut self) {
        for change in &mut self.changes {
            if change.fate == Fate::Open {
                change.fate = Fate::Certain;
            }
        }
        if self.changes.iter().all(|change| change.fate == Fate::Certain) {
            self.settled.clone_from(&self.names);
            self.changes.clear();
        }
    }

    pub(crate) fn sync_failed(&mut self) {
        for change in &mut self.changes {
            if change.fate == Fate::Open {
                change.fate = Fate::Doomed;
            }
        }
    }

    fn uncertain(&self) -> usize {
        self.changes.iter().filter(|change| change.fate != Fate::Certain).count()
    }

    /// The names that a disk could contain: of the uncertain changes those whose bit is set.
    fn on_disk(&self, mask: u64) -> BTreeMap<OsString, Inode> {
        let mut names = self.settled.clone();
        let mut index = 0;
        for NameChange { kind, fate } in &self.changes {
            let mut reached = *fate == Fate::Certain;
            if !reached {
                reached = mask >> (index % 64) & 1 == 1;
                index += 1;
            }
            if reached {
                apply(&mut names, kind);
            }
        }
        names
    }
}

fn apply(names: &mut BTreeMap<OsString, Inode>, kind: &NameChangeKind) {
    match kind {
        NameChangeKind::Add(name, inode) => {
            names.insert(name.clone(), *inode);
        }
        NameChangeKind::Remove(name) => {
            names.remove(name);
        }
        NameChangeKind::Rename { from, to, inode } => {
            names.remove(from);
            names.insert(to.clone(), *inode);
        }
    }
}

/// All inodes; the first is the root folder.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
}

/// Above this many uncertain changes of names, not every combination is tried.
const ALL_COMBINATIONS: usize = 7;

impl World {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::Folder(FolderNode::default())] }
    }

    /// Everything that a disk could contain if the power failed now, each as a world of its own.
    pub(crate) fn after_a_crash(&self) -> Vec<World> {
        let uncertain = self.nodes.iter().map(|node| match node {
            Node::Folder(folder) => folder.uncertain(),
            Node::File(_) => 0,
        });
        let uncertain: usize = uncertain.sum();
        let masks: Vec<u64> = if uncertain <= ALL_COMBINATIONS {
            (0..1 << uncertain).collect()
        } else {
            // In order up to any point, any one missing, any one alone, and some at random.
            let all = u64::MAX;
            let each = 0..=uncertain.min(63);
            let some = (1..40).map(|seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            each.flat_map(|bit| [(1 << bit) - 1, all ^ 1 << bit, 1 << bit])
                .chain([all])
                .chain(some)
                .collect()
        };
        let mut worlds = Vec::new();
        for mask in masks {
            for loss in Loss::ALL {
                worlds.push(self.on_disk(mask, |_| loss));
            }
            // Each file independently.
            for seed in 0..6 {
                let loss = |inode: Inode| Loss::ALL[(inode * 7 + seed) % Loss::ALL.len()];
                worlds.push(self.on_disk(mask, loss));
            }
        }
        worlds
    }

    fn on_disk(&self, mask: u64, loss: impl Fn(Inode) -> Loss) -> World {
        let mut rest = mask;
        let nodes = self.nodes.iter().enumerate().map(|(inode, node)| match node {
            Node::File(file) => Node::File(FileNode::settled(&file.on_disk(loss(inode)))),
            Node::Folder(folder) => {
                let names = folder.on_disk(rest);
                rest = rest.rotate_right(u32::try_from(folder.uncertain() % 64).unwrap_or(0));
                let settled = names.clone();
                Node::Folder(FolderNode { names, settled, changes: Vec::new() })
            }
        });
        World { nodes: nodes.collect() }
    }
}
