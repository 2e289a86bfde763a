//! DEFLATE streams that are entirely in memory, decoded by libdeflate.
//!
//! The safe wrapper of libdeflate does not return the end of a stream, which is needed to reject
//! bytes that are hidden after it.

use std::ptr::NonNull;

use libdeflate_sys as sys;

/// A decoder of whole DEFLATE streams. It takes 11 KiB, and keeps no state between streams.
///
/// ```
/// // "aaaaa", stored as it is.
/// let stream = [1, 5, 0, 250, 255, b'a', b'a', b'a', b'a', b'a'];
/// let mut plain = Vec::with_capacity(5);
/// let mut inflater = swath_simd::Inflater::new().expect("memory");
/// assert_eq!(inflater.append_stream(&stream, &mut plain), Ok(10));
/// assert_eq!(plain, b"aaaaa");
/// ```
#[derive(Debug)]
pub struct Inflater(NonNull<sys::libdeflate_decompressor>);

// SAFETY: libdeflate keeps its state in this memory alone, and any thread may use and free it.
unsafe impl Send for Inflater {}

/// The reason why a stream was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InflateTrouble {
    /// The stream is damaged, or ends too early.
    Damaged,
    /// The data exceed the room in `out`.
    NoRoom,
}

impl Inflater {
    /// Makes a decoder; `None` without memory.
    #[must_use]
    pub fn new() -> Option<Self> {
        // SAFETY: it has no conditions.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Decodes the stream at the start of `bytes` into the spare capacity of `out`, which is not
    /// enlarged, and returns its length.
    ///
    /// # Errors
    ///
    /// [`InflateTrouble`]; `out` is unchanged.
    pub fn append_stream(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, InflateTrouble> {
        let room = out.spare_capacity_mut();
        let (mut taken, mut given) = (0, 0);
        // SAFETY: the decoder is valid and not in use elsewhere, and both ranges have the given
        // lengths.
        let outcome = unsafe {
            sys::libdeflate_deflate_decompress_ex(
                self.0.as_ptr(),
                bytes.as_ptr().cast(),
                bytes.len(),
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut taken,
                &raw mut given,
            )
        };
        match outcome {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => {
                assert!(given <= room.len(), "libdeflate wrote beyond the room");
                let len = out.len() + given;
                // SAFETY: this many bytes of the spare capacity were written.
                unsafe { out.set_len(len) };
                Ok(taken)
            }
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(InflateTrouble::NoRoom),
            _ => Err(InflateTrouble::Damaged),
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: it was allocated there, and is not used again.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "aaaaa", stored.
    const STREAM: [u8; 10] = [1, 5, 0, 250, 255, b'a', b'a', b'a', b'a', b'a'];

    #[test]
    #[cfg_attr(miri, ignore = "it calls a library in C")]
    fn a_stream_ends_where_it_ends_and_takes_no_more_room_than_there_is() {
        let mut inflater = Inflater::new().expect("memory");
        let hidden = [&STREAM[..], b"more"].concat();
        let mut out = Vec::with_capacity(8);
        out.extend(b"so");
        assert_eq!(inflater.append_stream(&hidden, &mut out), Ok(10));
        assert_eq!(out, b"soaaaaa");
        let before = out.clone();
        let mut small = Vec::with_capacity(4);
        assert_eq!(inflater.append_stream(&STREAM, &mut small), Err(InflateTrouble::NoRoom));
        out.reserve(8);
        for len in 0..STREAM.len() {
            let cut = inflater.append_stream(&STREAM[..len], &mut out);
            assert_eq!(cut, Err(InflateTrouble::Damaged), "{len}");
        }
        assert!(small.is_empty() && out == before);
    }
}
