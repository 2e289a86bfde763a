//! Jobs of many processes: parallel workers write one correct output, once.

pub mod division;
pub mod part;

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;

use swath::job::{Done, Plan};
use swath::machine::counted;

use crate::draft::json;
use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::options::{CallOptions, CallVerb};
use crate::pointer::{self, Place, given, handle};
use crate::status::Status;

use division::Division;
use part::Part;

/// A job: its inputs, its parts, and where the output goes. Plain data: handles for it in several
/// processes mean the same job. Freeing a handle changes nothing on the disk.
#[derive(Debug)]
pub struct Job {
    plan: Plan,
    json: CString,
    folder: CString,
}

impl Job {
    fn put(place: Place<'_, Option<Box<Self>>>, plan: impl FnOnce() -> Result<Plan>) -> Status {
        guard(|| {
            let place = handle(place, "job")?;
            let plan = plan()?;
            let json = json(plan.to_json())?;
            let folder = path_text(plan.folder())?;
            *place = Some(Box::new(Self { plan, json, folder }));
            Ok(())
        })
    }
}

/// Returns a path for C; no path has a NUL.
fn path_text(path: &std::path::Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|error| Failure::new(Status::Panic, error.to_string()))
}

/// Plans a job: looks at the `count` inputs, divides them into parts, and creates the folder of the
/// job. Only inputs of length 0 are opened and, with the division `lines`, those that are divided;
/// nothing is created at the target. A job may have no inputs. `options` may be NULL for defaults.
/// Free it with `swath_job_free`.
///
/// SWATH_STATUS_INVALID_ARGUMENT if an input is not a regular file; SWATH_STATUS_IO and others if
/// the target is not a file that may be replaced, or its folder does not exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_job_plan(
    inputs: *const *const c_char,
    count: usize,
    target: *const c_char,
    options: Option<&CallOptions>,
    job: Option<&mut MaybeUninit<Option<Box<Job>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let inputs = unsafe { pointer::paths(inputs, count, "inputs") };
    // SAFETY: as above.
    let target = unsafe { pointer::path(target, "target") };
    Job::put(job, || Ok(CallOptions::job(options)?.plan(inputs?, target?)?))
}

/// Opens the plan of a job that another process has begun. `options` are those of a commit, NULL
/// for defaults: durability and the treatment of an existing target stay as planned.
///
/// SWATH_STATUS_NOT_FOUND if the folder does not exist, or is not that of a job;
/// SWATH_STATUS_CORRUPT if the plan is damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_job_open(
    folder: *const c_char,
    options: Option<&CallOptions>,
    job: Option<&mut MaybeUninit<Option<Box<Job>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let folder = unsafe { pointer::path(folder, "folder") };
    Job::put(job, || {
        Ok(Plan::open_with(folder?, CallOptions::output(options, CallVerb::Write)?)?)
    })
}

/// Makes a handle from the text of `swath_job_json`, in another process. Reads no file.
///
/// SWATH_STATUS_CORRUPT if `text` is not a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_job_from_json(
    text: *const c_char,
    job: Option<&mut MaybeUninit<Option<Box<Job>>>>,
) -> Status {
    // SAFETY: the contract of the header.
    let text = unsafe { pointer::utf8(text, "text") };
    Job::put(job, || Ok(Plan::from_json(text?)?))
}

/// Returns the plan as one line of JSON, which belongs to the handle. NULL if `job` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_json(job: Option<&Job>) -> *const c_char {
    job.map_or(std::ptr::null(), |job| job.json.as_ptr())
}

/// Returns the folder to which parts write, as an absolute path, which belongs to the handle. NULL
/// if `job` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_folder(job: Option<&Job>) -> *const c_char {
    job.map_or(std::ptr::null(), |job| job.folder.as_ptr())
}

/// Returns the number of parts; 0 if `job` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_part_count(job: Option<&Job>) -> usize {
    job.map_or(0, |job| job.plan.parts().len())
}

/// Returns where the inputs were divided, and so what a part has; SWATH_DIVISION_RECORDS if `job` is
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_division(job: Option<&Job>) -> Division {
    job.map_or(Division::Records, |job| Division::of(job.plan.division()))
}

/// Makes a handle for part `index`, from 0. Free it with `swath_part_free`.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the job has no such part.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_part(
    job: Option<&Job>,
    index: usize,
    part: Option<&mut MaybeUninit<Option<Box<Part>>>>,
) -> Status {
    guard(|| {
        let place = handle(part, "part")?;
        let plan = &given(job, "job")?.plan;
        let part = plan.part(index).ok_or_else(|| {
            let count = counted(plan.parts().len() as u64, "part");
            Failure::invalid(format!("part {index} of a job with {count}"))
        })?;
        *place = Some(Box::new(Part::new(part)?));
        Ok(())
    })
}

/// Assembles the output from the parts, in order, and makes it visible in one step. `receipts` are
/// the `count` texts of `swath_segment_receipt`, in any order; NULL takes those in the folder. If a
/// part has several, the first counts. Attempts that ended after a failed commit count in the next
/// one. `bytes`, which may be NULL, is set to the length of the output.
///
/// It may be called again after a failure or a kill, also by another process, and has the same
/// result if the job is committed. `swath_job_remove` removes the folder afterwards.
///
/// SWATH_STATUS_INVALID_ARGUMENT if a part is missing; SWATH_STATUS_CHANGED if an input has changed
/// since the job was planned, or if the job is committed and its output is gone or has another length; SWATH_STATUS_BUSY if another process commits the job, or writes the
/// target; SWATH_STATUS_CORRUPT if the bytes of a part are not those of its receipt: do the part
/// again. After any of these, the target is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_job_commit(
    job: Option<&Job>,
    receipts: *const *const c_char,
    count: usize,
    bytes: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let plan = &given(job, "job")?.plan;
        let done = match receipts.is_null() && count == 0 {
            true => plan.done()?,
            // SAFETY: the contract of the header.
            false => unsafe { pointer::texts(receipts, count, "receipts") }?
                .into_iter()
                .map(receipt)
                .collect::<Result<_>>()?,
        };
        let committed = plan.commit(&done)?;
        bytes.map(|it| it.write(committed.bytes));
        Ok(())
    })
}

fn receipt(text: &str) -> Result<Done> {
    serde_json::from_str(text).map_err(|error| {
        let text = format!(
            "not the receipt of a part: {error}; try: pass the text of swath_segment_receipt"
        );
        Failure::new(Status::Corrupt, text)
    })
}

/// Ends a job without an output: removes its folder. The target stays as it was.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the job is committed; SWATH_STATUS_BUSY if another process is
/// committing it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_abort(job: Option<&Job>) -> Status {
    guard(|| Ok(given(job, "job")?.plan.abort()?))
}

/// Removes the folder of a job that is committed. A folder of segments is the output, and stays.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the job is not committed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_remove(job: Option<&Job>) -> Status {
    guard(|| Ok(given(job, "job")?.plan.remove()?))
}

/// Frees the handle; NULL is ignored. The job continues.
#[unsafe(no_mangle)]
pub extern "C" fn swath_job_free(job: Option<Box<Job>>) {
    quietly(|| drop(job));
}
