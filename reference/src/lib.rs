//! The slow, obvious version of each promise: the oracle of the tests.
//!
//! Everything here is short enough to be verified by reading, and uses only `std`, not the crates
//! that it tests. Speed does not matter. [`bytes`] makes the inputs; [`read`], [`sum`] and
//! [`count`] return the right answers.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let path = std::env::temp_dir().join(format!("swath-reference-{}", std::process::id()));
//! let bytes = swath_reference::bytes(1, 1000);
//! std::fs::write(&path, &bytes)?;
//! assert_eq!(swath_reference::read(&path, 10, Some(20))?, bytes[10..30]);
//! assert_eq!(swath_reference::read(&path, 990, None)?, bytes[990..]);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

pub mod battery;
pub mod classes;
pub mod fuse;
pub mod ingest;
pub mod json;
pub mod limits;
pub mod matrix;
pub mod mirror;
pub mod number;
pub mod options;
pub mod records;
pub mod safetensors;
pub mod table;
pub mod typed;
pub mod typed_write;
pub mod vectors;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Output;

/// The number of bytes per read: few, so that most files need many reads.
const STEP: usize = 1000;

/// Returns `len` bytes of the file at `path` starting at `offset`; `None` means to the end.
///
/// An `offset` at or past the end is valid if no byte is requested.
///
/// # Errors
///
/// `UnexpectedEof` if the file ends before `len` bytes; otherwise the errors of `std`.
pub fn read(path: impl AsRef<Path>, offset: u64, len: Option<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    let mut step = [0; STEP];
    loop {
        let missing = len.map_or(u64::MAX, |len| len - bytes.len() as u64);
        let wanted = usize::try_from(missing).map_or(STEP, |missing| missing.min(STEP));
        if wanted == 0 {
            return Ok(bytes);
        }
        match file.read(&mut step[..wanted]) {
            Ok(0) if len.is_none() => return Ok(bytes),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => bytes.extend_from_slice(&step[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the sum of all bytes.
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    for &byte in bytes {
        sum += u64::from(byte);
    }
    sum
}

/// Returns the number of occurrences of `byte` in `bytes`.
#[must_use]
pub fn count(bytes: &[u8], byte: u8) -> u64 {
    let mut count = 0;
    for &here in bytes {
        if here == byte {
            count += 1;
        }
    }
    count
}

/// Returns a source of numbers that look random and depend only on `seed`.
///
/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators* (2014), with the
/// constants of Vigna's `splitmix64.c`. A second copy besides `swath_plan::random`: the code under
/// test must not choose its own inputs.
pub fn splitmix(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Returns `len` bytes that depend only on `seed`, on every machine.
///
/// The first bytes do not depend on `len`.
#[must_use]
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut next = splitmix(seed);
    let mut bytes = Vec::with_capacity(len.next_multiple_of(8));
    while bytes.len() < len {
        bytes.extend_from_slice(&next().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Returns the bytes of an access control list: for each entry its tag (1 owner, 2 a user, 4 group,
/// 16 mask, 32 all others), permissions and user.
pub fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let version = 2_u32.to_le_bytes().to_vec();
    entries.iter().fold(version, |mut list, (tag, may, id)| {
        list.extend(tag.to_le_bytes());
        list.extend(may.to_le_bytes());
        list.extend(id.to_le_bytes());
        list
    })
}

/// Records that a test is skipped because the machine lacks `capability`, and prints it.
///
/// `cargo xtask test` collects the records in the file that `SWATH_SKIPS` names;
/// `xtask/may-be-absent.txt` lists the capabilities that may be absent.
///
/// # Panics
///
/// If the record cannot be written: a skip must not remain unnoticed.
pub fn skip(capability: &str, reason: impl Display) {
    let line = format!("{capability}: {reason}").replace('\n', " ");
    eprintln!("SKIPPED {line}");
    battery::append("SWATH_SKIPS", &format!("{line}\n"));
}

/// Checks that a test program that was started for one test has run it, and that it passed: a
/// program without such a test succeeds too.
///
/// # Panics
///
/// If the program failed, or did not run exactly one test.
pub fn assert_one_passed(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains(" 1 passed; 0 failed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(passed, "{}:\n{said}\n{errors}", output.status);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file that is removed when the test ends, passed or failed.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, bytes: &[u8]) -> Scratch {
            let name = format!("swath-reference-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, bytes).expect("written");
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_file(&self.0).expect("made by this test");
        }
    }

    #[test]
    fn every_extent_around_a_step_is_read_exactly() {
        let bytes = bytes(3, 2 * STEP + 1);
        let file = Scratch::new("extents", &bytes);
        for offset in [0, 1, STEP - 1, STEP, STEP + 1, bytes.len()] {
            let rest = &bytes[offset..];
            assert_eq!(read(&file.0, offset as u64, None).expect("read"), rest);
            for len in [0, 1, STEP - 1, STEP, STEP + 1, rest.len()] {
                let Some(wanted) = rest.get(..len) else { continue };
                let got = read(&file.0, offset as u64, Some(len as u64)).expect("read");
                assert_eq!(got, wanted, "{len} at {offset}");
            }
        }
    }

    #[test]
    fn a_len_past_the_end_is_an_unexpected_end() {
        let file = Scratch::new("end", &[1; 10]);
        for (offset, len) in [(0, 11), (10, 1), (11, 1), (0, u64::MAX)] {
            let error = read(&file.0, offset, Some(len)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{len} at {offset}");
        }
        assert_eq!(read(&file.0, 11, Some(0)).expect("nothing wanted"), []);
        assert_eq!(read(&file.0, 11, None).expect("nothing there"), []);
    }

    #[test]
    fn a_missing_file_is_not_found() {
        let error = read("/nonexistent", 0, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn sums_and_counts_are_those_done_by_hand() {
        assert_eq!((sum(&[]), count(&[], 0)), (0, 0));
        assert_eq!(sum(&[255, 255, 1]), 511);
        assert_eq!(count(b"a\nb\n", b'\n'), 2);
    }

    #[test]
    fn splitmix_gives_the_published_numbers() {
        let mut next = splitmix(1_234_567);
        let first = [next(), next(), next()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }

    #[test]
    fn bytes_depend_on_the_seed_and_begin_alike_for_every_len() {
        let long = bytes(1, 100);
        for len in [0, 1, 7, 8, 9, 100] {
            assert_eq!(bytes(1, len), long[..len]);
        }
        assert_ne!(bytes(2, 100), long);
    }
}
