//! Pipes: their capacity, and pages of a file that become part of a pipe without a copy.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, splice};

use crate::kernel_text;
use crate::once::computed_once;

/// Returns the capacity of a pipe in bytes; `None` if `of` is not a pipe.
///
/// ```
/// let (_, writer) = std::io::pipe()?;
/// assert!(swath_os::pipe::capacity(&writer).is_some_and(|bytes| bytes >= 4096));
/// assert_eq!(swath_os::pipe::capacity(std::fs::File::open("/etc/passwd")?), None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn capacity(of: impl AsFd) -> Option<u64> {
    fcntl_getpipe_size(of).ok().and_then(|bytes| u64::try_from(bytes).ok())
}

/// Returns the maximum capacity, in bytes, that a process without privileges can set, as of the
/// first call; `None` if the kernel does not report it.
///
/// ```
/// assert!(swath_os::pipe::most_capacity().is_none_or(|bytes| bytes >= 4096));
/// ```
pub fn most_capacity() -> Option<u64> {
    static MOST: OnceLock<Option<u64>> = OnceLock::new();
    let said =
        || kernel_text::read_text("/proc/sys/fs/pipe-max-size").ok()?.trim().parse().ok();
    *computed_once(&MOST, said)
}

/// Makes a pipe hold `bytes`, if this process may; keeps its contents.
///
/// ```
/// use swath_os::pipe::{capacity, enlarge};
///
/// let (_, writer) = std::io::pipe()?;
/// enlarge(&writer, 256 << 10);
/// assert!(capacity(&writer).is_some_and(|bytes| bytes >= 4096));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn enlarge(pipe: impl AsFd, bytes: usize) {
    // The kernel refuses beyond a limit of the user: the pipe then works unchanged.
    let _ = fcntl_setpipe_size(pipe, bytes);
}

/// Waits until a non-blocking pipe, socket or terminal accepts bytes again, or its other end is
/// closed.
///
/// ```
/// let (_reader, writer) = std::io::pipe()?;
/// swath_os::pipe::wait_until_writable(&writer)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of poll(2).
pub fn wait_until_writable(stream: impl AsFd) -> io::Result<()> {
    let mut streams = [PollFd::new(&stream, PollFlags::OUT)];
    retry_on_intr(|| poll(&mut streams, None))?;
    Ok(())
}

/// Moves bytes of `file` into a pipe inside the kernel and returns their number; 0 if the file ends
/// at `offset`.
///
/// The pipe holds pages of the file, not copies: its reader gets the contents at the time of the
/// read. Waits while the pipe is full.
///
/// # Errors
///
/// `Unsupported` if this file cannot be moved into a pipe: then read and write; otherwise the
/// errors of splice(2), such as `BrokenPipe`.
///
/// ```
/// use std::io::Read;
/// let (mut reader, writer) = std::io::pipe()?;
/// let file = std::fs::File::open("/etc/passwd")?;
/// let moved = swath_os::pipe::put_pages(&file, 0, &writer, 4)?;
/// let mut bytes = vec![0; moved];
/// reader.read_exact(&mut bytes)?;
/// assert_eq!(bytes, b"root"[..moved]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn put_pages(file: &File, offset: u64, pipe: impl AsFd, len: usize) -> io::Result<usize> {
    let put = retry_on_intr(|| {
        let mut at = offset;
        splice(file, Some(&mut at), &pipe, None, len, SpliceFlags::empty())
    });
    match put {
        Err(Errno::INVAL | Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
        put => Ok(put?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn bytes_of_a_file_come_out_of_the_pipe() {
        let mut file = tempfile::tempfile().expect("a file");
        let bytes = swath_reference::bytes(3, 10_000);
        file.write_all(&bytes).expect("room");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut at = 17;
        while at < bytes.len() {
            at += put_pages(&file, at as u64, &writer, 7_000).expect("a pipe takes pages");
        }
        assert_eq!(put_pages(&file, at as u64, &writer, 1).expect("the end"), 0);
        drop(writer);
        let mut came = Vec::new();
        reader.read_to_end(&mut came).expect("the pipe ends");
        assert!(came == bytes[17..]);
    }

    #[test]
    fn what_is_no_pipe_is_refused_and_a_pipe_without_a_reader_is_broken() {
        let file = File::open("/etc/passwd").expect("it is there");
        let other = tempfile::tempfile().expect("a file");
        assert_eq!(capacity(&other), None);
        let refused = put_pages(&file, 0, &other, 1).expect_err("no pipe");
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let broken = put_pages(&file, 0, &writer, 1).expect_err("nobody reads");
        assert_eq!(broken.kind(), io::ErrorKind::BrokenPipe);
    }
}
