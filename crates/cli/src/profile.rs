//! The profiles of one command. A bad profile is reported once, and the defaults are used instead.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use swath::mirror::SharedDevice;
use swath::{Profile, ReadOptions, Source};

use crate::args::{CopiesArgs, ProfileArgs};
use crate::input::Input;
use crate::output::complain;

/// Profiles, looked up once for each file system.
#[derive(Debug)]
pub(crate) struct Profiles(swath_profile::Profiles);

impl Profiles {
    /// Returns the user's profiles, or none if the flags say so.
    pub(crate) fn new(args: ProfileArgs) -> Self {
        Self(match args.no_profile {
            true => swath_profile::Profiles::none(),
            false => swath_profile::Profiles::of_user(),
        })
    }

    /// Returns the profile for the file system of `path`, if there is one.
    fn of(&self, path: &Path) -> Option<Arc<Profile>> {
        let lookup = self.0.of(path);
        if let Some(note) = lookup.note().filter(|_| lookup.is_first) {
            complain(format!("note: {note}"));
        }
        lookup.profile
    }

    /// Adds the profile for `input` to the options, if there is one.
    pub(crate) fn apply(&self, options: ReadOptions, input: &Input) -> ReadOptions {
        self.apply_to_files(options, input.path())
    }

    /// Adds the profile for several files, of which `path` is one.
    pub(crate) fn apply_to_files(
        &self,
        options: ReadOptions,
        path: Option<&Path>,
    ) -> ReadOptions {
        match path.and_then(|path| self.of(path)) {
            Some(profile) => options.with_profile(profile),
            None => options,
        }
    }

    /// Whether to read copies on one device in parallel: only if that was measured to be faster for each copy.
    fn side_by_side<'i>(&self, copies: impl IntoIterator<Item = &'i Input>) -> bool {
        let worth = |copy| {
            self.of_input(copy)
                .is_some_and(|profile| profile.shared_device() == SharedDevice::SideBySide)
        };
        copies.into_iter().all(worth)
    }

    /// Returns `path` and its copies as one source.
    ///
    /// # Errors
    ///
    /// The errors of [`CopiesArgs::source`].
    pub(crate) fn source(&self, copies: &CopiesArgs, path: &Input) -> Result<Source> {
        let all = || std::iter::once(path).chain(&copies.mirrors);
        let worth = copies.is_used() && self.side_by_side(all());
        let shared = if worth { SharedDevice::SideBySide } else { SharedDevice::OneCopy };
        copies.source(path, shared)
    }

    fn of_input(&self, input: &Input) -> Option<Arc<Profile>> {
        input.path().and_then(|path| self.of(path))
    }
}
