//! The verbs that read tables.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use swath::Source;
use swath_formats::table::{BatchForm, BatchOptions, BatchStream};

use crate::failure::{Failure, Result};
use crate::guard::guard;
use crate::options::{CallOptions, CallVerb, Maps, resolve_several, told};
use crate::pointer::{self, Place, given, wanted};
use crate::status::Status;
use crate::table::export::exported;
use crate::table::report::{Counts, TableReport};

/// Reads text files with the same columns as one table, in the order of `paths`, into memory, by all
/// workers. Each column has the type that holds all its values in all files, or the one that its option `types`
/// sets; no value is guessed. A file whose name ends in .jsonl or .ndjson is JSON Lines; the option
/// `form` sets the form of others. Compressed text (gzip, zstd, bzip2) is decompressed on the way.
/// `batches` streams the table; call its `release` in any case, unless it is NULL, as after a
/// failure of this call. `options` may be NULL for defaults. `report`, which may be NULL, describes
/// the table; free it with `swath_table_report_free`. After a failure it is NULL.
///
/// `offset` and `len` select a part of each text; mirrors need a call with one path.
///
/// Errors as for `swath_read`; SWATH_STATUS_CORRUPT, with line, byte and column in the message, for
/// text that is not a table, and for a value that is not of a type that was set;
/// SWATH_STATUS_INVALID_ARGUMENT if options contradict each other, or name a column that does not
/// exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_read(
    paths: *const *const c_char,
    count: usize,
    options: Option<&CallOptions>,
    batches: Option<&mut MaybeUninit<FFI_ArrowArrayStream>>,
    report: Option<&mut MaybeUninit<Option<Box<TableReport>>>>,
) -> Status {
    guard(|| {
        let (report, place) = (wanted(report), stream(batches)?);
        // SAFETY: the contract of the header.
        let paths = unsafe { pointer::paths(paths, count, "paths") }?;
        let (text, sources) = reading(&paths, options)?;
        let options = CallOptions::reading(options, CallVerb::TableRead)?;
        let read = text.read_batches_of(sources).map_err(told(options, Maps::Never))?;
        let (made, _) = TableReport::new(read.report());
        let schema = Arc::clone(read.schema());
        let rest = Box::new(read.into_batches().into_iter().map(Ok));
        *place = exported(&schema, rest)?;
        if let Some(report) = report {
            *report = Some(Box::new(made));
        }
        Ok(())
    })
}

/// As `swath_table_read`, in bounded memory: `batches` reads some blocks of text when its
/// `get_next` is first called, on the calling thread and on threads of the library, which read the
/// following ones while the caller uses these. The types are found first, in a pass over all files,
/// unless all are set. A pipe is read once: its types are those of its first 64 MiB. Compressed
/// text is decompressed once to find the types and once for the batches.
///
/// A fault in a value that is read later is an error of `get_next`: it returns an `errno`, and
/// `get_last_error` of the stream returns the whole message. Each further call returns the same.
/// The stream may be read and released by any thread, one at a time; releasing it before its end
/// ends the work. The pointers for progress in `options` must be valid until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_stream(
    paths: *const *const c_char,
    count: usize,
    options: Option<&CallOptions>,
    batches: Option<&mut MaybeUninit<FFI_ArrowArrayStream>>,
    report: Option<&mut MaybeUninit<Option<Box<TableReport>>>>,
) -> Status {
    guard(|| {
        let (report, place) = (wanted(report), stream(batches)?);
        // SAFETY: the contract of the header.
        let paths = unsafe { pointer::paths(paths, count, "paths") }?;
        let (text, sources) = reading(&paths, options)?;
        let options = CallOptions::reading(options, CallVerb::TableRead)?;
        let rest = text.stream_batches_of(sources).map_err(told(options, Maps::Never))?;
        let (made, counts) = TableReport::new(rest.report());
        let schema = Arc::clone(rest.schema());
        *place = exported(&schema, Box::new(Streamed { rest, counts }))?;
        if let Some(report) = report {
            *report = Some(Box::new(made));
        }
        Ok(())
    })
}

/// Returns the place of a stream, set to a released one until there is one.
fn stream(place: Place<'_, FFI_ArrowArrayStream>) -> Result<&mut FFI_ArrowArrayStream> {
    Ok(given(place, "batches")?.write(FFI_ArrowArrayStream::empty()))
}

/// Returns the sources and the options of a read.
fn reading(
    paths: &[&Path],
    options: Option<&CallOptions>,
) -> Result<(BatchOptions, Vec<Source>)> {
    if paths.is_empty() {
        return Err(Failure::invalid("there are no paths; try: pass at least one"));
    }
    let (table, has_form) = CallOptions::table(options)?;
    let (read, sources) =
        resolve_several(CallOptions::reading(options, CallVerb::TableRead)?, paths)?;
    let table = if has_form { table } else { table.with_form(form(paths)?) };
    Ok((table.with_read(read), sources))
}

/// Returns the form of files, by their names.
fn form(paths: &[&Path]) -> Result<BatchForm> {
    let named = |path: &&Path| BatchForm::of_name(path).unwrap_or(BatchForm::Csv);
    let first = paths.first().map_or(BatchForm::Csv, named);
    match paths.iter().find(|&&path| named(&path) != first) {
        None => Ok(first),
        Some(other) => {
            let text = format!(
                "{} is of another form than {}; try: set `form` for all",
                other.display(),
                paths[0].display()
            );
            Err(Failure::invalid(text).at_path(other))
        }
    }
}

/// A stream whose report grows as it is read.
struct Streamed {
    rest: BatchStream,
    counts: Arc<Counts>,
}

impl Iterator for Streamed {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.rest.next();
        self.counts.set(self.rest.report());
        Some(next?.map_err(Failure::from))
    }
}
