//! Study B's way to read a file: line by line, each appended to a new copy of the string.
//!
//! A Java string cannot grow, so `text = text + line` copies all earlier lines: the time grows with the
//! square of the file's length. That, not the disk, is the reason for the study's "large files get
//! slower".

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Reads the file at `path` line by line into one string that is copied for each line.
///
/// For small files only: 1 MiB in lines of 64 bytes copies 8 GiB.
///
/// ```
/// let text = swath_study::many::lines::read_by_lines("/proc/version".as_ref())?;
/// assert_eq!(text, std::fs::read_to_string("/proc/version")?);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If it cannot be read, or is not UTF-8.
pub fn read_by_lines(path: &Path) -> io::Result<String> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut text = String::new();
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(text);
        }
        // `text + &line` would mostly grow in place.
        text = [text.as_str(), line.as_str()].concat();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for text in ["", "one line\n", "a\n\nb\r\nno end", "\n"] {
            std::fs::write(file.path(), text).expect("written");
            assert_eq!(read_by_lines(file.path()).expect("read"), text);
        }
        std::fs::write(file.path(), b"\xff\n").expect("written");
        assert!(read_by_lines(file.path()).is_err(), "not UTF-8");
    }
}
