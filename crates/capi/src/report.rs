//! The report of a read.

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use swath::Fallback;

use crate::guard::quietly;
use crate::options::{Engine, PageCache};

/// The report of a read: facts that never change. Any number of threads may use it at once. Its
/// texts and structures are valid until it is freed.
#[derive(Debug)]
pub struct Report {
    report: swath::Report,
    reason: CString,
    profile: Option<CString>,
    fallbacks: Vec<CString>,
    mirrors: Vec<MirrorReport>,
    /// The strings that `mirrors` points to.
    _names: Vec<CString>,
}

// SAFETY: the pointers in it lead to its own strings, which never change.
unsafe impl Send for Report {}
// SAFETY: as above.
unsafe impl Sync for Report {}

/// The state of a copy of a file after a read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorState {
    /// It was read.
    Read = 0,
    /// Another copy on its device was read instead.
    Spare = 1,
    /// It failed several times in a row, and was then used only for bytes that no other copy had.
    GivenUp = 2,
    /// It could not be read, or is no longer the file that was opened.
    Unusable = 3,
}

/// The part of a read that one copy of a file served. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct MirrorReport {
    /// Path of the copy.
    pub path: *const c_char,
    /// The state of the copy.
    pub state: MirrorState,
    /// Last problem of the copy, or NULL.
    pub trouble: *const c_char,
    /// Bytes that were taken from it.
    pub bytes: u64,
    /// Chunks that were taken from it.
    pub chunks: u64,
    /// Chunks that it failed to deliver.
    pub errors: u64,
    /// Chunks of `errors` that came from another copy.
    pub fail_overs: u64,
    /// Repeated reads of it that came first and were used.
    pub hedges_won: u64,
    /// Repeated reads of it that were not needed.
    pub hedges_lost: u64,
}

/// Stores a report in the place from C, if there is one.
pub(crate) fn tell(place: Option<&mut Option<Box<Report>>>, report: swath::Report) {
    if let Some(place) = place {
        *place = Some(Box::new(Report::new(report)));
    }
}

/// Returns a text for C, up to a NUL.
pub(crate) fn c_string(text: &[u8]) -> CString {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Returns texts for C.
pub(crate) fn c_strings(fallbacks: &[Fallback]) -> Vec<CString> {
    fallbacks.iter().map(|it| c_string(it.to_string().as_bytes())).collect()
}

/// Returns text `index`; NULL past the last.
pub(crate) fn text_at(texts: Option<&Vec<CString>>, index: usize) -> *const c_char {
    texts.and_then(|it| it.get(index)).map_or(ptr::null(), |text| text.as_ptr())
}

impl Report {
    pub(crate) fn new(report: swath::Report) -> Self {
        let mut names = Vec::new();
        let mut kept = |text: &[u8]| {
            let text = c_string(text);
            let first = text.as_ptr();
            names.push(text);
            first
        };
        let mirror = |it: &swath::mirror::MirrorReport| MirrorReport {
            path: kept(it.path.as_os_str().as_bytes()),
            state: match it.state {
                swath::mirror::MirrorState::Read => MirrorState::Read,
                swath::mirror::MirrorState::Spare => MirrorState::Spare,
                swath::mirror::MirrorState::GivenUp => MirrorState::GivenUp,
                // The library's enumeration may grow.
                _ => MirrorState::Unusable,
            },
            trouble: it.trouble.as_ref().map_or(ptr::null(), |text| kept(text.as_bytes())),
            bytes: it.bytes,
            chunks: it.chunks,
            errors: it.errors,
            fail_overs: it.fail_overs,
            hedges_won: it.hedges_won,
            hedges_lost: it.hedges_lost,
        };
        let mirrors = report.mirrors.iter().map(mirror).collect();
        let text = |text: &String| c_string(text.as_bytes());
        let (reason, profile) = (text(&report.reason), report.profile.as_ref().map(text));
        let fallbacks = c_strings(&report.fallbacks);
        Self { report, reason, profile, fallbacks, mirrors, _names: names }
    }
}

/// Returns the bytes that were delivered.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_bytes(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.bytes)
}

/// Returns the nanoseconds from the call to the last byte, including opening and checking.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_elapsed_ns(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| u64::try_from(it.report.elapsed.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the engine that ran; SWATH_ENGINE_AUTO for NULL only.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_engine(report: Option<&Report>) -> Engine {
    report.map_or(Engine::Auto, |it| it.report.engine.into())
}

/// Returns how the page cache was treated; SWATH_PAGE_CACHE_AUTO for NULL only.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_page_cache(report: Option<&Report>) -> PageCache {
    report.map_or(PageCache::Auto, |it| it.report.page_cache.into())
}

/// Returns the number of threads that read, including the calling one.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_workers(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.workers as u64)
}

/// Returns the number of reads that could be in flight at once.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_queue_depth(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.queue_depth)
}

/// Returns the bytes of one chunk.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_chunk_size(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.chunk_size)
}

/// Returns the number of read calls, or of ring entries submitted.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_calls(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.calls)
}

/// Returns the number of reads repeated after a transient failure, an interrupt or a short read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_retries(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.retries)
}

/// Returns the bytes that were read past the page cache.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_direct_bytes(report: Option<&Report>) -> u64 {
    report.map_or(0, |it| it.report.direct_bytes)
}

/// Returns why this engine and this treatment of the page cache were chosen, in one sentence;
/// NULL for NULL only.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_reason(report: Option<&Report>) -> *const c_char {
    report.map_or(ptr::null(), |it| it.reason.as_ptr())
}

/// Returns the name of the profile that was used, or NULL if no profile was used.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_profile(report: Option<&Report>) -> *const c_char {
    let profile = report.and_then(|it| it.profile.as_ref());
    profile.map_or(ptr::null(), |name| name.as_ptr())
}

/// Returns the number of requested settings that could not be applied.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_fallback_count(report: Option<&Report>) -> usize {
    report.map_or(0, |it| it.fallbacks.len())
}

/// Describes a requested setting that could not be applied, and what was done instead; NULL if
/// `index` is not below the count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_fallback(
    report: Option<&Report>,
    index: usize,
) -> *const c_char {
    text_at(report.map(|it| &it.fallbacks), index)
}

/// Returns the number of copies that the file had; 0 for a file without mirrors.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_mirror_count(report: Option<&Report>) -> usize {
    report.map_or(0, |it| it.mirrors.len())
}

/// Returns the share of one copy in the read; the file itself is the first; NULL if `index` is
/// not below the count.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_mirror(
    report: Option<&Report>,
    index: usize,
) -> *const MirrorReport {
    let mirror = report.and_then(|it| it.mirrors.get(index));
    mirror.map_or(ptr::null(), ptr::from_ref)
}

/// Frees a report; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_report_free(report: Option<Box<Report>>) {
    quietly(|| drop(report));
}
