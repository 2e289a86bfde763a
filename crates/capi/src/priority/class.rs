//! A complete class.

use std::ptr;

use swath::classes::{ChunkBytes, ClassBytes};

use crate::guard::quietly;

/// A complete class: its chunks, in the order of the plan. Any number of threads may use it at
/// once.
#[derive(Debug)]
pub struct Class {
    number: u32,
    elapsed_ns: u64,
    len: u64,
    chunks: Vec<ClassChunk>,
}

// SAFETY: the pointers in it lead to complete bytes, which no longer change.
unsafe impl Send for Class {}
// SAFETY: as above.
unsafe impl Sync for Class {}

/// A chunk of a plan that has been read. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct ClassChunk {
    /// Index of the chunk in the plan, from 0.
    pub index: usize,
    /// Index of the file.
    pub file: usize,
    /// Offset in the file.
    pub offset: u64,
    /// Bytes of the chunk.
    pub data: *const u8,
    /// Length in bytes.
    pub len: usize,
    /// Number of its class in the plan.
    pub class_number: u32,
}

impl ClassChunk {
    pub(super) fn new(chunk: &ChunkBytes<'_>) -> Self {
        Self {
            index: chunk.index,
            file: chunk.file,
            offset: chunk.range.start,
            data: chunk.bytes.as_ptr(),
            len: chunk.bytes.len(),
            class_number: chunk.class,
        }
    }
}

impl Class {
    pub(super) fn new(bytes: &ClassBytes<'_>) -> Self {
        Self {
            number: bytes.class(),
            elapsed_ns: u64::try_from(bytes.elapsed().as_nanos()).unwrap_or(u64::MAX),
            len: bytes.len(),
            chunks: bytes.chunks().map(|chunk| ClassChunk::new(&chunk)).collect(),
        }
    }
}

/// Returns the number of a class in the plan.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_number(complete: Option<&Class>) -> u32 {
    complete.map_or(0, |it| it.number)
}

/// Returns the nanoseconds from the start of the read until the whole class was read and checked.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_elapsed_ns(complete: Option<&Class>) -> u64 {
    complete.map_or(0, |it| it.elapsed_ns)
}

/// Returns the number of bytes of the files in a class, each counted once.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_len(complete: Option<&Class>) -> u64 {
    complete.map_or(0, |it| it.len)
}

/// Returns the number of chunks in a class.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_chunk_count(complete: Option<&Class>) -> usize {
    complete.map_or(0, |it| it.chunks.len())
}

/// Returns a chunk; NULL if `index` is not below the count. The structure is valid until the
/// class is freed; its bytes are valid until the read is freed or `swath_prioritised_finish` has
/// failed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_chunk_at(
    complete: Option<&Class>,
    index: usize,
) -> *const ClassChunk {
    let chunk = complete.and_then(|it| it.chunks.get(index));
    chunk.map_or(ptr::null(), ptr::from_ref)
}

/// Frees a class returned by `swath_prioritised_wait`, but not its bytes; NULL is ignored. It may
/// be freed before or after the read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_class_free(complete: Option<Box<Class>>) {
    quietly(|| drop(complete));
}
