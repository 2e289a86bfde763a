//! Checksums of whole files.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use swath_formats::checksum::{self, ChecksumOptions};

use crate::failure::Failure;
use crate::guard::guard;
use crate::number::{Number, numbers};
use crate::options::{CallOptions, CallVerb, Maps, resolve, told};
use crate::pointer::{self, given, value};
use crate::status::Status;

/// A checksum that standard tools also compute.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// 8 bytes, as `xxhsum -H3`.
    Xxh3 = 0,
    /// 4 bytes: CRC-32C (Castagnoli), computed by all workers.
    Crc32c = 1,
    /// 32 bytes, as `b3sum`.
    Blake3 = 2,
}
numbers!(Hash, "swath_hash_kind", [Xxh3, Crc32c, Blake3] -> checksum::Algorithm);

/// Length of the longest digest, in bytes.
pub const SWATH_HASH_MAX_LEN: usize = 32;

impl Hash {
    fn len(self) -> usize {
        match self {
            Self::Xxh3 => 8,
            Self::Crc32c => 4,
            Self::Blake3 => SWATH_HASH_MAX_LEN,
        }
    }
}

/// Returns the length of a digest of this kind in bytes; 0 for an undefined value.
#[unsafe(no_mangle)]
pub extern "C" fn swath_hash_len(kind: MaybeUninit<Hash>) -> usize {
    value(kind).map_or(0, Hash::len)
}

/// Computes the checksum of a file, or of the part that `options` select, and writes it to
/// `digest`, most significant byte first, as tools print it. `size` is the number of bytes
/// available at `digest`: at least `swath_hash_len(kind)`.
///
/// Errors as for `swath_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_hash(
    path: *const c_char,
    options: Option<&CallOptions>,
    kind: MaybeUninit<Hash>,
    digest: *mut u8,
    size: usize,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let kind = value(kind)?;
        given((!digest.is_null()).then_some(()), "digest")?;
        // SAFETY: as above.
        let target = unsafe { pointer::bytes_mut(digest, size.min(kind.len()), "digest") }?;
        if target.len() < kind.len() {
            let text = format!(
                "`size` is {size}, but the digest has {} bytes; try: pass a larger buffer",
                kind.len()
            );
            return Err(Failure::invalid(text));
        }
        let options = CallOptions::reading(options, CallVerb::Read)?;
        let call = resolve(options, path)?;
        let sum =
            ChecksumOptions::new().with_read(call.options).checksum(call.source, kind.into());
        let sum = sum.map_err(told(options, Maps::Never))?;
        if sum.digest.len() != target.len() {
            let text = format!("{} gave {} bytes", Hash::NAME, sum.digest.len());
            return Err(Failure::new(Status::Panic, text));
        }
        target.copy_from_slice(&sum.digest);
        Ok(())
    })
}
