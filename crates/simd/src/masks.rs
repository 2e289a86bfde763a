//! Compares 64 bytes at once, with one bit for each; and runs kernels that are written once for all
//! levels.

use crate::level::Detected;
#[cfg(target_arch = "x86_64")]
use crate::level::Level;

/// The number of bytes of a mask.
pub(crate) const CHUNK: usize = 64;

/// A way to compare. A value of a vector type proves that its instructions are available.
pub(crate) trait Masks: Copy {
    /// Returns the bits of bytes that equal `byte`.
    fn equal(self, chunk: &[u8; CHUNK], byte: u8) -> u64;

    /// Returns the bits of bytes that are at most `byte`.
    fn at_most(self, chunk: &[u8; CHUNK], byte: u8) -> u64;

    /// Stores `base` plus the position of each set bit of `mask` in `out`; the rest is unspecified.
    #[inline(always)]
    fn places(self, mut mask: u64, base: u32, out: &mut [u32; CHUNK]) {
        let count = mask.count_ones() as usize;
        // Eight at a time, even if fewer are set: a branch for each would be mispredicted.
        for eight in out.as_chunks_mut::<8>().0.iter_mut().take(count.div_ceil(8)) {
            for place in eight {
                *place = base + mask.trailing_zeros();
                mask &= mask.wrapping_sub(1);
            }
        }
    }
}

/// Code that is the same at every level. [`run`](Self::run) must always be inlined: otherwise it is
/// not compiled for the instructions of the level.
pub(crate) trait Kernel {
    /// The result.
    type Output;

    /// Runs the kernel.
    fn run<M: Masks>(self, masks: M) -> Self::Output;
}

/// Runs a kernel with the instructions of a level.
#[inline]
pub(crate) fn run<K: Kernel>(level: Detected, kernel: K) -> K::Output {
    match level.level() {
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(kernel) },
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(kernel) },
        _ => kernel.run(Words),
    }
}

/// Words of eight bytes.
#[derive(Clone, Copy)]
pub(crate) struct Words;

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW: u64 = 0x7f * ONES;

/// Returns the top bits of bytes as the lowest eight bits, in order.
#[inline(always)]
fn packed(tops: u64) -> u64 {
    // Moves bit 8 n + 7 to bit 56 + n; no two products collide.
    (tops & !LOW).wrapping_mul(0x0002_0408_1020_4081) >> 56
}

#[inline(always)]
fn by_word(chunk: &[u8; CHUNK], tops: impl Fn(u64) -> u64) -> u64 {
    let (words, _) = chunk.as_chunks::<8>();
    let masks = words.iter().map(|word| packed(tops(u64::from_le_bytes(*word))));
    masks.rev().fold(0, |all, mask| all << 8 | mask)
}

impl Masks for Words {
    #[inline(always)]
    fn equal(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
        let wanted = u64::from(byte) * ONES;
        by_word(chunk, |word| {
            let differs = word ^ wanted;
            // The top bit of each byte is set unless the byte is 0; no carry leaves a byte.
            !(((differs & LOW) + LOW) | differs)
        })
    }

    #[inline(always)]
    fn at_most(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
        // Below 128, the sum of a byte and this has the top bit if the byte is greater.
        let more = u64::from(127 - byte.min(127)) * ONES;
        by_word(chunk, |word| !(((word & LOW) + more) | word))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Ymm, Zmm};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_cmpeq_epi8,
        _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_set1_epi8, _mm256_set1_epi32, _mm256_storeu_si256, _mm512_add_epi32,
        _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask, _mm512_loadu_si512,
        _mm512_maskz_compress_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setr_epi32,
        _mm512_storeu_si512,
    };

    use super::{CHUNK, Kernel, Masks};
    use crate::places::PLACES;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Ymm::here())
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Zmm::here())
    }

    /// Vectors of 32 bytes, with AVX2.
    #[derive(Clone, Copy)]
    pub(crate) struct Ymm(());

    impl Ymm {
        /// Returns a value; only code compiled with these instructions can call this without
        /// `unsafe`.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        pub(crate) fn here() -> Self {
            Self(())
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn by_half(chunk: &[u8; CHUNK], compare: impl Fn(__m256i) -> __m256i) -> u64 {
            let mask = |half: &[u8; 32]| {
                // SAFETY: 32 bytes are available, aligned or not.
                let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                u64::from(_mm256_movemask_epi8(compare(bytes)).cast_unsigned())
            };
            let (halves, _) = chunk.as_chunks::<32>();
            mask(&halves[1]) << 32 | mask(&halves[0])
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn equal_avx2(chunk: &[u8; CHUNK], byte: u8) -> u64 {
            let wanted = _mm256_set1_epi8(byte.cast_signed());
            Self::by_half(chunk, |bytes| _mm256_cmpeq_epi8(bytes, wanted))
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn at_most_avx2(chunk: &[u8; CHUNK], byte: u8) -> u64 {
            let most = _mm256_set1_epi8(byte.cast_signed());
            Self::by_half(chunk, |bytes| _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, most), bytes))
        }
    }

    impl Ymm {
        /// Stores eight positions at a time, from a table, however many bits are set: a branch on
        /// their number would be mispredicted.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn places_avx2(mask: u64, base: u32, out: &mut [u32; CHUNK]) {
            let mut base = _mm256_set1_epi32(base.cast_signed());
            for (at, byte) in mask.to_le_bytes().into_iter().enumerate() {
                let before = (mask & ((1 << (8 * at)) - 1)).count_ones() as usize;
                let places = i64::from_le_bytes(PLACES[usize::from(byte)]);
                let places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(places));
                let room = out[before..].first_chunk_mut::<8>();
                let room = room.expect("at most eight of each byte before");
                let places = _mm256_add_epi32(places, base);
                // SAFETY: there is room for eight 32-bit numbers.
                unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), places) };
                base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
            }
        }
    }

    impl Masks for Ymm {
        #[inline(always)]
        fn places(self, mask: u64, base: u32, out: &mut [u32; CHUNK]) {
            // SAFETY: a `Ymm` only exists where AVX2 does.
            unsafe { Self::places_avx2(mask, base, out) }
        }

        #[inline(always)]
        fn equal(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
            // SAFETY: a `Ymm` only exists where AVX2 does.
            unsafe { Self::equal_avx2(chunk, byte) }
        }

        #[inline(always)]
        fn at_most(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
            // SAFETY: a `Ymm` only exists where AVX2 does.
            unsafe { Self::at_most_avx2(chunk, byte) }
        }
    }

    /// Vectors of 64 bytes, with AVX-512.
    #[derive(Clone, Copy)]
    pub(crate) struct Zmm(());

    impl Zmm {
        /// Returns a value; only code compiled with these instructions can call this without
        /// `unsafe`.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        pub(crate) fn here() -> Self {
            Self(())
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        fn load(chunk: &[u8; CHUNK]) -> __m512i {
            // SAFETY: 64 bytes are available, aligned or not.
            unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        fn equal_avx512(chunk: &[u8; CHUNK], byte: u8) -> u64 {
            _mm512_cmpeq_epi8_mask(Self::load(chunk), _mm512_set1_epi8(byte.cast_signed()))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        fn at_most_avx512(chunk: &[u8; CHUNK], byte: u8) -> u64 {
            _mm512_cmple_epu8_mask(Self::load(chunk), _mm512_set1_epi8(byte.cast_signed()))
        }

        /// Stores sixteen positions at a time; a register compresses the wanted ones.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
        fn places_avx512(mask: u64, base: u32, out: &mut [u32; CHUNK]) {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let mut places = _mm512_add_epi32(lanes, _mm512_set1_epi32(base.cast_signed()));
            let mut done = 0;
            for part in [mask, mask >> 16, mask >> 32, mask >> 48] {
                let part = u16::try_from(part & 0xffff).unwrap_or(0);
                let wanted = _mm512_maskz_compress_epi32(part, places);
                let room = out[done..].first_chunk_mut::<16>();
                let room = room.expect("at most 16 of each part before");
                // SAFETY: there is room for sixteen 32-bit numbers.
                unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), wanted) };
                done += part.count_ones() as usize;
                places = _mm512_add_epi32(places, _mm512_set1_epi32(16));
            }
        }
    }

    impl Masks for Zmm {
        #[inline(always)]
        fn equal(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
            // SAFETY: a `Zmm` only exists where AVX-512 does.
            unsafe { Self::equal_avx512(chunk, byte) }
        }

        #[inline(always)]
        fn at_most(self, chunk: &[u8; CHUNK], byte: u8) -> u64 {
            // SAFETY: a `Zmm` only exists where AVX-512 does.
            unsafe { Self::at_most_avx512(chunk, byte) }
        }

        #[inline(always)]
        fn places(self, mask: u64, base: u32, out: &mut [u32; CHUNK]) {
            // SAFETY: a `Zmm` only exists where AVX-512 does.
            unsafe { Self::places_avx512(mask, base, out) }
        }
    }
}
