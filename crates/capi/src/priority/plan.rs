//! What is to be read, and how soon each part of it is needed.

use std::ffi::c_void;
use std::mem::{self, MaybeUninit};

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::pointer::{Place, given, handle};
use crate::priority::ClassFn;
use crate::priority::class::{Class, ClassChunk};
use crate::status::Status;
use crate::user::UserData;

/// A list of chunks, each with the class of bytes that it belongs to: class 0 is needed first.
/// Chunks may come in any order, leave holes, overlap, and be of several files. One thread changes
/// it at a time.
#[derive(Debug)]
pub struct ClassPlan {
    pub(super) plan: swath::classes::ClassPlan,
}

/// Is told that a chunk is complete, before its class is: by threads of the library, several at a
/// time. `chunk` is valid until it returns. It must not throw or `longjmp`.
pub type ClassChunkFn = Option<extern "C" fn(chunk: *const ClassChunk, user_data: *mut c_void)>;

fn make(
    place: Place<'_, Option<Box<ClassPlan>>>,
    plan: swath::classes::ClassPlan,
) -> Result<()> {
    *handle(place, "plan")? = Some(Box::new(ClassPlan { plan }));
    Ok(())
}

/// Where bytes end.
pub(super) fn end(offset: u64, len: u64) -> Result<u64> {
    offset
        .checked_add(len)
        .ok_or_else(|| Failure::invalid(format!("{len} bytes from {offset} on exceed 2^64")))
}

/// Makes a plan without chunks. To be freed by `swath_class_plan_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_new(
    plan: Option<&mut MaybeUninit<Option<Box<ClassPlan>>>>,
) -> Status {
    guard(|| make(plan, swath::classes::ClassPlan::new()))
}

/// Makes a plan for each file that is read, by the length that it is found to have: `chunks` chunks
/// of one size, the last one with what is left over, in `classes` classes of neighbouring chunks,
/// from front to back. At most one chunk for each byte, and one class for each chunk. They are not
/// known before the files are, so `swath_class_plan_len` does not count them; what is pushed to such a
/// plan is read beside them.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_of_whole(
    chunks: u64,
    classes: u32,
    plan: Option<&mut MaybeUninit<Option<Box<ClassPlan>>>>,
) -> Status {
    guard(|| make(plan, swath::classes::ClassPlan::of_whole(chunks, classes)))
}

/// Adds `len` bytes from `offset` on of the file with this index among those that are read.
///
/// SWATH_STATUS_INVALID_ARGUMENT if they would end beyond 2^64; SWATH_STATUS_OUT_OF_MEMORY if the
/// list cannot grow. After a failure the plan is what it was.
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
            let text = format!("cannot add a chunk to the {} of the plan: {error}", plan.len());
            Failure::new(Status::OutOfMemory, text)
        })?;
        plan.push_in(file, range, class_number);
        Ok(())
    })
}

/// Returns how many chunks were pushed to a plan.
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

/// Sets how many classes may be in flight: a class begins only when the one `window` before it is
/// complete. 1: one after the other. Default 0: as many as keep all workers busy, at least 2.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_set_window(
    plan: Option<&mut ClassPlan>,
    window: usize,
) -> Status {
    change(plan, |plan| plan.with_window(window))
}

/// Sets a function that is told of each class that is complete. It cannot be taken back: NULL is
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

/// Sets a function that is told of each chunk that is complete and not empty. It cannot be taken
/// back: NULL is SWATH_STATUS_INVALID_ARGUMENT.
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

/// Frees a plan; NULL is nothing to free. Reads that were started with it go on.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_plan_free(plan: Option<Box<ClassPlan>>) {
    quietly(|| drop(plan));
}
