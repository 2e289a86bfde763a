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

/// What each chunk of a copy is compared with before it is taken.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Nothing: for copies that are known to be equal.
    None = 0,
    /// The other copies: more than half of all must have the same bytes.
    Vote = 1,
}
numbers!(Verification, "swath_verification", [None, Vote]);

/// Beside the file itself: the library reads up to 64 copies.
const MOST_MIRRORS: usize = 63;

/// Adds a copy of the file: it is read beside the file, and in place of it where the file cannot
/// be read, chunk by chunk. At most 63, then SWATH_STATUS_INVALID_ARGUMENT. The path is copied.
///
/// Copies are taken to be equal unless `swath_read_options_set_verification` or
/// `swath_read_options_set_manifest` says how to find out. Without that, of copies of different
/// lengths the longest is read and the shorter ones are left out, the file itself too: only the
/// report says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read_options_add_mirror(
    options: Option<&mut ReadOptions>,
    path: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        if options.mirrors.len() == MOST_MIRRORS {
            let text = format!("there are {MOST_MIRRORS} mirrors already, and no more can be");
            return Err(Failure::invalid(text).at_path(path));
        }
        options.mirrors.push(path.to_owned());
        Ok(())
    })
}

/// Forgets all mirrors.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_clear_mirrors(
    options: Option<&mut ReadOptions>,
) -> Status {
    put(options, |options| options.mirrors.clear())
}

/// Sets what each chunk of the file and its mirrors is compared with. Default:
/// SWATH_VERIFICATION_NONE. Takes the place of what `swath_read_options_set_manifest` has set.
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

/// Compares each chunk with the checksums that `swath manifest` has kept at `path`: of the file
/// alone, and of its mirrors. The manifest is read now.
///
/// SWATH_STATUS_CORRUPT if it is damaged, or something else.
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

/// Sets how many of 1000 reads may be made again from another copy because they take long;
/// whichever comes first is taken. Default 0: none. More than 1000 is SWATH_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_hedging(
    options: Option<&mut ReadOptions>,
    permille: u32,
) -> Status {
    change(options, |options| {
        if permille > 1000 {
            let text = format!("{permille} of 1000 reads cannot be made again; 1000 is all");
            return Err(Failure::invalid(text));
        }
        options.hedging = permille;
        Ok(())
    })
}

impl ReadOptions {
    /// What to read for `path`.
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

    /// Whether there is more to it than one file.
    pub(super) fn has_copies(&self) -> bool {
        !self.mirrors.is_empty() || !matches!(self.verify, Verify::None)
    }
}
