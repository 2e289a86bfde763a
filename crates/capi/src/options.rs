//! How to read, as an opaque object, so that it can grow without a new ABI.

pub mod choices;
pub mod copies;
pub mod hooks;
mod resolve;

use std::mem::{self, MaybeUninit};
use std::path::PathBuf;

use swath::mirror::Verify;

use crate::guard::quietly;
use crate::pointer::value;
use crate::setter::{Holds, change, made, put, set};
use crate::status::Status;

pub use choices::{Engine, Growth, PageCache, Profile, Reuse};
pub use copies::Verification;
pub(crate) use hooks::Hooks;
pub use hooks::ProgressFn;
pub(crate) use resolve::{Call, Maps, resolve, resolve_several, told};

/// How to read. Setters may be called again; the last call counts. A call that reads uses what is
/// set when it begins. One thread at a time may set options, and no thread while a call reads
/// with them; any number of calls may read with them at once. NULL means defaults.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    options: swath::ReadOptions,
    /// The library's setter has no getter.
    engine: swath::Engine,
    len: Option<u64>,
    hooks: Hooks,
    profile: Profile,
    frozen: bool,
    mirrors: Vec<PathBuf>,
    verify: Verify,
    hedging: u32,
}

impl Holds for ReadOptions {
    type Held = swath::ReadOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with the defaults. Free them with `swath_read_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_new(
    options: Option<&mut MaybeUninit<Option<Box<ReadOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_free(options: Option<Box<ReadOptions>>) {
    quietly(|| drop(options));
}

/// Sets how many threads read, including the calling one. More than 1024 is taken as 1024, and
/// the report says so. Default 0: one per core, or more if the device wants more reads in flight.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_workers(
    options: Option<&mut ReadOptions>,
    workers: usize,
) -> Status {
    set(options, |options| Ok(options.with_workers(workers)))
}

/// Sets the bytes of one read; for `swath_scan`, of one chunk. Default 0: 1 MiB; for a scan 512
/// KiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_chunk_size(
    options: Option<&mut ReadOptions>,
    chunk_size: usize,
) -> Status {
    set(options, |options| Ok(options.with_chunk_size(chunk_size as u64)))
}

/// Sets how many direct reads are in flight; more than 1024 is taken as 1024, and the report says
/// so. Default 0: 16; on spinning disks and network file systems 2.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_queue_depth(
    options: Option<&mut ReadOptions>,
    queue_depth: usize,
) -> Status {
    set(options, |options| Ok(options.with_queue_depth(queue_depth)))
}

/// Sets the engine that moves the bytes. Default: SWATH_ENGINE_AUTO. SWATH_ENGINE_MAP also needs
/// `swath_read_options_promise_frozen`.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the value is not an engine; the options stay unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_engine(
    options: Option<&mut ReadOptions>,
    engine: MaybeUninit<Engine>,
) -> Status {
    change(options, |options| {
        options.engine = value(engine)?.into();
        options.options = mem::take(&mut options.options).with_engine(options.engine);
        Ok(())
    })
}

/// Sets how the read treats the page cache. Default: SWATH_PAGE_CACHE_AUTO.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_page_cache(
    options: Option<&mut ReadOptions>,
    page_cache: MaybeUninit<PageCache>,
) -> Status {
    set(options, |options| Ok(options.with_page_cache(value(page_cache)?.into())))
}

/// Sets whether the file will be read again. Default: SWATH_REUSE_UNKNOWN.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_reuse(
    options: Option<&mut ReadOptions>,
    reuse: MaybeUninit<Reuse>,
) -> Status {
    set(options, |options| Ok(options.with_reuse(value(reuse)?.into())))
}

/// Sets whether the file may grow while it is read. Default: SWATH_GROWTH_REFUSED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_growth(
    options: Option<&mut ReadOptions>,
    growth: MaybeUninit<Growth>,
) -> Status {
    set(options, |options| Ok(options.with_growth(value(growth)?.into())))
}

/// Sets the maximum rate of all workers together, in bytes per second. Default 0: no limit.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_rate(
    options: Option<&mut ReadOptions>,
    bytes_per_s: u64,
) -> Status {
    set(options, |options| Ok(options.with_rate_bytes_per_s(bytes_per_s)))
}

/// Sets where in the file to begin, in bytes. Default 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_offset(
    options: Option<&mut ReadOptions>,
    offset: u64,
) -> Status {
    set(options, |options| Ok(options.with_offset(offset)))
}

/// Sets how many bytes to read. If the file has fewer bytes after the offset, the call returns
/// SWATH_STATUS_TRUNCATED. Default SWATH_TO_END: all of them.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_len(
    options: Option<&mut ReadOptions>,
    len: u64,
) -> Status {
    put(options, |options| options.len = (len != SWATH_TO_END).then_some(len))
}

/// As a length: up to the end of the file. As a total: not known.
pub const SWATH_TO_END: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// Sets the function that receives progress, and the pointer passed to it. Default NULL: no
/// function.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_progress(
    options: Option<&mut ReadOptions>,
    progress: ProgressFn,
    user_data: *mut std::ffi::c_void,
) -> Status {
    put(options, |options| options.hooks.set_progress(progress, user_data))
}

/// Sets the token that cancels calls with these options. Default NULL: no token. The options keep
/// what they need of it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_cancel(
    options: Option<&mut ReadOptions>,
    token: Option<&crate::cancel::CancelToken>,
) -> Status {
    put(options, |options| options.hooks.set_cancel(token))
}

/// Sets whether SWATH_ENGINE_AUTO uses the settings that `swath tune` saved for the file system.
/// Default: SWATH_PROFILE_NONE.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_set_profile(
    options: Option<&mut ReadOptions>,
    profile: MaybeUninit<Profile>,
) -> Status {
    change(options, |options| {
        options.profile = value(profile)?;
        Ok(())
    })
}

/// Promises that until a call with these options returns, no process writes to the file or
/// truncates it. The file may then be mapped: by `swath_read` with SWATH_ENGINE_MAP, and by
/// `swath_sum`, `swath_count` and `swath_records` wherever that is faster. Other calls never map;
/// those that use the engine return SWATH_STATUS_INVALID_ARGUMENT for SWATH_ENGINE_MAP.
///
/// Breaking the promise is undefined behaviour: if a mapped file is truncated, SIGBUS ends the
/// process. Without the promise this cannot happen. It applies to calls that read one file
/// without mirrors; other calls read as usual.
#[unsafe(no_mangle)]
pub extern "C" fn swath_read_options_promise_frozen(
    options: Option<&mut ReadOptions>,
) -> Status {
    put(options, |options| options.frozen = true)
}
