//! The options by word of the verbs that are not tables.

use std::ffi::{CString, OsStr};
use std::mem;
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use swath::mirror::Verify;
use swath::{Engine, Extent, PageCache, append, ingest, job, reading, sink};

use crate::failure::{Failure, Result};
use crate::options::{CallOptions, CallVerb};

/// How an option is set. A setter that does not take the texts changes nothing and returns `false`.
pub(super) struct RowSetter {
    pub(super) takes: fn() -> String,
    pub(super) set: fn(&mut CallOptions, &[&OsStr]) -> Result<bool>,
}

/// An option. Without a default, no text is the default.
pub(super) struct OptionRow {
    pub(super) word: &'static str,
    pub(super) setter: RowSetter,
    pub(super) default: &'static str,
    pub(super) sentence: &'static str,
}

impl std::fmt::Debug for OptionRow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.word)
    }
}

/// Returns the options of a verb, without those of its base.
pub(super) fn of(verb: CallVerb) -> &'static [OptionRow] {
    match verb {
        CallVerb::Read => READ,
        CallVerb::Records => RECORDS,
        CallVerb::Ingest => INGEST,
        CallVerb::Write => WRITE,
        CallVerb::Append => APPEND,
        CallVerb::Ordered => ORDERED,
        CallVerb::Job => JOB,
        CallVerb::TableRead | CallVerb::TableWrite => &[],
    }
}

/// Rows: `word = setter, default;` below a sentence.
macro_rules! rows {
    ($name:ident: $($(#[doc = $sentence:literal])+ $word:ident = $setter:expr, $default:literal;)+) => {
        const $name: &[OptionRow] = &[$(OptionRow {
            word: stringify!($word),
            setter: $setter,
            default: $default,
            sentence: concat!($($sentence),+),
        }),+];
    };
}

/// The setter of a choice: each word with its value.
macro_rules! choice {
    ($set:expr, [$($word:literal => $value:expr),+ $(,)?]) => {
        RowSetter {
            takes: || [$(concat!("`", $word, "`")),+].join(" or "),
            set: |options, texts| {
                let value = match one(texts) { $(Some($word) => $value,)+ _ => return Ok(false) };
                apply(options, value, $set);
                Ok(true)
            },
        }
    };
}

/// The setter of a whole number.
macro_rules! number {
    ($set:expr) => {
        parsed!("a whole number", whole, $set)
    };
}

/// The setter of a number of things.
macro_rules! count {
    ($set:expr) => {
        parsed!("a whole number", |text| whole(text).map(size), $set)
    };
}

/// The setter that calls a builder of the library.
macro_rules! to {
    ($($options:ident).+, $with:ident) => {
        |options, value| with(&mut options.$($options).+, |it| it.$with(value))
    };
}

/// The setter of a text that a function reads.
macro_rules! parsed {
    ($takes:literal, $of:expr, $set:expr) => {
        RowSetter {
            takes: || $takes.to_owned(),
            set: |options, texts| {
                let Some(value) = one(texts).and_then($of) else { return Ok(false) };
                apply(options, value, $set);
                Ok(true)
            },
        }
    };
}

rows! { READ:
    /// Threads that read, with the calling one; more than 1024 are taken as 1024, which the report says. 0: one
    /// per core, or more if the device wants more reads in flight.
    workers = count!(to!(read.options, with_workers)), "0";
    /// Bytes of one read; for a scan, of one chunk. 0: 1 MiB; for a scan 512 KiB.
    chunk_size = number!(to!(read.options, with_chunk_size)), "0";
    /// Direct reads in flight; more than 1024 are taken as 1024, which the report says. 0: 16; on spinning disks
    /// and network file systems 2.
    queue_depth = count!(to!(read.options, with_queue_depth)), "0";
    /// The engine that moves the bytes: the best one for this file at this moment, one thread, several threads,
    /// one thread with many reads in flight, or a map, which also needs `swath_options_promise_frozen`.
    engine = choice!(
        |options, engine| {
            options.read.engine = engine;
            with(&mut options.read.options, |it| it.with_engine(engine));
        },
        ["auto" => Engine::Auto, "serial" => Engine::Serial, "pool" => Engine::Pool, "ring" => Engine::Ring,
         "map" => Engine::Map]
    ), "auto";
    /// The treatment of the page cache: keep, but bypass for files larger than a quarter of the available memory
    /// or read once; fill it; drop the pages that were added once these are read; or bypass it
    /// (O_DIRECT).
    page_cache = choice!(
        to!(read.options, with_page_cache),
        ["auto" => PageCache::Auto, "keep" => PageCache::Keep, "drop" => PageCache::Drop,
         "bypass" => PageCache::Bypass]
    ), "auto";
    /// Whether the file will be read again: not known, or no, so that filling the page cache would be a waste.
    reuse = choice!(
        to!(read.options, with_reuse),
        ["unknown" => reading::Reuse::Unknown, "once" => reading::Reuse::Once]
    ), "unknown";
    /// Whether the file may grow while it is read: an error as any other change, or ignored, for logs that are
    /// being written, of which the length at the start is read.
    growth = choice!(
        to!(read.options, with_growth),
        ["refused" => reading::Growth::Refused, "ignored" => reading::Growth::Ignored]
    ), "refused";
    /// The maximum rate of all threads together, in bytes per second. 0: no limit.
    rate = number!(to!(read.options, with_rate_bytes_per_s)), "0";
    /// Where in the file to begin, in bytes.
    offset = number!(to!(read.options, with_offset)), "0";
    /// How many bytes to read; if fewer follow the offset, the call returns SWATH_STATUS_TRUNCATED.
    len = parsed!("a whole number, or `all`", len, |options, len| options.read.len = len), "all";
    /// Whether the engine `auto` uses the settings that `swath tune` saved for the file system. A profile changes
    /// how bytes are read, never which; one that is damaged is ignored, and the report says so.
    profile = choice!(
        |options, is_used| options.read.has_profile = is_used,
        ["none" => false, "user" => true]
    ), "none";
    /// Paths of up to 63 copies of the file. They are read beside it, and replace it chunk by chunk where it
    /// cannot be read. They are assumed to be equal unless `verification` or `manifest` sets a check; without one,
    /// if copies differ in length, the longest is read and shorter ones are left out, the file itself too, and
    /// only the report says so.
    mirrors = RowSetter { takes: || "up to 63 paths".to_owned(), set: mirrors }, "";
    /// The reference of each chunk of the file and its mirrors: none, or the other copies, of which more than
    /// half must have the same bytes. It replaces `manifest`.
    verification = choice!(
        |options, verify| {
            options.read.verify = verify;
            options.texts.insert("manifest", CString::default());
        },
        ["none" => Verify::None, "vote" => Verify::Vote]
    ), "none";
    /// The path of the checksums that `swath manifest` saved, with which each chunk of the file and its mirrors
    /// is compared. It is read at once, and SWATH_STATUS_CORRUPT if it is damaged. It replaces `verification`.
    manifest = RowSetter { takes: || "a path".to_owned(), set: manifest }, "";
    /// How many of 1000 reads may be repeated from another copy because they are slow; the first answer is used.
    hedging = parsed!("a whole number up to 1000", permille, |options, it| options.read.hedging = it), "0";
}

rows! { RECORDS:
    /// The byte that ends a record. The bytes after the last one are a record too, unless there are
    /// none.
    delimiter = parsed!(
        "one ASCII character, `newline`, `tab`, `nul`, or a byte as `0x1e`", byte,
        |options, byte| options.records.delimiter = byte
    ), "newline";
    /// The byte that encloses text in which delimiters end no record, as in CSV. A quote inside
    /// quotes is doubled. One that is never closed is an error of the call that reads.
    quote = parsed!(
        "one ASCII character, a byte as `0x22`, or `none`", quote,
        |options, quote| options.records.quote = quote
    ), "none";
    /// The bytes of each record; a shorter last one is an error of the call that reads. 0: delimiters end records.
    /// A width together with a `delimiter` or a `quote` is an error.
    width = number!(|options, width| options.records.width = width), "0";
    /// Bytes of a block. 0: the chunk size, or 1 MiB.
    block_size = number!(|options, bytes| options.records.block_size = bytes), "0";
    /// The bytes of the longest accepted record; a longer one is an error of the call that reads. 0: as much as
    /// fits into the available memory.
    record_limit = number!(|options, bytes| options.records.record_limit = bytes), "0";
    /// Takes only the records that begin in these bytes; the last one is taken to its end, wherever that is. If
    /// extents cover a file without overlap, each record begins in exactly one of them. A source that can only be
    /// read in order, such as a pipe, is read from its start.
    starting_in = parsed!(
        "bytes without the end, as in `0..4096` or `4096..`", extent,
        |options, extent| options.records.starting_in = Some(extent)
    ), "0..";
}

rows! { INGEST:
    /// The treatment of a file that cannot be read: fail, with the first failure in input order; leave it out and count
    /// it; or let it keep its place, with its error.
    failures = choice!(
        to!(ingest, with_failures),
        ["fail" => ingest::Failures::Fail, "skip" => ingest::Failures::Skip, "collect" => ingest::Failures::Collect]
    ), "fail";
    /// How a walk through folders treats symbolic links: reads files that links point to, but enters no folder
    /// through a link; ignores links; or follows them, where a link to a folder that contains it is an error. A
    /// path that is given by name is always followed.
    symlinks = choice!(
        to!(ingest, with_symlinks),
        ["files" => ingest::Symlinks::Files, "skip" => ingest::Symlinks::Skip, "follow" => ingest::Symlinks::Follow]
    ), "files";
    /// Bytes that `swath_ingest` may keep, or `swath_ingest_each` may hold at once. 0: the memory available; for
    /// `swath_ingest_each`, 64 MiB.
    memory_limit = number!(to!(ingest, with_memory_limit)), "0";
    /// Bytes of a large file that one worker reads at once, and the most that `swath_ingest_each` passes in one
    /// call; at least 4096. 0: 1 MiB.
    part_size = number!(to!(ingest, with_part_size)), "0";
    /// Threads that read. 0: one per core, and for files outside the page cache as many as keep the device busy.
    workers = count!(to!(read.options, with_workers)), "0";
    /// Files that wait for the device at once. 0: 128 with a ring, 64 threads otherwise.
    queue_depth = count!(to!(read.options, with_queue_depth)), "0";
    /// Whether the settings that `swath tune` saved for the file system of the first file apply.
    profile = choice!(
        |options, is_used| options.read.has_profile = is_used,
        ["none" => false, "user" => true]
    ), "none";
}

rows! { WRITE:
    /// Whether a commit waits for the device: bytes and name are on it when the commit returns; or the kernel has
    /// them and writes them later, and after a power cut the target may be old, empty or damaged.
    durability = choice!(
        to!(output, with_durability),
        ["full" => sink::Durability::Full, "none" => sink::Durability::None]
    ), "full";
    /// The treatment of a target that exists: it is replaced in one step, with its mode, owner (where allowed) and
    /// attributes; the call fails and never touches it; or it is truncated and written where it is, for a file that
    /// cannot be replaced, which after an error or a crash holds a part of the new bytes.
    replace = choice!(
        to!(output, with_replace),
        ["allowed" => sink::Replace::Allowed, "refused" => sink::Replace::Refused,
         "in_place" => sink::Replace::InPlace]
    ), "allowed";
    /// The treatment of a target with other names, which would keep the old bytes: the call fails, or this name
    /// has the new bytes and the others the old ones.
    hard_links = choice!(
        to!(output, with_hard_links),
        ["refused" => sink::HardLinks::Refused, "broken" => sink::HardLinks::Broken]
    ), "refused";
    /// Threads that write, with the calling one; at most 1024. Only `swath_write` and `swath_table_write` start
    /// threads; forks and tickets are written by the caller's. 0: one, over a network or FUSE up to 4; for tables
    /// one per core.
    workers = count!(to!(output, with_workers)), "0";
}

rows! { APPEND:
    /// How the bytes of parallel strands are stored: one ordinary file, byte for byte the one that the serial
    /// program would write; or a folder of segments with a manifest of their serial order, of which a commit moves
    /// nothing, and which `swath_appended_open`, `swath cat` and `swath cp` read.
    mode = choice!(
        to!(append, with_mode),
        ["plain" => append::Mode::Plain, "segments" => append::Mode::Segments]
    ), "plain";
    /// Bytes of forks that may wait in memory for their place before they are spilled to disk. 0: an eighth of the
    /// available memory, at most 2 GiB.
    memory_limit = number!(to!(append, with_memory_limit)), "0";
    /// Bytes that a strand collects before it stores them. 0: 256 KiB.
    buffer_size = number!(to!(append, with_buffer_size)), "0";
    /// Whether segments have checksums: one for each extent (CRC-32C), for `swath_appended_verify`, or none.
    checksums = choice!(
        to!(append, with_checksums),
        ["extents" => append::ExtentChecksums::Extents, "none" => append::ExtentChecksums::None]
    ), "extents";
}

rows! { ORDERED:
    /// Chunks that may exist at once: open tickets, and chunks not yet written. 0: two per core.
    window = count!(to!(ordered, with_window)), "0";
    /// Bytes that a chunk usually holds. 0: 64 KiB, then the longest chunk so far.
    chunk_size = number!(to!(ordered, with_chunk_size)), "0";
    /// Whether runs of at least 32 KiB of zeros become holes, where the file system has holes; direct writes write
    /// them.
    sparse = choice!(
        to!(ordered, with_sparse),
        ["never" => sink::Sparse::Never, "auto" => sink::Sparse::Auto]
    ), "never";
    /// Whether writes bypass the page cache (O_DIRECT), where the file system allows it.
    direct = choice!(
        to!(ordered, with_direct),
        ["no" => append::Direct::No, "yes" => append::Direct::Yes]
    ), "no";
}

rows! { JOB:
    /// The number of parts into which inputs are divided; it takes precedence over `part_size`. 0:
    /// as `part_size` says.
    parts = count!(to!(job, with_parts)), "0";
    /// Bytes of input of a part. 0: 64 MiB.
    part_size = number!(to!(job, with_part_size)), "0";
    /// Where inputs may be divided; see `swath_division`.
    division = choice!(
        |options, division| {
            with(&mut options.job, |it| it.with_division(division));
            options.texts.insert("width", c"none".to_owned());
        },
        ["records" => job::Division::Records, "bytes" => job::Division::Bytes, "lines" => job::Division::Lines,
         "inputs" => job::Division::Inputs, "groups" => job::Division::Groups]
    ), "records";
    /// Divides inputs at multiples of this many bytes from their start, for records of one length;
    /// the length of each input must be such a multiple. It replaces `division`, and `division`
    /// replaces it; the last one set counts.
    width = parsed!("a whole number from 1, or `none`", width, |options, width| {
        // Without a width, an earlier division stays.
        if width.is_some() || &*options.texts["width"] != c"none" {
            let division = width.map_or(job::Division::Records, job::Division::Width);
            with(&mut options.job, |it| it.with_division(division));
            options.texts.insert("division", c"records".to_owned());
        }
    }), "none";
    /// The form of the output: one ordinary file; or the folder of the job, to which the commit adds a manifest
    /// and moves nothing, and which `swath_appended_open`, `swath cat` and `swath cp` read.
    form = choice!(
        to!(job, with_form),
        ["file" => job::Form::File, "segments" => job::Form::Segments]
    ), "file";
    /// The folder to which parts write; it must not exist. Without one: next to the target, with a
    /// name of its own.
    folder = RowSetter { takes: || "a path".to_owned(), set: folder }, "";
}

/// Calls a setter with its argument.
fn apply<V>(options: &mut CallOptions, value: V, set: fn(&mut CallOptions, V)) {
    set(options, value);
}

/// Replaces options by those that a builder of the library returns.
fn with<O: Default>(options: &mut O, build: impl FnOnce(O) -> O) {
    *options = build(mem::take(options));
}

fn one<'t>(texts: &[&'t OsStr]) -> Option<&'t str> {
    match texts {
        [text] => text.to_str(),
        _ => None,
    }
}

fn whole(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn len(text: &str) -> Option<Option<u64>> {
    if text == "all" { Some(None) } else { whole(text).map(Some) }
}

fn permille(text: &str) -> Option<u32> {
    text.parse().ok().filter(|permille| *permille <= 1000)
}

fn width(text: &str) -> Option<Option<NonZeroU64>> {
    if text == "none" { Some(None) } else { whole(text).and_then(NonZeroU64::new).map(Some) }
}

fn byte(text: &str) -> Option<u8> {
    match text {
        "newline" => Some(b'\n'),
        "tab" => Some(b'\t'),
        "nul" => Some(0),
        _ => match (text.as_bytes(), text.strip_prefix("0x")) {
            ([byte], _) if byte.is_ascii() => Some(*byte),
            (_, Some(digits)) if digits.len() <= 2 && !digits.starts_with('+') => {
                u8::from_str_radix(digits, 16).ok()
            }
            _ => None,
        },
    }
}

fn quote(text: &str) -> Option<Option<u8>> {
    if text == "none" { Some(None) } else { byte(text).map(Some) }
}

fn extent(text: &str) -> Option<Extent> {
    let (from, to) = text.split_once("..")?;
    let (from, to) = (whole(from)?, if to.is_empty() { u64::MAX } else { whole(to)? });
    (from <= to).then(|| Extent::between(from, to))
}

/// One path; none for the default.
fn path<'t>(texts: &[&'t OsStr]) -> Option<Option<&'t Path>> {
    match texts {
        [] => Some(None),
        [path] if !path.as_bytes().is_empty() => Some(Some(Path::new(*path))),
        _ => None,
    }
}

fn mirrors(options: &mut CallOptions, texts: &[&OsStr]) -> Result<bool> {
    /// Beside the file itself: the library reads up to 64 copies.
    const MOST: usize = 63;

    let is_taken = texts.len() <= MOST && texts.iter().all(|path| !path.is_empty());
    if is_taken {
        options.read.mirrors = texts.iter().map(Into::into).collect();
    }
    Ok(is_taken)
}

fn manifest(options: &mut CallOptions, texts: &[&OsStr]) -> Result<bool> {
    let Some(path) = path(texts) else { return Ok(false) };
    if let Some(path) = path {
        let manifest = swath::manifest::load(path).map_err(Failure::from)?;
        options.read.verify = Verify::Manifest(Arc::new(manifest));
        options.texts.insert("verification", c"none".to_owned());
    } else if matches!(options.read.verify, Verify::Manifest(_)) {
        options.read.verify = Verify::None;
    }
    Ok(true)
}

fn folder(options: &mut CallOptions, texts: &[&OsStr]) -> Result<bool> {
    let Some(path) = path(texts) else { return Ok(false) };
    options.job_folder = path.map(Path::to_owned);
    Ok(true)
}
