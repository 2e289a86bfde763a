//! Reads the kernel's small text files, such as those in `/proc`, with few calls.
//!
//! They report no length, so `std` begins with reads of 32 bytes. Most fit into one page.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The kernel fills such a file page by page.
const STEP: usize = 4096;

/// Reads all of a file.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_from(&mut File::open(path)?)
}

/// Reads all of a file as text.
pub(crate) fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

fn read_from(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut bytes, mut len) = (Vec::new(), 0);
    loop {
        bytes.resize(len + STEP, 0);
        match file.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(len);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes per call, and `EINTR` on every third call.
    struct Grudging {
        left: usize,
        calls: usize,
    }

    impl Read for Grudging {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = self.left.min(target.len()).min(1500);
            target[..count].fill(b'x');
            self.left -= count;
            Ok(count)
        }
    }

    #[test]
    fn every_byte_comes_after_short_reads_and_interrupts() {
        for len in [0, 1, 1499, 1500, STEP - 1, STEP, STEP + 1, 3 * STEP] {
            let bytes = read_from(&mut Grudging { left: len, calls: 0 }).expect("no error");
            assert_eq!(bytes, vec![b'x'; len]);
        }
    }

    #[test]
    fn a_file_of_the_kernel_is_what_std_reads() {
        let path = "/proc/self/mountinfo";
        assert_eq!(read(path).expect("proc"), std::fs::read(path).expect("proc"));
        assert_eq!(read("/proc/none").expect_err("none").kind(), ErrorKind::NotFound);
    }
}
