//! The facts about a file that are known without reading it.

/// The mode bit of a folder in which only its owner, a file's owner and root may replace a file.
pub(crate) const STICKY: u32 = 0o1000;
/// The mode bits with which users other than the owner may write.
pub(crate) const OTHERS_WRITE: u32 = 0o022;

/// The kind of file that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Special,
}

/// The facts about a file that are known without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The kind of file.
    pub kind: FileKind,
    /// The length in bytes.
    pub len: u64,
    /// The number of names (hard links).
    pub links: u64,
    /// Device and inode: equal for the same file.
    pub identity: (u64, u64),
    /// The user ID of the owner.
    pub owner: u32,
    /// The permissions: the twelve bits of chmod(2).
    pub mode: u32,
    /// The time of the last change of its bytes, in seconds and nanoseconds since 1970, if known.
    pub modified: Option<(i64, i64)>,
}

impl Facts {
    /// Whether both are one file with the same bytes, as far as can be seen without reading them.
    pub(crate) fn are_of_one_state(&self, other: &Self) -> bool {
        let same_time =
            self.modified.zip(other.modified).is_none_or(|(one, other)| one == other);
        self.identity == other.identity && self.len == other.len && same_time
    }

    /// Whether both are one file: inode numbers are reused, so kind and owner count too.
    pub(crate) fn are_of_one_file(&self, other: &Self) -> bool {
        (self.identity, self.kind, self.owner) == (other.identity, other.kind, other.owner)
    }

    /// For a folder: whether only its owner and root can move files of `user` in it.
    pub(crate) fn keeps_names_of(&self, user: u32) -> bool {
        let is_closed = self.mode & STICKY != 0 || self.mode & OTHERS_WRITE == 0;
        is_closed && [0, user].contains(&self.owner)
    }
}
