//! The folder of profiles: one file for each file system.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use swath::{Input, Profile, ReadOptions};
use swath_os::links;

use crate::error::{Error, Result};
use crate::key::Key;
use crate::text::Kept;

/// The extension of a profile's file.
const ENDING: &str = "toml";
/// The extension of a file of a measurement in which no setting was faster: no command has to read
/// it.
const AS_USUAL: &str = "usual";
/// The maximum length of a profile: a longer file is something else.
const MOST: u64 = 64 << 10;

/// A folder of profiles.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A profile that was found, and whether it applies here.
#[derive(Clone, Debug)]
pub struct Found {
    /// The content of its file.
    pub kept: Kept,
    /// Its file.
    pub path: PathBuf,
    /// The reason why it is not used here, if so.
    pub unfit: Option<String>,
}

impl Found {
    /// Returns the profile for the library; `None` if it is for another place.
    pub fn into_profile(self) -> Option<Profile> {
        self.unfit.is_none().then(|| self.kept.profile())
    }
}

impl Store {
    /// Returns the user's store: `swath/profiles` in `$XDG_CONFIG_HOME`, else in `~/.config`;
    /// `None` for a user without a home.
    pub fn of_user() -> Option<Self> {
        // By the standard, a relative path is ignored.
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let home = || absolute("HOME").map(|home| home.join(".config"));
        Some(Self::at(absolute("XDG_CONFIG_HOME").or_else(home)?.join("swath/profiles")))
    }

    /// Returns the store in `folder`, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Whether there may be profiles: if not, the file system of a path need not be looked up. A
    /// folder that cannot be listed may have some; loading one then returns the error.
    pub fn has_any(&self) -> bool {
        match fs::read_dir(&self.folder) {
            Ok(mut entries) => {
                entries.any(|it| it.is_ok_and(|it| ends_with(&it.path(), ENDING)))
            }
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }

    /// Returns the file of the profile for `key`.
    pub fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.file_name())
    }

    /// Reads the profile for `key`; `None` if it was never measured, or changes nothing.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is damaged, or is of a newer version.
    pub fn load(&self, key: &Key) -> Result<Option<Found>> {
        Self::read(self.path(key), key)
    }

    /// Returns the profile, even if it changes nothing.
    ///
    /// # Errors
    ///
    /// Like [`load`](Self::load).
    pub fn load_measured(&self, key: &Key) -> Result<Option<Found>> {
        match self.load(key)? {
            None => Self::read(self.path(key).with_extension(AS_USUAL), key),
            found => Ok(found),
        }
    }

    fn read(path: PathBuf, key: &Key) -> Result<Option<Found>> {
        let facts = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts,
        };
        let what = || format!("cannot use the profile {}", path.display());
        let unread = |error: io::Error| Error::new(what(), &path, UNREAD).caused_by(error);
        let wrong = |why: &str| Error::new(format!("{}: {why}", what()), &path, HINT);
        let facts = facts.map_err(unread)?;
        if !facts.is_file() || facts.len() > MOST {
            return Err(wrong("it is not a profile"));
        }
        let own = |error: swath::Error| Error::new(what(), &path, UNREAD).by_library(error);
        // The file may have been replaced by a pipe without a writer.
        let file = Input::open_at_once(path.as_path()).map_err(own)?;
        let len = file.len().ok_or_else(|| wrong("it is not a profile"))?.min(MOST);
        let text = ReadOptions::new().with_workers(1).with_len(len).read(&file).map_err(own)?;
        let text = std::str::from_utf8(&text.buffer).map_err(|_| wrong("it is not text"))?;
        let kept = Kept::parse(text).map_err(|why| wrong(&why))?;
        let unfit = kept.key.differs_from(key);
        Ok(Some(Found { kept, path, unfit }))
    }

    /// Checks that a profile can be saved, and creates the folder.
    ///
    /// # Errors
    ///
    /// If the folder, or a file in it, cannot be created.
    pub fn prepare(&self) -> Result<()> {
        let what = || format!("cannot save a profile in {}", self.folder.display());
        let hint = "set XDG_CONFIG_HOME to a folder that can be written";
        self.refuse_strangers_links()?;
        let made = fs::create_dir_all(&self.folder)
            .and_then(|()| tempfile::tempfile_in(&self.folder).map(drop));
        made.map_err(|error| Error::new(what(), &self.folder, hint).caused_by(error))
    }

    /// Fails if the path leads through a link that another user put into a folder such as `/tmp`.
    fn refuse_strangers_links(&self) -> Result<()> {
        match links::locate(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let text = format!("cannot use the profiles in {}", self.folder.display());
                Err(Error::new(text, &self.folder, UNREAD).caused_by(error))
            }
            // A missing folder is created, and other errors are reported when it is used.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Saves a profile, replacing an earlier one, completely or not at all; returns its file.
    /// [`Store::has_any`] ignores a profile that changes nothing.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, kept: &Kept) -> Result<PathBuf> {
        self.prepare()?;
        let changes = self.path(&kept.key);
        let as_usual = changes.with_extension(AS_USUAL);
        let is_as_usual = kept.profile() == Profile::new(kept.key.name());
        let (path, other) = if is_as_usual { (as_usual, changes) } else { (changes, as_usual) };
        let written = swath::write(&path, kept.text()?);
        written.map_err(|error| {
            let text = format!("cannot save the profile {}", path.display());
            Error::new(text, &path, error.what_to_try()).by_library(error)
        })?;
        remove(&other)?;
        Ok(path)
    }

    /// Removes the profile for `key`; returns its file, or `None` if it did not exist.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn clear(&self, key: &Key) -> Result<Option<PathBuf>> {
        self.refuse_strangers_links()?;
        let (changes, as_usual) = (self.path(key), self.path(key).with_extension(AS_USUAL));
        let (was_changed, was_usual) = (remove(&changes)?, remove(&as_usual)?);
        Ok(if was_changed { Some(changes) } else { was_usual.then_some(as_usual) })
    }

    /// Returns the files of all profiles, sorted by name.
    ///
    /// # Errors
    ///
    /// If the folder exists and cannot be listed.
    pub fn all(&self) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| {
                let text = format!("cannot list {}", self.folder.display());
                Error::new(text, &self.folder, "allow it to be read").caused_by(error)
            })?,
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| Key::names(path)).collect();
        paths.sort();
        Ok(paths)
    }

    /// Removes all profiles; returns their files.
    ///
    /// # Errors
    ///
    /// If one cannot be removed.
    pub fn clear_all(&self) -> Result<Vec<PathBuf>> {
        self.refuse_strangers_links()?;
        let paths = self.all()?;
        for path in &paths {
            remove(path)?;
        }
        Ok(paths)
    }
}

const HINT: &str = "run swath tune to measure again, or swath tune --clear to remove it";
/// The hint for a file that cannot be read: it can be neither replaced nor removed.
const UNREAD: &str = "allow it to be read, or set XDG_CONFIG_HOME to a folder of yours";

fn ends_with(path: &Path, extension: &str) -> bool {
    path.extension() == Some(OsStr::new(extension))
}

/// Removes a profile; returns whether it existed.
fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let what = format!("cannot remove {}", path.display());
            Err(Error::new(what, path, "remove it by hand").caused_by(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        let key = Key::of(Path::new(".")).expect("mounted");
        Kept::new(key, &Profile::default().with_cold_workers(7), Vec::new())
    }

    #[test]
    fn what_is_kept_is_found_again_until_it_is_cleared() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("not/there/yet"));
        let kept = kept();
        assert!(!store.has_any() && store.all().expect("none").is_empty());
        assert!(store.load(&kept.key).expect("none").is_none());
        assert_eq!(store.clear(&kept.key).expect("none"), None);
        let path = store.save(&kept).expect("kept");
        assert!(store.has_any() && store.all().expect("one") == [path.clone()]);
        let found = store.load(&kept.key).expect("whole").expect("there");
        assert_eq!((&found.kept, &found.unfit), (&kept, &None));
        assert_eq!(found.into_profile().map(|profile| profile.cold_workers()), Some(7));
        store.save(&kept).expect("replaced");
        assert_eq!(store.clear(&kept.key).expect("removed"), Some(path));
        store.save(&kept).expect("kept");
        assert_eq!(store.clear_all().expect("removed").len(), 1);
        assert!(!store.has_any());
    }

    #[test]
    fn files_of_other_names_are_no_profiles() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let path = store.save(&kept()).expect("kept");
        for other in ["Cargo.toml", "ext4-0123456789abcdeg.toml", "as.usual"] {
            fs::write(folder.path().join(other), "").expect("written");
        }
        assert_eq!(store.clear_all().expect("removed"), [path]);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 3);
    }

    #[test]
    fn one_that_changes_nothing_is_shown_and_costs_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let changes = kept();
        let nothing = Kept::new(changes.key.clone(), &Profile::default(), Vec::new());
        let first = store.save(&changes).expect("kept");
        let second = store.save(&nothing).expect("kept");
        assert!(first != second && !store.has_any() && store.all().expect("one") == [second]);
        assert!(store.load(&nothing.key).expect("whole").is_none(), "no verb reads it");
        let found = store.load_measured(&nothing.key).expect("whole").expect("there");
        assert_eq!(found.kept, nothing);
        store.save(&changes).expect("kept");
        assert!(store.has_any() && store.all().expect("one") == [first]);
        store.save(&nothing).expect("kept");
        assert!(store.clear(&nothing.key).expect("removed").is_some());
        assert!(store.all().expect("none").is_empty());
    }

    #[test]
    fn what_is_damaged_newer_or_no_profile_is_said_with_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        let kept = kept();
        let path = store.save(&kept).expect("kept");
        let text = fs::read_to_string(&path).expect("text");
        let long = "#".repeat(1 << 17);
        for wrong in [
            text.replace("version = 1", "version = 2"),
            text.replace("cold_workers = 7", "cold_workers = -7"),
            text.replace("cold_workers = 7", "cold_workers = 0"),
            text.replace("cold_workers = 7", "cold_workers = \"many\""),
            text.replace("cold_workers = 7", "warmest_workers = 7"),
            text.replace("cold_workers = 7", "once = \"twice\""),
            text[..text.len() / 2].to_owned(),
            String::new(),
            String::from("\u{0}\u{1}"),
            long,
        ] {
            assert_ne!(wrong, text);
            fs::write(&path, &wrong).expect("damaged");
            let error = store.load(&kept.key).expect_err("damaged");
            let said = error.in_one_line();
            assert!(said.contains(&*path.to_string_lossy()), "{said}");
            assert!(said.contains("try: run swath tune") && !said.contains('\n'), "{said}");
        }
        fs::write(&path, [0xff, 0xfe]).expect("damaged");
        let said = store.load(&kept.key).expect_err("not UTF-8").in_one_line();
        assert!(said.contains("try: run swath tune"), "{said}");
        // Like a home folder of another user, but effective for the superuser too.
        let said = Store::at(&path).load(&kept.key).expect_err("no folder").in_one_line();
        assert!(said.contains("try: allow it to be read, or set XDG_CONFIG_HOME"), "{said}");
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a folder of that name");
        assert!(store.load(&kept.key).is_err(), "a folder");
    }
}
