//! Values of enumerations from C, which may be any number.
//!
//! In C, any number can be passed as an enumeration; in Rust such a value must not exist. So
//! parameters are `MaybeUninit<Enum>`, which the header shows as the enumeration, and are first read
//! as plain numbers.

use std::mem::MaybeUninit;

/// An enumeration of the header.
///
/// # Safety
///
/// It is `repr(u32)`, or `repr(C)` with values that fit into 32 bits.
pub(crate) unsafe trait Number: Copy + 'static {
    /// The name of the argument in messages.
    const NAME: &'static str;
    /// All values.
    const ALL: &'static [Self];

    /// Returns the number of the value.
    fn number(self) -> u32;
}

/// Implements [`Number`], and maps each value to a choice of the library: `->` from C, `<-` to
/// C.
macro_rules! numbers {
    ($type:ty, $name:literal, [$($value:ident),+ $(,)?]) => {
        // SAFETY: each type is declared `repr(u32)` or `repr(C)`; a cast that would lose bits is
        // refused below.
        unsafe impl $crate::number::Number for $type {
            const NAME: &'static str = $name;
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn number(self) -> u32 {
                self as u32
            }
        }
    };
    ($type:ty, $name:literal, [$($value:ident),+] -> $choice:ty) => {
        $crate::number::numbers!($type, $name, [$($value),+]);

        impl From<$type> for $choice {
            fn from(value: $type) -> Self {
                match value { $(<$type>::$value => Self::$value),+ }
            }
        }
    };
    ($type:ty, $name:literal, [$($value:ident),+] <- $choice:ty) => {
        $crate::number::numbers!($type, $name, [$($value),+]);

        impl From<$choice> for $type {
            fn from(choice: $choice) -> Self {
                match choice { $(<$choice>::$value => Self::$value),+ }
            }
        }
    };
}
pub(crate) use numbers;

/// Returns the given value, or the number if it is not a value.
pub(crate) fn known<T: Number>(given: MaybeUninit<T>) -> Result<T, u32> {
    const { assert!(size_of::<T>() == size_of::<u32>()) };
    // SAFETY: C has passed a number of four bytes, and every four bytes are a `u32`.
    let number = unsafe { std::mem::transmute_copy::<MaybeUninit<T>, u32>(&given) };
    T::ALL.iter().copied().find(|value| value.number() == number).ok_or(number)
}
