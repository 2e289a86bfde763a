//! Memory that holds the bytes of a read.

use crate::guard::quietly;

/// Bytes that were read. They belong to the caller, who may change them. One thread at a time may
/// write.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) bytes: swath::Buffer,
}

/// Returns the first byte of a buffer; NULL for NULL only. Do not dereference it if the buffer is
/// empty. Valid until the buffer is freed.
///
/// It is aligned to 64 bytes if the offset in the file was. In a buffer of more than 64 KiB it is
/// at the same place in its page as in the page of the file: at the start of a page if the offset
/// was 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_data(buffer: Option<&mut Buffer>) -> *mut u8 {
    buffer.map_or(std::ptr::null_mut(), |buffer| buffer.bytes.as_mut_ptr())
}

/// Returns the first byte of a buffer, read-only: `swath_buffer_data` for a `const` buffer.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_bytes(buffer: Option<&Buffer>) -> *const u8 {
    buffer.map_or(std::ptr::null(), |buffer| buffer.bytes.as_ptr())
}

/// Returns the length of a buffer in bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_len(buffer: Option<&Buffer>) -> usize {
    buffer.map_or(0, |buffer| buffer.bytes.len())
}

/// Frees a buffer; NULL is ignored. Up to 64 MiB of freed memory is kept for later reads.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_free(buffer: Option<Box<Buffer>>) {
    quietly(|| drop(buffer));
}
