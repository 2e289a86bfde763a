//! A folder of segments, and the commit of its manifest.
//!
//! ```text
//! out/                     the target
//! out/segment-1f0c...      bytes; a name is used once
//! out/.MANIFEST.swath-tmp  the next manifest, not complete yet
//! out/MANIFEST             read first by readers: the only commit point
//! ```
//!
//! A folder cannot be renamed over one that is not empty, so an existing folder is written to in
//! place: new segments become part of its contents when the new manifest is renamed. A new folder
//! is created under the hidden name `.out.swath-tmp`, committed there, and then renamed as a whole
//! to a free name: no reader ever sees it without a manifest. Until then only its owner can list it.
//!
//! Everything happens in the folder that was opened, even if names are swapped in the meantime.
//!
//! ```text
//! commit   sync segments, write new manifest, sync it, sync folder
//!          rename manifest                               <- an old folder has the new contents
//!          sync folder, sync manifest
//!          new folder: rename it, sync its parent, sync it  <- a new folder is visible
//! ```
//!
//! Segments that the manifest on the device may name are kept: after an unknown outcome, those of both.

mod place;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use swath_os::access::Access;
use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::sink::claim::{Claim, busy, locate, remove_contents};
use crate::sink::existing::{DraftOptions, Durability};
use crate::sink::fs::{CLOSED, FOR_ALL, Facts, FsFile, FsFolder, write_all_at};
use crate::sink::names::{MANIFEST, NEW_MANIFEST, is_segment, segment_name};
use crate::sink::permissions::mode_of_folder;

pub(crate) use place::read_manifest;
use place::{
    create, create_closed, identity, inspect, not_named, open_to, readers_of, remove_emptied,
    remove_if_there, sync_together,
};

/// How often a random 64-bit name may prove to be taken.
const ATTEMPTS: usize = 8;
const NOT_REMOVED: &str =
    "remove .MANIFEST.swath-tmp in it, which another program has put there";
const SWAPPED: &str = "another program has put something else in its place";

/// A folder that is being written. If it is dropped, it keeps the contents of its last commit.
#[derive(Debug)]
pub(crate) struct Folder {
    options: DraftOptions,
    /// The folder itself.
    inside: Arc<dyn FsFolder>,
    /// Its name until the first commit, if it is new.
    hidden: Option<OsString>,
    made: Mutex<Vec<OwnSegment>>,
    /// Segments of the manifest that is, or may be, on the device: all of them after a commit.
    named: BTreeSet<String>,
    has_committed: bool,
    /// The permissions of the output, once it can be seen.
    readers: Option<Access>,
    /// The permissions of new files until the commit.
    unread: u32,
    /// A sync has failed, or a name may have been given: no further commit is possible.
    is_poisoned: bool,
    claim: Claim,
}

/// A segment of this writer.
#[derive(Debug)]
struct OwnSegment {
    name: String,
    /// Device and inode: another user may be allowed to exchange the file.
    identity: (u64, u64),
    /// `None` when the bytes are on the device and no strand can write more.
    file: Option<Arc<dyn FsFile>>,
}

impl Folder {
    /// Claims the folder at `path`, or creates one that becomes visible with its first commit.
    ///
    /// # Errors
    ///
    /// `Busy` if it has another writer; if it is not a folder, or one with other files in it; if
    /// it exists and must not be replaced.
    pub(crate) fn begin(path: &Path, options: &DraftOptions) -> Result<Self> {
        let failed = |error| Error::io(Operation::Create, path, error);
        let located = locate(Operation::Create, path, &*options.fs)?;
        let before = identity(inspect(path, &located, options)?.as_ref()).map_err(failed)?;
        let claim = Claim::take(path, located.clone())?;
        if !claim.is_locked() {
            return Err(failed(ErrorKind::Unsupported.into())
                .hint("write one plain file, or use a file system with locks (flock)"));
        }
        let there = inspect(path, &located, options)?;
        // Another user may have added or removed it.
        if identity(there.as_ref()).map_err(failed)? != before {
            return Err(claim.changed(SWAPPED));
        }
        let (inside, hidden) = match there {
            Some(inside) => {
                // Another writer began when the folder had another name.
                if !inside.hold() {
                    return Err(busy(path));
                }
                remove_if_there(&*inside, NEW_MANIFEST.as_ref())
                    .map_err(|error| claim.error(Operation::Create, error).hint(NOT_REMOVED))?;
                (inside, None)
            }
            None => create(&claim).map(|(inside, hidden)| (inside, Some(hidden)))?,
        };
        let readers = match hidden {
            Some(_) => None,
            None => readers_of(&*inside).map_err(failed)?,
        };
        // In a new folder, no other user can find them. Where permissions cannot be changed, they are final.
        let can_change =
            || inside.own_facts().and_then(|own| inside.set_mode(own.mode & 0o777)).is_ok();
        let unread = readers.map_or(FOR_ALL, |it| {
            if can_change() { CLOSED } else { it.in_group(None) & 0o666 }
        });
        Ok(Self {
            readers,
            unread,
            options: options.clone(),
            inside,
            hidden,
            made: Mutex::default(),
            named: BTreeSet::new(),
            has_committed: false,
            is_poisoned: false,
            claim,
        })
    }

    /// Returns the folder as the caller named it, for errors.
    pub(crate) fn path(&self) -> &Path {
        &self.claim.path
    }

    /// Returns the existing manifest, `None` without one.
    ///
    /// # Errors
    ///
    /// The errors of reading it; `Corrupt` if it is longer than any manifest.
    pub(crate) fn old_manifest(&self) -> Result<Option<Vec<u8>>> {
        read_manifest(&*self.inside, &self.claim.path.join(MANIFEST))
    }

    /// Records the segments of the old manifest, and removes strays of killed runs.
    ///
    /// # Errors
    ///
    /// The errors of listing and removing.
    pub(crate) fn adopt(&mut self, named: &[String]) -> Result<()> {
        self.named = named.iter().cloned().collect();
        self.sweep()
    }

    /// Creates an empty segment under a name never used before; returns both.
    ///
    /// # Errors
    ///
    /// If no file can be created there.
    pub(crate) fn create_segment(&self) -> Result<(String, Arc<dyn FsFile>)> {
        let mut attempts = 0;
        loop {
            let name = segment_name();
            match create_closed(&*self.inside, name.as_ref(), self.unread, self.readers) {
                Ok((file, identity)) => {
                    let kept = Some(Arc::clone(&file));
                    self.made.lock().push(OwnSegment {
                        name: name.clone(),
                        identity,
                        file: kept,
                    });
                    return Ok((name, file));
                }
                Err(error)
                    if error.kind() == ErrorKind::AlreadyExists && attempts < ATTEMPTS =>
                {
                    attempts += 1;
                }
                Err(error) => {
                    return Err(Error::io(Operation::Create, &self.path().join(name), error));
                }
            }
        }
    }

    /// Makes `manifest`, which names the segments `named`, the contents of the folder.
    ///
    /// May be called several times: the named bytes are durable after each call (a checkpoint).
    /// Segments may be written to during and after the call; the bytes that the manifest describes
    /// must be written before.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if the manifest may have been replaced; after any other error the old
    /// state remains. After either, no commit is possible: `Poisoned`.
    pub(crate) fn commit(&mut self, manifest: &[u8], named: &[String]) -> Result<()> {
        if self.is_poisoned {
            return Err(Error::new(Operation::Commit, Reason::Poisoned, self.path())
                .detail("an earlier commit of this output failed")
                .hint("write the output again from the start"));
        }
        // Until the end: after a failure on the way, the state of the device is unknown.
        self.is_poisoned = true;
        let former = self.named.clone();
        let named: BTreeSet<String> = named.iter().cloned().collect();
        self.store_segments(&named)?;
        self.check_folder()?;
        self.check_segments(&named)?;
        let file = self.write_manifest(manifest)?;
        self.named.extend(named.iter().cloned());
        if let Err(error) = self.name_manifest(&*file) {
            if error.reason() != Reason::OutcomeUnknown {
                self.named = former;
            }
            return Err(error);
        }
        if let Some(hidden) = self.hidden.clone() {
            let readers = file.access().ok();
            self.name_folder(&hidden, file)?;
            // Later files are in a folder that other users may list.
            (self.readers, self.unread) = (readers, CLOSED);
        }
        let is_whole = self.check_segments(&named).and_then(|()| self.check_folder());
        is_whole.map_err(|error| match error.reason() {
            Reason::Changed => error,
            _ => self.claim.outcome_unknown(error.into()),
        })?;
        self.named = named;
        (self.has_committed, self.is_poisoned) = (true, false);
        Ok(())
    }

    fn is_synced(&self) -> bool {
        self.options.durability == Durability::Full
    }

    /// Fails if the caller's path no longer leads to this folder, or, if it is new, no longer would.
    fn check_folder(&self) -> Result<()> {
        self.claim.check_folder()?;
        if self.hidden.is_some() {
            return Ok(());
        }
        match self.stands_under(&self.claim.name) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.claim.changed(SWAPPED)),
            Err(error) => Err(self.claim.error(Operation::Inspect, error)),
        }
    }

    /// Fails if a segment is gone, or one of this writer was exchanged: a writer to whose target this folder was moved
    /// removes them as strays, and a member of the group may put another file in their place.
    fn check_segments(&self, named: &BTreeSet<String>) -> Result<()> {
        let made = self.made.lock();
        let ours: HashMap<&str, _> = made.iter().map(|it| (&*it.name, it.identity)).collect();
        for name in named {
            let there = self.inside.facts(name.as_ref());
            let path = || self.path().join(name);
            let there = there.map_err(|error| Error::io(Operation::Inspect, &path(), error))?;
            let is_it = |there: Facts| {
                ours.get(&**name).is_none_or(|&identity| identity == there.identity)
            };
            if !there.is_some_and(is_it) {
                return Err(Error::new(Operation::Commit, Reason::Changed, &path())
                    .detail("another program has removed or replaced it")
                    .hint(
                        "write the output again from the start, where no other writer moves it",
                    ));
            }
        }
        Ok(())
    }

    /// Whether this folder has this name in the target's folder.
    fn stands_under(&self, name: &OsStr) -> io::Result<bool> {
        let there = self.claim.folder.facts(name)?;
        let ours = self.inside.own_facts()?;
        Ok(there.is_some_and(|there| there.identity == ours.identity))
    }

    fn store_segments(&self, named: &BTreeSet<String>) -> Result<()> {
        let unsynced = self.unsynced(named);
        let files: Vec<_> = unsynced.iter().map(|(_, file, _)| &**file).collect();
        for (index, file) in files.iter().enumerate() {
            self.open_to_readers(*file).map_err(|error| {
                Error::io(Operation::Commit, &self.claim.path.join(&unsynced[index].0), error)
            })?;
        }
        let stored = match self.is_synced() {
            true => sync_together(&files).map_err(|failed| (Operation::Sync, failed)),
            // Only few file systems wait in a flush: not worth a thread.
            false => files.iter().enumerate().try_for_each(|(index, file)| {
                let stored = file.store(false);
                stored.map_err(|(operation, error)| (operation, (index, error)))
            }),
        };
        stored.map_err(|(operation, (index, error))| {
            Error::io(operation, &self.claim.path.join(&unsynced[index].0), error)
        })?;
        let last = unsynced.iter().filter(|(_, _, is_last)| *is_last);
        let last: BTreeSet<&String> = last.map(|(name, _, _)| name).collect();
        for made in self.made.lock().iter_mut().filter(|made| last.contains(&made.name)) {
            made.file = None;
        }
        Ok(())
    }

    /// Returns the segments among `named` of which the device may lack bytes, and whether no strand can
    /// write more to them. A copy, so that segments can be created while others are synced.
    fn unsynced(&self, named: &BTreeSet<String>) -> Vec<(String, Arc<dyn FsFile>, bool)> {
        let made = self.made.lock();
        let named = made.iter().filter(|made| named.contains(&made.name));
        named
            .filter_map(|made| {
                let file = made.file.as_ref()?;
                // Before the clone: without other owners, no write can follow the sync.
                let is_last = Arc::strong_count(file) == 1;
                Some((made.name.clone(), Arc::clone(file), is_last))
            })
            .collect()
    }

    /// Gives a file of the output the output's readers.
    fn open_to_readers(&self, file: &dyn FsFile) -> io::Result<()> {
        self.readers.map_or(Ok(()), |readers| open_to(readers, file))
    }

    /// Writes the new manifest under its hidden name, and the names of all segments, durably.
    fn write_manifest(&self, manifest: &[u8]) -> Result<Arc<dyn FsFile>> {
        let path = self.path().join(MANIFEST);
        let failed = |operation| {
            let path = &path;
            move |error| Error::io(operation, path, error)
        };
        let name = NEW_MANIFEST.as_ref();
        let made = create_closed(&*self.inside, name, self.unread, self.readers);
        let (file, _) = made.map_err(failed(Operation::Create))?;
        write_all_at(&*file, manifest, 0).map_err(|(error, done)| {
            Error::io(Operation::Write, &path, error)
                .at(Extent::between(done, manifest.len() as u64))
        })?;
        self.open_to_readers(&*file).map_err(failed(Operation::Commit))?;
        let stored = file.store(self.is_synced());
        stored.map_err(|(operation, error)| failed(operation)(error))?;
        if self.is_synced() {
            self.inside.sync().map_err(failed(Operation::Sync))?;
        }
        Ok(file)
    }

    fn name_manifest(&self, manifest: &dyn FsFile) -> Result<()> {
        let (inside, is_new) = (&*self.inside, self.hidden.is_some());
        let is_remote = !is_new && manifest.is_remote();
        if let Err(error) = inside.rename(NEW_MANIFEST.as_ref(), MANIFEST.as_ref()) {
            return Err(match is_new {
                // The folder is not visible yet.
                true => self.claim.error(Operation::Commit, error),
                false => {
                    let there = inside.facts(MANIFEST.as_ref());
                    not_named(&self.claim, error, is_remote, there, manifest.facts())
                }
            });
        }
        // A member of the group may have put another file under the hidden name.
        let ours =
            manifest.facts().and_then(|ours| Ok((ours, inside.facts(MANIFEST.as_ref())?)));
        if let Ok((ours, there)) = ours
            && there.is_none_or(|there| there.identity != ours.identity)
        {
            return Err(self.claim.changed(SWAPPED));
        }
        if self.is_synced() {
            let settled = inside.sync().and_then(|()| manifest.sync());
            // A new folder is not visible yet, and does not appear.
            settled.map_err(|error| match is_new {
                true => self.claim.error(Operation::Sync, error),
                false => self.claim.outcome_unknown(error),
            })?;
        }
        Ok(())
    }

    /// Opens a new folder to the readers of its manifest, and gives it its name.
    fn name_folder(&mut self, hidden: &OsStr, manifest: Arc<dyn FsFile>) -> Result<()> {
        let parent = Arc::clone(&self.claim.folder);
        let (target, is_remote) = (self.claim.name.clone(), manifest.is_remote());
        let opened =
            manifest.facts().and_then(|it| self.inside.set_mode(mode_of_folder(it.mode)));
        opened.map_err(|error| self.claim.error(Operation::Commit, error))?;
        // sshfs with several connections loses the mount if a folder with an open file is renamed.
        drop(manifest);
        let mut named = parent.rename_new(hidden, &target);
        if named.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unsupported) {
            // A rename replaces only empty folders: nothing is lost.
            named = parent.rename(hidden, &target);
        }
        if let Err(error) = named {
            let is_taken = error.kind() == ErrorKind::AlreadyExists;
            let (there, ours) = (parent.facts(&target), self.inside.own_facts());
            let error = not_named(&self.claim, error, is_remote, there, ours);
            if error.reason() == Reason::OutcomeUnknown {
                self.hidden = None;
            }
            return Err(match is_taken {
                true => {
                    error.hint("choose another name: something has appeared under this one")
                }
                false => error,
            });
        }
        self.hidden = None;
        match self.stands_under(&target) {
            Ok(true) => {}
            Ok(false) => return Err(self.claim.changed(SWAPPED)),
            Err(error) => return Err(self.claim.outcome_unknown(error)),
        }
        if self.is_synced() {
            let settled = parent.sync().and_then(|()| self.inside.sync());
            settled.map_err(|error| self.claim.outcome_unknown(error))?;
        }
        Ok(())
    }

    /// Removes the segments that the committed manifest does not name, and finishes the folder.
    ///
    /// A segment that cannot be removed stays until the next writer: the commit stands, so this is
    /// not an error. Readers that began with the old manifest and have not opened all of its
    /// segments yet will not find them.
    pub(crate) fn finish(self) {
        drop(self);
    }

    fn sweep(&self) -> Result<()> {
        let failed = |error| self.claim.error(Operation::Remove, error);
        for name in self.inside.list().map_err(failed)? {
            if is_segment(&name) && !self.is_kept(&name) {
                self.inside.remove(&name).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn is_kept(&self, name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| self.named.contains(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.inside.release();
        // Closed first: FUSE and NFS keep open files in the folder under another name.
        let made: Vec<String> = self.made.lock().drain(..).map(|made| made.name).collect();
        // The next writer of this target removes files that cannot be removed now.
        if let Some(hidden) = &self.hidden {
            let _ = remove_contents(&*self.inside);
            if self.stands_under(hidden).unwrap_or(true) {
                let _ = remove_emptied(&*self.claim.folder, hidden);
            }
            return;
        }
        let _ = remove_if_there(&*self.inside, NEW_MANIFEST.as_ref());
        if self.has_committed {
            let _ = self.sweep();
            return;
        }
        // The old manifest may name other segments: only this writer's are removed.
        for name in made.iter().filter(|name| !self.named.contains(*name)) {
            let _ = self.inside.remove(name.as_ref());
        }
    }
}

#[cfg(test)]
mod tests;
