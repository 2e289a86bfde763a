//! DEFLATE streams that are in memory as a whole, decoded by libdeflate.
//!
//! The safe wrapper of libdeflate does not say where a stream ended, without which bytes that are hidden after
//! it would be accepted.

use std::ptr::NonNull;

use libdeflate_sys as sys;

/// A decoder of whole DEFLATE streams. It takes 11 KiB, and keeps nothing from one stream to the next.
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

/// Why a stream was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InflateTrouble {
    /// It is damaged, or ends too early.
    Damaged,
    /// There is more than `out` has room for.
    NoRoom,
}

impl Inflater {
    /// Makes a decoder; `None` without memory.
    #[must_use]
    pub fn new() -> Option<Self> {
        // SAFETY: it has no conditions.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Decodes the stream that `bytes` begin with into the spare capacity of `out`, which is not enlarged, and
    /// returns its length.
    ///
    /// # Errors
    ///
    /// [`InflateTrouble`]; `out` is as it was.
    pub fn append_stream(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, InflateTrouble> {
        let room = out.spare_capacity_mut();
        let (mut taken, mut given) = (0, 0);
        // SAFETY: the decoder is valid and used by nobody else, and both ranges are as long as said.
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
                // SAFETY: as many bytes of the spare capacity were written.
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
