//! The ranges to read, and the urgency of each.

use std::ffi::c_void;
use std::mem::{self, MaybeUninit};

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::pointer::{Place, given, handle};
use crate::priority::ClassFn;
use crate::priority::class::{Class, ClassChunk};
use crate::status::Status;
use crate::user::UserData;

/// A list of chunks, each with its class: class 0 is needed first. Chunks may come in any order,
/// leave gaps, overlap, and belong to several files. One thread at a time may change it.
#[derive(Debug)]
pub struct ClassPlan {
    pub(super) plan: swath::classes::ClassPlan,
}

/// Receives a complete chunk before its class is complete: on threads of the library, several at
/// once. `chunk` is valid until the callback returns. It must not throw or `longjmp`.
pub type ClassChunkFn = Option<extern "C" fn(chunk: *const ClassChunk, user_data: *mut c_void)>;

fn make(
    place: Place<'_, Option<Box<ClassPlan>>>,
    plan: swath::classes::ClassPlan,
) -> Result<()> {
    *handle(place, "plan")? = Some(Box::new(ClassPlan { plan }));
    Ok(())
}

/// Returns the end of the bytes.
pub(super) fn end(offset: u64, len: u64) -> Result<u64> {
    offset
        .checked_add(len)
        .ok_or_else(|| Failure::invalid(format!("{len} bytes from {offset} end beyond 2^64")))
}

/// Makes an empty plan. Free it with `swath_class_plan_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_new(
    plan: Option<&mut MaybeUninit<Option<Box<ClassPlan>>>>,
) -> Status {
    guard(|| make(plan, swath::classes::ClassPlan::new()))
}

/// Makes a plan that divides each file by the length that it has when it is opened: `chunks`
/// chunks of equal size, the last one with the remainder, in `classes` classes of adjacent
/// chunks, from front to back; at most one chunk per byte and one class per chunk. Free it with
/// `swath_class_plan_free`. The chunks are not known before the files are opened, so
/// `swath_class_plan_len` does not count them; chunks pushed to such a plan are read as well.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_of_whole(
    chunks: u64,
    classes: u32,
    plan: Option<&mut MaybeUninit<Option<Box<ClassPlan>>>>,
) -> Status {
    guard(|| make(plan, swath::classes::ClassPlan::of_whole(chunks, classes)))
}

/// Adds `len` bytes from `offset` of the file with index `file` among those that are read.
///
/// SWATH_STATUS_INVALID_ARGUMENT if they end beyond 2^64; SWATH_STATUS_OUT_OF_MEMORY if the list
/// cannot grow. After a failure the plan is unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_push(
    plan: Option<&mut ClassPlan>,
    file: usize,
    offset: u64,
    len: u64,
    class_number: u32,
) -> Status {
    guard(|| {
        let range = offset..end(offset, len)?;
        let plan = &mut given(plan, "plan")?.plan;
        plan.try_reserve(1).map_err(|error| {
            let text = format!("cannot add a chunk to a plan of {}: {error}", plan.len());
            Failure::new(Status::OutOfMemory, text)
        })?;
        plan.push_in(file, range, class_number);
        Ok(())
    })
}

/// Returns the number of chunks pushed to a plan.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_len(plan: Option<&ClassPlan>) -> usize {
    plan.map_or(0, |plan| plan.plan.len())
}

fn change(
    plan: Option<&mut ClassPlan>,
    setter: impl FnOnce(swath::classes::ClassPlan) -> swath::classes::ClassPlan,
) -> Status {
    guard(|| {
        let plan = given(plan, "plan")?;
        plan.plan = setter(mem::take(&mut plan.plan));
        Ok(())
    })
}

/// Sets how many classes may be in flight: a class begins only when the class `window` places
/// before it is complete. 1 reads one class at a time. Default 0: as many as keep all workers
/// busy, at least 2.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_set_window(
    plan: Option<&mut ClassPlan>,
    window: usize,
) -> Status {
    change(plan, |plan| plan.with_window(window))
}

/// Sets the function that receives each complete class. It cannot be removed: NULL is
/// SWATH_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_set_class_callback(
    plan: Option<&mut ClassPlan>,
    callback: ClassFn,
    user_data: *mut c_void,
) -> Status {
    let Some(callback) = callback else { return guard(|| given(None, "callback")) };
    let user_data = UserData(user_data);
    change(plan, |plan| {
        plan.with_class_callback(move |bytes| {
            let class = Class::new(bytes);
            callback(&raw const class, user_data.get());
        })
    })
}

/// Sets the function that receives each complete chunk that is not empty. It cannot be removed:
/// NULL is SWATH_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_set_chunk_callback(
    plan: Option<&mut ClassPlan>,
    callback: ClassChunkFn,
    user_data: *mut c_void,
) -> Status {
    let Some(callback) = callback else { return guard(|| given(None, "callback")) };
    let user_data = UserData(user_data);
    change(plan, |plan| {
        plan.with_chunk_callback(move |bytes| {
            let chunk = ClassChunk::new(bytes);
            callback(&raw const chunk, user_data.get());
        })
    })
}

/// Frees a plan; NULL is ignored. Reads that were started with it continue.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_free(plan: Option<Box<ClassPlan>>) {
    quietly(|| drop(plan));
}
