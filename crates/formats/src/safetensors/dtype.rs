//! The element types of tensors.

use std::fmt;

/// Defines the types: the word in the header, and the bits per element.
macro_rules! dtypes {
    ($($(#[$said:meta])+ $dtype:ident = $word:literal, $bits:literal;)+) => {
        /// The type of a tensor's elements, in the order in which the format's own library sorts
        /// tensors: files begin with the last one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Dtype {
            $($(#[$said])+ $dtype,)+
        }

        impl Dtype {
            /// All types in order, with their words in the header.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$dtype)),+];

            /// Returns the word in the header.
            pub fn word(self) -> &'static str {
                match self { $(Self::$dtype => $word),+ }
            }

            /// Returns the bits of one element.
            pub fn bits(self) -> u64 {
                match self { $(Self::$dtype => $bits),+ }
            }
        }
    };
}

dtypes! {
    /// One byte, 0 or 1.
    Bool = "BOOL", 8;
    /// 4 bits, 2 of them exponent; two elements per byte.
    F4 = "F4", 4;
    /// 6 bits, 2 of them exponent; four elements in three bytes.
    F6E2M3 = "F6_E2M3", 6;
    /// 6 bits, 3 of them exponent; four elements in three bytes.
    F6E3M2 = "F6_E3M2", 6;
    /// An unsigned byte.
    U8 = "U8", 8;
    /// A signed byte.
    I8 = "I8", 8;
    /// 8 bits, 5 of them exponent.
    F8E5M2 = "F8_E5M2", 8;
    /// 8 bits, 4 of them exponent.
    F8E4M3 = "F8_E4M3", 8;
    /// 8 bits, all exponent: a scale.
    F8E8M0 = "F8_E8M0", 8;
    /// 8 bits, 4 of them exponent, without infinities and negative zero.
    F8E4M3Fnuz = "F8_E4M3FNUZ", 8;
    /// 8 bits, 5 of them exponent, without infinities and negative zero.
    F8E5M2Fnuz = "F8_E5M2FNUZ", 8;
    /// 16 bits, signed.
    I16 = "I16", 16;
    /// 16 bits, unsigned.
    U16 = "U16", 16;
    /// IEEE 754 half precision.
    F16 = "F16", 16;
    /// The upper half of an [`F32`](Self::F32).
    Bf16 = "BF16", 16;
    /// 32 bits, signed.
    I32 = "I32", 32;
    /// 32 bits, unsigned.
    U32 = "U32", 32;
    /// IEEE 754 single precision.
    F32 = "F32", 32;
    /// Two [`F32`](Self::F32): the real part and the imaginary part.
    C64 = "C64", 64;
    /// IEEE 754 double precision.
    F64 = "F64", 64;
    /// 64 bits, signed.
    I64 = "I64", 64;
    /// 64 bits, unsigned.
    U64 = "U64", 64;
}

impl Dtype {
    /// Returns the type with this word, as spelled in the header.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(other, _)| *other == word).map(|&(_, dtype)| dtype)
    }

    /// Returns the alignment of an element in memory, in bytes.
    pub fn alignment(self) -> u64 {
        (self.bits() / 8).max(1)
    }

    /// Returns the length of a tensor of this shape in bytes. `None` if its number of elements or
    /// bits exceeds 64 bits, or if they do not fill whole bytes.
    ///
    /// ```
    /// use swath_formats::safetensors::Dtype;
    ///
    /// assert_eq!(Dtype::F32.bytes(&[2, 3]), Some(24));
    /// assert_eq!(Dtype::F4.bytes(&[3]), None);
    /// ```
    pub fn bytes(self, shape: &[u64]) -> Option<u64> {
        let count = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len))?;
        let bits = count.checked_mul(self.bits())?;
        bits.is_multiple_of(8).then_some(bits / 8)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_all_in_order() {
        for (index, &(word, dtype)) in Dtype::WORDS.iter().enumerate() {
            assert_eq!((dtype as usize, dtype.word()), (index, word));
            assert_eq!(Dtype::of_word(word), Some(dtype));
        }
        assert_eq!(Dtype::WORDS.last(), Some(&("U64", Dtype::U64)));
        assert_eq!(Dtype::of_word("f32"), None);
    }

    #[test]
    fn bytes_are_counted_with_care() {
        assert_eq!(Dtype::F32.bytes(&[]), Some(4), "a scalar");
        assert_eq!(Dtype::F32.bytes(&[2, 3]), Some(24));
        assert_eq!(Dtype::F32.bytes(&[0, u64::MAX]), Some(0));
        assert_eq!(Dtype::F32.bytes(&[u64::MAX, 2, 0]), None, "the product overflows");
        assert_eq!(Dtype::U8.bytes(&[u64::MAX / 8]), Some(u64::MAX / 8));
        assert_eq!(Dtype::U8.bytes(&[u64::MAX / 8 + 1]), None);
        assert_eq!(Dtype::F4.bytes(&[3]), None, "half a byte");
        assert_eq!(Dtype::F4.bytes(&[4]), Some(2));
        assert_eq!(Dtype::F6E2M3.bytes(&[4]), Some(3));
        assert_eq!(Dtype::F6E3M2.bytes(&[2]), None);
    }
}
