//! Words of the kernel's table of mounts, `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Returns the path that a word of the table stands for: bytes that would end a word are written in
/// octal there.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(swath_os::mounts::unescaped(br"/my\040disk"), Path::new("/my disk"));
/// ```
#[must_use]
pub fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.get(..3).filter(|_| first == b'\\');
        let value = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = &behind[3..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn escaped_mount_points_are_restored() {
        assert_eq!(unescaped(br"/a\040b\134c"), Path::new(r"/a b\c"));
        assert_eq!(unescaped(br"/a\04"), Path::new(r"/a\04"));
        assert_eq!(unescaped(br"/a\999"), Path::new(r"/a\999"));
    }
}
