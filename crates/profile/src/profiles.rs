//! The profiles that one program uses: each file system is looked up once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use swath::mirror::SharedDevice;
use swath_os::locks::Mutex;

use swath::{Profile, ReadOptions};

use crate::error::Error;
use crate::key::Key;
use crate::store::{Found, Store};

/// The result of a lookup for a path.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// The settings for reading; `None` means the defaults.
    pub profile: Option<Arc<Profile>>,
    /// The reason why an existing profile is not used. Set for each path; to report it once per
    /// file system, see [`is_first`](Self::is_first).
    pub problem: Option<Arc<Error>>,
    /// Whether this is the first lookup of its file system.
    pub is_first: bool,
}

impl Lookup {
    /// Adds the profile to the options, or the reason why it is not used to their report.
    pub fn apply(self, options: ReadOptions) -> ReadOptions {
        match (self.profile, self.problem) {
            (Some(profile), _) => options.with_profile(profile),
            (None, Some(problem)) => options.with_fallback(unused(&problem)),
            (None, None) => options,
        }
    }

    /// Returns the fastest way to read copies that share this file system.
    pub fn shared_device(&self) -> SharedDevice {
        self.profile.as_ref().map_or(SharedDevice::OneCopy, |profile| profile.shared_device())
    }

    /// Returns the reason why an existing profile is not used, in one line.
    pub fn note(&self) -> Option<String> {
        self.problem.as_deref().map(unused)
    }
}

fn unused(problem: &Error) -> String {
    format!("the defaults are used: {}", problem.in_one_line())
}

/// The profiles of the user, or none.
#[derive(Debug, Default)]
pub struct Profiles {
    /// `None` if profiles are off, or there is no folder for them.
    store: Option<Store>,
    known: Mutex<Vec<(u64, Lookup)>>,
}

impl Profiles {
    /// Returns the profiles that the user has measured.
    pub fn of_user() -> Self {
        Self::of_store(Store::of_user())
    }

    /// Returns an empty set of profiles.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the profiles in `store`.
    pub fn of_store(store: Option<Store>) -> Self {
        Self { store: store.filter(Store::has_any), known: Mutex::default() }
    }

    /// Looks up the profile for the file system at `path`.
    pub fn of(&self, path: &Path) -> Lookup {
        let Some(store) = &self.store else { return Lookup::default() };
        let Ok(facts) = fs::metadata(path) else { return Lookup::default() };
        let device = facts.dev();
        let mut known = self.known.lock();
        if let Some((_, lookup)) = known.iter().find(|it| it.0 == device) {
            return lookup.clone();
        }
        let found = Key::of(path).and_then(|key| store.load(&key));
        let lookup = match found {
            Ok(found) => Lookup {
                profile: found.and_then(Found::into_profile).map(Arc::new),
                ..Lookup::default()
            },
            Err(error) => Lookup { problem: Some(Arc::new(error)), ..Lookup::default() },
        };
        known.push((device, lookup.clone()));
        Lookup { is_first: true, ..lookup }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Kept;

    #[test]
    fn a_file_system_is_looked_up_once_and_a_problem_is_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("profiles"));
        let here = folder.path();
        let nothing = Profiles::of_store(Some(store.clone())).of(here);
        assert!(nothing.profile.is_none() && nothing.problem.is_none());
        let key = Key::of(here).expect("mounted");
        let kept = Kept::new(key, &Profile::default().with_cold_workers(7), Vec::new());
        let path = store.save(&kept).expect("kept");
        let profiles = Profiles::of_store(Some(store.clone()));
        let first = profiles.of(here);
        assert_eq!(first.profile.map(|profile| profile.cold_workers()), Some(7));
        fs::write(&path, "version = 9").expect("damaged");
        let second = profiles.of(here);
        assert!(first.is_first && !second.is_first && second.profile.is_some());
        let damaged = Profiles::of_store(Some(store)).of(here);
        let problem = damaged.problem.expect("it is damaged").in_one_line();
        assert!(problem.contains("version 9") && problem.contains("try: "), "{problem}");
        assert!(damaged.profile.is_none());
        assert!(Profiles::none().of(here).problem.is_none());
        assert!(profiles.of(Path::new("/no/such/path")).profile.is_none());
    }
}
