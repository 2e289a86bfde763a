//! Memory that bytes were read into.

use crate::guard::quietly;

/// Bytes that were read: the caller's, who may change them. One thread writes at a time.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) bytes: swath::Buffer,
}

/// Returns the first byte of a buffer, NULL for NULL. Never NULL else, but not to be followed if
/// the buffer is empty. Valid until the buffer is freed.
///
/// It is at a multiple of 64 bytes if the offset in the file was; for more than 64 KiB, where in
/// its page the first byte is in the file's: at the start of one if the offset was 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_data(buffer: Option<&mut Buffer>) -> *mut u8 {
    buffer.map_or(std::ptr::null_mut(), |buffer| buffer.bytes.as_mut_ptr())
}

/// Returns the first byte of a buffer, to look at: as `swath_buffer_data`, for a buffer that was
/// handed on as `const`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_bytes(buffer: Option<&Buffer>) -> *const u8 {
    buffer.map_or(std::ptr::null(), |buffer| buffer.bytes.as_ptr())
}

/// Returns how many bytes are in a buffer; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_len(buffer: Option<&Buffer>) -> usize {
    buffer.map_or(0, |buffer| buffer.bytes.len())
}

/// Frees a buffer; NULL is nothing to free. Its memory is kept for the next read, up to 64 MiB of
/// all together.
#[unsafe(no_mangle)]
pub extern "C" fn swath_buffer_free(buffer: Option<Box<Buffer>>) {
    quietly(|| drop(buffer));
}
