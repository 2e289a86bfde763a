//! Several copies of a file, read as one.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use swath::Source;
use swath::mirror::{Hedging, Mirrored, SharedDevice, Verify};
use swath_profile::Profiles;

use crate::failure::Failure;
use crate::number::numbers;
use crate::options::ReadOptions;
use crate::pointer::{self, value};
use crate::setter::{change, put};
use crate::status::Status;

/// The reference that each chunk of a copy is compared with before it is used.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Nothing: for copies that are known to be equal.
    None = 0,
    /// The other copies: more than half of all copies must have the same bytes.
    Vote = 1,
}
numbers!(Verification, "swath_verification", [None, Vote]);

/// Beside the file itself: the library reads up to 64 copies.
const MOST_MIRRORS: usize = 63;

/// Adds a copy of the file. It is read alongside the file, and replaces it chunk by chunk where
/// the file cannot be read. At most 63 copies, then SWATH_STATUS_INVALID_ARGUMENT. The path is
/// copied.
///
/// Copies are assumed to be equal unless `swath_read_options_set_verification` or
/// `swath_read_options_set_manifest` sets a check. Without a check, if copies differ in length,
/// the longest is read and shorter ones are left out, including the file itself; only the report
/// says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read_options_add_mirror(
    options: Option<&mut ReadOptions>,
    path: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        if options.mirrors.len() == MOST_MIRRORS {
            let text = format!(
                "a file has at most {MOST_MIRRORS} mirrors; \
                 try: call swath_read_options_clear_mirrors first"
            );
            return Err(Failure::invalid(text).at_path(path));
        }
        options.mirrors.push(path.to_owned());
        Ok(())
    })
}

/// Removes all mirrors.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_clear_mirrors(
    options: Option<&mut ReadOptions>,
) -> Status {
    put(options, |options| options.mirrors.clear())
}

/// Sets what each chunk of the file and its mirrors is compared with. Default:
/// SWATH_VERIFICATION_NONE. Replaces the manifest set by `swath_read_options_set_manifest`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_verification(
    options: Option<&mut ReadOptions>,
    verification: MaybeUninit<Verification>,
) -> Status {
    change(options, |options| {
        options.verify = match value(verification)? {
            Verification::None => Verify::None,
            Verification::Vote => Verify::Vote,
        };
        Ok(())
    })
}

/// Compares each chunk of the file, and of its mirrors, with the checksums that `swath manifest`
/// saved at `path`. The manifest is read now.
///
/// SWATH_STATUS_CORRUPT if it is damaged or is not a manifest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read_options_set_manifest(
    options: Option<&mut ReadOptions>,
    path: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        options.verify = Verify::Manifest(Arc::new(swath::manifest::load(path)?));
        Ok(())
    })
}

/// Sets how many of 1000 reads may be repeated from another copy because they are slow; the first
/// answer is used. Default 0: no repeats. More than 1000 is SWATH_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_hedging(
    options: Option<&mut ReadOptions>,
    permille: u32,
) -> Status {
    change(options, |options| {
        if permille > 1000 {
            let text = format!(
                "cannot repeat {permille} of 1000 reads; try: pass a value from 0 to 1000"
            );
            return Err(Failure::invalid(text));
        }
        options.hedging = permille;
        Ok(())
    })
}

impl ReadOptions {
    /// Returns the source to read for `path`.
    pub(super) fn source(&self, path: &Path, profiles: Option<&Profiles>) -> Source {
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

    /// Whether the file has mirrors or is verified.
    pub(super) fn has_copies(&self) -> bool {
        !self.mirrors.is_empty() || !matches!(self.verify, Verify::None)
    }
}
