//! The verb `read_prioritised`: reads the urgent parts first.

pub mod class;
pub mod plan;

use std::ffi::{c_char, c_void};
use std::mem::{self, MaybeUninit};
use std::time::Duration;

use swath::classes::LoadedPlan;

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::options::{CallOptions, CallVerb, Maps, resolve_several, told};
use crate::pointer::{self, given, handle, wanted};
use crate::report::{Report, tell};
use crate::status::Status;

use class::Class;
use plan::ClassPlan;

/// As a timeout in milliseconds: no limit.
pub const SWATH_FOREVER: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// A read by classes, running or complete, with the memory that holds its bytes. Any number of
/// threads may use it at once, except for `swath_prioritised_finish` and
/// `swath_prioritised_free`: no other thread may use it during or after them.
#[derive(Debug)]
pub struct Prioritised {
    state: State,
}

#[derive(Debug)]
enum State {
    Reading(swath::classes::Prioritised),
    Loaded(LoadedPlan),
    Failed,
}

impl Prioritised {
    fn reading(&self) -> Result<&swath::classes::Prioritised> {
        match &self.state {
            State::Reading(reading) => Ok(reading),
            State::Loaded(_) => Err(Failure::invalid("the read has already finished")),
            State::Failed => Err(has_failed()),
        }
    }
}

fn has_failed() -> Failure {
    Failure::invalid("the read has failed, and its bytes are gone")
}

/// Starts reading the chunks of `plan` from `count` files, the most urgent class first, and
/// returns at once; threads of the library do the reading. The plan names files by their index in
/// `paths`. Free the read with `swath_prioritised_free`. The plan may be freed at once or used
/// again.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the plan names a file that is not in `paths`, or the options
/// have an offset or length that does not fit it; SWATH_STATUS_TRUNCATED if a file ends before
/// the plan does; other errors as for `swath_read`. Later failures are reported by
/// `swath_prioritised_wait` and `swath_prioritised_finish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read_prioritised(
    paths: *const *const c_char,
    count: usize,
    options: Option<&CallOptions>,
    plan: Option<&ClassPlan>,
    reading: Option<&mut MaybeUninit<Option<Box<Prioritised>>>>,
) -> Status {
    guard(|| {
        let reading = handle(reading, "reading")?;
        let plan = given(plan, "plan")?;
        // SAFETY: the contract of the header.
        let paths = unsafe { pointer::paths(paths, count, "paths") }?;
        let options = CallOptions::reading(options, CallVerb::Read)?;
        let (set, sources) = resolve_several(options, &paths)?;
        let started = set.read_prioritised_files(sources, plan.plan.clone());
        let started = started.map_err(told(options, Maps::Never))?;
        *reading = Some(Box::new(Prioritised { state: State::Reading(started) }));
        Ok(())
    })
}

/// Waits until a class is complete and checked, for at most `timeout_ms` (SWATH_FOREVER: no
/// limit), and returns it. `number` is its number in the plan. Free the class with
/// `swath_class_free`; its bytes stay valid as long as those of the read.
///
/// SWATH_STATUS_TIMED_OUT if it takes longer; the error that ended the read, if one did;
/// SWATH_STATUS_BUSY from a callback; SWATH_STATUS_INVALID_ARGUMENT if the plan has no such
/// class.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_wait(
    reading: Option<&Prioritised>,
    number: u32,
    timeout_ms: u64,
    complete: Option<&mut MaybeUninit<Option<Box<Class>>>>,
) -> Status {
    guard(|| {
        let complete = handle(complete, "complete")?;
        let bytes = match &given(reading, "reading")?.state {
            State::Reading(reading) if timeout_ms == SWATH_FOREVER => reading.wait(number)?,
            State::Reading(reading) => {
                let most = Duration::from_millis(timeout_ms);
                reading.wait_for(number, most)?.ok_or_else(|| {
                    let text = format!("class {number} is not complete after {timeout_ms} ms");
                    Failure::new(Status::TimedOut, text)
                })?
            }
            State::Loaded(loaded) => loaded
                .class(number)
                .ok_or_else(|| Failure::invalid(format!("the plan has no class {number}")))?,
            State::Failed => return Err(has_failed()),
        };
        *complete = Some(Box::new(Class::new(&bytes)));
        Ok(())
    })
}

/// Points `data` at `len` bytes of a file from `offset`, if they have been read. Only complete
/// classes are checked for changes to the file. The bytes belong to the read.
///
/// SWATH_STATUS_TIMED_OUT if not all of them have been read yet, and only then; the error that
/// ended the read, if one did; SWATH_STATUS_INVALID_ARGUMENT if the plan does not list all of
/// them.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_bytes(
    reading: Option<&Prioritised>,
    file: usize,
    offset: u64,
    len: u64,
    data: Option<&mut MaybeUninit<*const u8>>,
) -> Status {
    guard(|| {
        let data = given(data, "data")?.write(std::ptr::null());
        let state = &given(reading, "reading")?.state;
        let range = offset..plan::end(offset, len)?;
        let bytes = match state {
            State::Reading(reading) => reading.try_bytes(file, range)?.ok_or_else(|| {
                let text = format!("bytes {offset}..{} are not all read yet", offset + len);
                Failure::new(Status::TimedOut, text)
            })?,
            State::Loaded(loaded) => loaded.bytes(file, range).ok_or_else(|| {
                let end = offset + len;
                Failure::invalid(format!(
                    "the plan does not list all of bytes {offset}..{end} of file {file}"
                ))
            })?,
            State::Failed => return Err(has_failed()),
        };
        *data = bytes.as_ptr();
        Ok(())
    })
}

/// Makes a class the next one to begin. Classes that have begun are read to their end first. A
/// class that has begun, or that is not in the plan, changes nothing. To move several forward,
/// name the most urgent last.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_prioritise(
    reading: Option<&Prioritised>,
    number: u32,
) -> Status {
    guard(|| {
        given(reading, "reading")?.reading()?.prioritise(number);
        Ok(())
    })
}

/// Ends the read without waiting for requests in flight. Complete classes stay readable.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_cancel(reading: Option<&Prioritised>) -> Status {
    guard(|| {
        given(reading, "reading")?.reading()?.cancel();
        Ok(())
    })
}

/// Waits for all chunks. The bytes stay in place until the read is freed; after a failure they
/// are gone, including those of complete classes. `report` may be NULL; free it with
/// `swath_report_free`.
///
/// The first error, or SWATH_STATUS_CHANGED if a file changed while it was read;
/// SWATH_STATUS_INVALID_ARGUMENT if it was finished before.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_finish(
    reading: Option<&mut Prioritised>,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let report = wanted(report);
        let reading = given(reading, "reading")?;
        reading.reading()?;
        if let State::Reading(read) = mem::replace(&mut reading.state, State::Failed) {
            let loaded = read.finish()?;
            tell(report, loaded.report.read.clone());
            reading.state = State::Loaded(loaded);
        }
        Ok(())
    })
}

/// Frees a read and its bytes; NULL is ignored. A running read is cancelled and waited for.
#[unsafe(no_mangle)]
pub extern "C" fn swath_prioritised_free(reading: Option<Box<Prioritised>>) {
    quietly(|| drop(reading));
}

/// Receives a complete class: on a thread of the library, one call at a time, in the order of
/// completion. `complete` is valid until the callback returns; do not free it. It must be quick,
/// must not wait for another class, and must not throw or `longjmp`.
pub type ClassFn = Option<extern "C" fn(complete: *const Class, user_data: *mut c_void)>;
