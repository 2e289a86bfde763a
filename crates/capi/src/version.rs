//! The version against which a program was compiled, and the one with which it runs.

use std::ffi::{CStr, c_char};

/// Version of this header: MAJOR.MINOR.PATCH. `swath_version` returns the version of the library
/// that the program runs with.
pub const SWATH_VERSION_MAJOR: u32 = 0;
/// See SWATH_VERSION_MAJOR.
pub const SWATH_VERSION_MINOR: u32 = 1;
/// See SWATH_VERSION_MAJOR.
pub const SWATH_VERSION_PATCH: u32 = 0;

const TEXT: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    };

/// Returns the version of the library that the program runs with, such as "0.1.0". Never NULL;
/// valid for the life of the program. May be called anywhere, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn swath_version() -> *const c_char {
    TEXT.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_numbers_of_the_library() {
        let numbers =
            format!("{SWATH_VERSION_MAJOR}.{SWATH_VERSION_MINOR}.{SWATH_VERSION_PATCH}");
        assert_eq!(TEXT.to_str(), Ok(numbers.as_str()));
    }
}
