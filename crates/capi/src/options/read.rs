//! Translates options for reading, set in C, to the library's.

use std::fs::File;
use std::path::{Path, PathBuf};

use swath::Source;
use swath::maps::Frozen;
use swath::mirror::{Hedging, Mirrored, SharedDevice, Verify};
use swath_profile::Profiles;

use crate::failure::{Failure, Result};
use crate::options::hooks::Hooks;

/// How to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadOptions {
    pub(super) options: swath::ReadOptions,
    /// The library's setter has no getter.
    pub(super) engine: swath::Engine,
    pub(super) len: Option<u64>,
    pub(super) hooks: Hooks,
    /// Whether settings that `swath tune` saved apply.
    pub(super) has_profile: bool,
    pub(super) frozen: bool,
    pub(super) mirrors: Vec<PathBuf>,
    pub(super) verify: Verify,
    pub(super) hedging: u32,
}

/// One call of the library on one file.
pub(crate) struct Call {
    pub(crate) options: swath::ReadOptions,
    pub(crate) source: Source,
    /// The file, if C has promised that it may be mapped.
    frozen: Option<File>,
}

impl Call {
    /// Returns C's promise, if C has made one.
    pub(crate) fn frozen(&self) -> Option<Frozen<'_>> {
        // SAFETY: C has called `swath_options_promise_frozen`, whose comment states the promise.
        self.frozen.as_ref().map(|file| unsafe { Frozen::promise(file) })
    }
}

/// Resolves `options`, or the defaults, for a call that reads `path`.
pub(crate) fn resolve(options: Option<&ReadOptions>, path: &Path) -> Result<Call> {
    let Some(set) = options else {
        let options = swath::ReadOptions::new();
        return Ok(Call { options, source: Source::from(path), frozen: None });
    };
    let profiles = set.profiles();
    let source = set.source(path, profiles.as_ref());
    let frozen = match set.frozen && !set.has_copies() {
        true => Some(File::open(path).map_err(|error| {
            let text = format!("cannot open {}: {error}", path.display());
            Failure::from(error).saying(text).at_path(path)
        })?),
        false => None,
    };
    Ok(Call { options: set.tuned(Some(path), profiles.as_ref()), source, frozen })
}

/// Resolves `options` for a call that reads several files; mirrors are refused.
pub(crate) fn resolve_several(
    options: Option<&ReadOptions>,
    paths: &[&Path],
) -> Result<(swath::ReadOptions, Vec<Source>)> {
    if let ([path], Some(set)) = (paths, options) {
        let profiles = set.profiles();
        let source = set.source(path, profiles.as_ref());
        return Ok((set.tuned(Some(path), profiles.as_ref()), vec![source]));
    }
    if options.is_some_and(ReadOptions::has_copies) {
        return Err(has_mirrors());
    }
    let resolved = options.zip(paths.first()).map(|(set, path)| {
        let profiles = set.profiles();
        set.tuned(Some(path), profiles.as_ref())
    });
    Ok((resolved.unwrap_or_default(), paths.iter().map(|&path| Source::from(path)).collect()))
}

fn has_mirrors() -> Failure {
    Failure::invalid(
        "mirrors and verification need a call that reads one file; try: pass options without them",
    )
}

/// Whether a call may map its file if C requests it and has made the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maps {
    OncePromised,
    Never,
}

/// Returns the failure of a call; one about maps is worded for C.
pub(crate) fn told<E: Into<Failure>>(
    options: Option<&ReadOptions>,
    maps: Maps,
) -> impl Fn(E) -> Failure {
    move |error| {
        let failure = error.into();
        let Some(set) = options.filter(|_| failure.is_unmapped()) else { return failure };
        let (why, hint) = match maps {
            Maps::Never => (
                "this call never maps a file",
                "choose another engine, or call swath_read, swath_sum, swath_count or swath_records",
            ),
            Maps::OncePromised if set.has_copies() => {
                ("a file with mirrors or a manifest is not mapped", "choose another engine")
            }
            Maps::OncePromised if !set.frozen => (
                "a map needs the promise that no process changes the file",
                "call swath_options_promise_frozen, or choose another engine",
            ),
            Maps::OncePromised => return failure,
        };
        let path = failure.path().display();
        let text = format!("cannot map {path}: {why}; try: {hint}");
        failure.saying(text)
    }
}

impl ReadOptions {
    fn profiles(&self) -> Option<Profiles> {
        self.has_profile.then(Profiles::of_user)
    }

    /// Returns the options for several files, of which `first` was named first.
    pub(crate) fn of_first(&self, first: Option<&Path>) -> swath::ReadOptions {
        let profiles = self.profiles();
        self.tuned(first, profiles.as_ref())
    }

    /// Returns all settings, without the source.
    fn tuned(&self, path: Option<&Path>, profiles: Option<&Profiles>) -> swath::ReadOptions {
        let mut options = self.options.clone();
        if let Some(len) = self.len {
            options = options.with_len(len);
        }
        if let Some(progress) = self.hooks.progress() {
            options = options.with_progress(progress);
        }
        if let Some(token) = &self.hooks.cancel {
            options = options.with_cancel(token.clone());
        }
        match profiles.zip(path) {
            Some((profiles, path)) => profiles.of(path).apply(options),
            None => options,
        }
    }

    /// Returns whether a read is to copy from a map.
    pub(crate) fn maps(options: Option<&Self>) -> bool {
        options.is_some_and(|it| it.engine == swath::Engine::Map)
    }

    /// Returns the token that C has set, or one that is never cancelled.
    pub(crate) fn cancel(options: Option<&Self>) -> swath::CancelToken {
        options.and_then(|it| it.hooks.cancel.clone()).unwrap_or_default()
    }

    /// Returns the source to read for `path`.
    fn source(&self, path: &Path, profiles: Option<&Profiles>) -> Source {
        if !self.has_copies() {
            return Source::from(path);
        }
        let paths = || std::iter::once(path).chain(self.mirrors.iter().map(|it| it.as_path()));
        let side_by_side = |it: &Profiles| {
            paths().all(|path| it.of(path).shared_device() == SharedDevice::SideBySide)
        };
        let copies = Mirrored::new(paths())
            .with_verify(self.verify.clone())
            .with_shared_device(match profiles.is_some_and(side_by_side) {
                true => SharedDevice::SideBySide,
                false => SharedDevice::OneCopy,
            });
        Source::from(match self.hedging {
            0 => copies,
            permille => copies.with_hedging(Hedging::permille(permille)),
        })
    }

    /// Returns whether the file has mirrors or is verified.
    fn has_copies(&self) -> bool {
        !self.mirrors.is_empty() || !matches!(self.verify, Verify::None)
    }
}
