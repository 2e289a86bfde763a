//! Profiles: what `swath tune` has measured for a file system, kept and found again.
//!
//! ```text
//! path → Key: file system, device, cores → Store: one file each → Profile for the library
//! ```
//!
//! The library takes a profile as a plain value and knows of no folder; here is the folder. Every
//! command that reads asks [`Profiles`], and bindings do the same. A profile is used only where it
//! was measured: on the same file system of the same device, by as many cores. One that is damaged
//! or of a newer version is said in one line, and left aside: no command fails for it.
//!
//! ```
//! use std::path::Path;
//! use swath_cli::profile::{Key, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::at(folder.path());
//! let key = Key::of(Path::new("."))?;
//! assert!(store.load(&key)?.is_none(), "nobody has measured it");
//! # Ok::<(), anyhow::Error>(())
//! ```

mod key;
mod store;
mod text;

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use swath::{IngestOptions, Profile, ReadOptions, Source};

use crate::args::mirror::CopiesArgs;
use crate::args::read::ProfileArgs;
use crate::failure::describe;
use crate::input::Input;
use crate::output::complain;

pub use key::Key;
pub use store::{Found, Store};
pub use text::{Kept, Measured};

/// The profiles of one command: each file system is looked up once.
#[derive(Debug, Default)]
pub struct Profiles {
    /// `None`: none are wanted, or there is no folder for them.
    store: Option<Store>,
    known: RefCell<Vec<(u64, Option<Arc<Profile>>)>>,
}

impl Profiles {
    /// Those of the user, unless the words say otherwise.
    #[must_use]
    pub fn new(args: ProfileArgs) -> Self {
        let store = if args.no_profile { None } else { Store::of_user() };
        Self { store: store.filter(Store::has_any), known: RefCell::default() }
    }

    /// Returns the profile for what is at `path`, if there is one; what is wrong with it is said.
    #[must_use]
    pub fn of(&self, path: &Path) -> Option<Arc<Profile>> {
        let store = self.store.as_ref()?;
        let device = fs::metadata(path).ok()?.dev();
        let known = self.known.borrow().iter().find(|it| it.0 == device).cloned();
        if let Some((_, profile)) = known {
            return profile;
        }
        let found = Key::of(path).and_then(|key| store.load(&key));
        let profile = match found {
            Ok(found) => found.and_then(Found::into_profile),
            Err(error) => {
                complain(format!("note: {}: the defaults are used", describe(&error)));
                None
            }
        };
        let profile = profile.map(Arc::new);
        self.known.borrow_mut().push((device, profile.clone()));
        profile
    }

    /// Adds the profile for `input` to the options, if there is one.
    #[must_use]
    pub fn apply(&self, options: ReadOptions, input: &Input) -> ReadOptions {
        match self.of_input(input) {
            Some(profile) => options.with_profile(profile),
            None => options,
        }
    }

    /// The same for many files, of which `path` is one.
    #[must_use]
    pub fn apply_to_files(&self, options: IngestOptions, path: Option<&Path>) -> IngestOptions {
        match path.and_then(|path| self.of(path)) {
            Some(profile) => options.with_profile(profile),
            None => options,
        }
    }

    /// Whether copies are worth reading side by side that share a device: if it was measured for
    /// each of them.
    fn side_by_side<'i>(&self, copies: impl IntoIterator<Item = &'i Input>) -> bool {
        let worth = |copy| self.of_input(copy).is_some_and(|profile| profile.side_by_side());
        copies.into_iter().all(worth)
    }

    /// Returns `path` and its copies as one source.
    ///
    /// # Errors
    ///
    /// Those of [`CopiesArgs::source`].
    pub fn source(&self, copies: &CopiesArgs, path: &Input) -> Result<Source> {
        let all = || std::iter::once(path).chain(&copies.mirrors);
        copies.source(path, copies.is_used() && self.side_by_side(all()))
    }

    fn of_input(&self, input: &Input) -> Option<Arc<Profile>> {
        match input {
            Input::Stdin => None,
            Input::Path(path) => self.of(path),
        }
    }
}
