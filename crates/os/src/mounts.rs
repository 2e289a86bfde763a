//! The kernel's table of mounts, `/proc/self/mountinfo`: finds the mount that contains a path.
//!
//! ```
//! use std::path::Path;
//! use swath_os::mounts::Mount;
//!
//! let mount = Mount::of(Path::new("/proc")).expect("proc is where its table is");
//! assert_eq!(mount.kind, "proc");
//! ```

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::linux::fs::MetadataExt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::kernel_text;

/// One line of `/proc/self/mountinfo`: the place of a file system, and the part shown there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the file system that is shown there.
    pub(crate) root: PathBuf,
    /// The folder at which it is mounted.
    pub point: PathBuf,
    /// Its type, as in `mount -t`.
    pub kind: String,
    /// Its options, with commas between them.
    pub options: String,
    /// The mounted source: a device, `host:/path`, or any word.
    pub source: PathBuf,
    /// The numbers of its device, such as `254:0`.
    pub device: String,
    /// Options of the file system itself, the same at each of its mounts.
    pub(crate) inner_options: String,
}

impl Mount {
    /// Finds the mount that contains an existing `path`: of the longest mount points, the last.
    pub fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let holding = Self::all().ok()?.into_iter().filter(|m| path.starts_with(&m.point));
        holding.max_by_key(|mount| mount.point.components().count())
    }

    /// Returns all mounts that this process can see.
    pub(crate) fn all() -> io::Result<Vec<Self>> {
        // Paths are bytes.
        let table = kernel_text::read("/proc/self/mountinfo")?;
        Ok(table.split(|&byte| byte == b'\n').filter_map(Self::parse).collect())
    }

    /// Reads `36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/vda rw,options`.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|&byte| byte == b' ');
        let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
        let device = text(words.nth(2)?);
        let (root, point) = (unescaped(words.next()?), unescaped(words.next()?));
        let options = text(words.next()?);
        words.find(|word| word == b"-")?;
        let kind = text(words.next()?);
        let source = unescaped(words.next()?);
        let inner_options = words.next().map(text).unwrap_or_default();
        Some(Self { root, point, kind, options, source, device, inner_options })
    }

    /// Returns the numbers of the mounted block device, if there is one: those of the file system
    /// itself may differ, and change from mount to mount (btrfs).
    pub fn block_device(&self) -> Option<String> {
        self.block_number().map(|number| {
            format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number))
        })
    }

    /// Returns the UUID of the file system on that device, if the system knows it.
    pub fn uuid(&self) -> Option<String> {
        let number = self.block_number()?;
        let links = fs::read_dir("/dev/disk/by-uuid").ok()?.flatten();
        let mut found = links.filter(|link| {
            fs::metadata(link.path()).is_ok_and(|facts| facts.st_rdev() == number)
        });
        Some(found.next()?.file_name().to_string_lossy().into_owned())
    }

    fn block_number(&self) -> Option<u64> {
        let facts = fs::metadata(&self.source).ok()?;
        facts.file_type().is_block_device().then(|| facts.st_rdev())
    }
}

/// Returns the path that a word of the table encodes: bytes that would end a word are octal there.
fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\');
        let value = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_mount_points_are_restored() {
        assert_eq!(unescaped(br"/my\040disk"), Path::new("/my disk"));
        assert_eq!(unescaped(br"/a\040b\134c"), Path::new(r"/a b\c"));
        assert_eq!(unescaped(br"/a\04"), Path::new(r"/a\04"));
        assert_eq!(unescaped(br"/a\999"), Path::new(r"/a\999"));
    }

    #[test]
    fn a_mount_line_gives_point_and_file_system() {
        let line =
            b"36 35 98:0 /r /a\\040b\\1349 rw,noatime shared:1 - ext3 /dev/root rw,errors=ro";
        let mount = Mount::parse(line).expect("a line as in proc(5)");
        assert_eq!(mount.point, Path::new("/a b\\9"));
        assert_eq!((&*mount.kind, &*mount.options), ("ext3", "rw,noatime"));
        assert_eq!((mount.source, &*mount.device), (PathBuf::from("/dev/root"), "98:0"));
        assert_eq!((mount.root, &*mount.inner_options), (PathBuf::from("/r"), "rw,errors=ro"));
        let plain = Mount::parse(b"36 35 0:5 / /a - tmpfs").map(|mount| mount.point);
        assert_eq!(plain, None, "no source");
        assert_eq!(Mount::parse(b"36 35 98:0 / /mnt"), None);
        assert_eq!(unescaped(b"\\04 \\999\\"), Path::new("\\04 \\999\\"), "no octal digits");
    }
}
