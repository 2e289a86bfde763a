//! The place of a file on its device.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The kernel's `struct fiemap` followed by room for one `struct fiemap_extent`.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    len: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extent: Extent,
}

#[repr(C)]
#[derive(Default)]
struct Extent {
    logical: u64,
    physical: u64,
    len: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `_IOWR('f', 11, struct fiemap)`, whose size is that without extents.
#[cfg(not(target_env = "musl"))]
const FS_IOC_FIEMAP: libc::Ioctl = 0xc020_660b;
/// The bits of the request: musl's requests have a sign.
#[cfg(target_env = "musl")]
const FS_IOC_FIEMAP: libc::Ioctl = 0xc020_660b_u32.cast_signed();

/// Returns the device offset of the first stored byte of `file`; `None` for files without stored
/// bytes: empty files, holes, data that is not yet placed.
///
/// # Errors
///
/// `EOPNOTSUPP` and `ENOTTY` from file systems that do not report it.
///
/// ```
/// match swath_os::placement::first_byte_on_device(&std::fs::File::open("/etc/passwd")?) {
///     Ok(offset) => println!("{offset:?}"),
///     Err(unknown) => println!("{unknown}"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn first_byte_on_device(file: impl AsFd) -> io::Result<Option<u64>> {
    const UNKNOWN: u32 = 2; // FIEMAP_EXTENT_UNKNOWN: no place yet
    let mut map = Fiemap { len: u64::MAX, extent_count: 1, ..Fiemap::default() };
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the kernel writes the header and at most one extent, for which there is room.
    let status = unsafe { libc::ioctl(fd, FS_IOC_FIEMAP, &raw mut map) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    let placed = map.mapped_extents > 0 && map.extent.flags & UNKNOWN == 0;
    Ok(placed.then_some(map.extent.physical))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_has_a_place_once_it_is_on_the_device_and_an_empty_one_has_none() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        match first_byte_on_device(&file) {
            Ok(place) => assert_eq!(place, None),
            Err(error) => return swath_reference::skip("fiemap", error),
        }
        file.write_all(&[1; 100_000]).expect("room");
        file.sync_all().expect("durable");
        assert!(first_byte_on_device(&file).expect("asked before").is_some());
    }
}
