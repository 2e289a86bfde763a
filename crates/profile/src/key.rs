//! The key of a profile: the place where it was measured.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use swath_os::mounts::Mount;
use twox_hash::XxHash3_64;

use crate::error::{Error, Result};

/// A file system on a device, and the cores that read from it.
///
/// The name of a device may refer to another device after a reboot, and disk images are copied
/// completely. So the identifier of the file system, the numbers of the device and the cores must
/// all be equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The type, as in `mount -t`.
    pub file_system: String,
    /// The mounted source: a device, `host:/path`, or any word.
    pub source: String,
    /// The identifier of the file system, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The numbers of the device, such as `254:0`.
    pub device: String,
    /// Processors that this process may use.
    pub cores: u64,
}

/// Length of the readable part of a file's name; the rest is a checksum.
const WORD: usize = 40;

impl Key {
    /// Returns the key of the file system that holds `path`, which must exist.
    ///
    /// # Errors
    ///
    /// If its mount point is unknown: `/proc` is not mounted, or `path` does not exist.
    pub fn of(path: &Path) -> Result<Self> {
        let mount = Mount::of(path).ok_or_else(|| {
            let text = format!("cannot find the file system of {}", path.display());
            Error::new(text, path, "check the path, and that /proc is mounted")
        })?;
        Ok(Self {
            source: mount.source.to_string_lossy().into_owned(),
            uuid: mount.uuid(),
            device: mount.block_device().unwrap_or(mount.device),
            file_system: mount.kind,
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
        })
    }

    /// Returns a short name for people.
    pub fn name(&self) -> String {
        format!("{} on {}", self.file_system, self.source)
    }

    /// Returns the name of its file, made from the parts that a reboot does not change.
    pub(crate) fn file_name(&self) -> String {
        let stable = match &self.uuid {
            Some(uuid) => format!("{}\0{uuid}", self.file_system),
            None => format!("{}\0{}\0{}", self.file_system, self.source, self.device),
        };
        let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
        let word: String = self.file_system.chars().take(WORD).map(plain).collect();
        format!("{word}-{:016x}.toml", XxHash3_64::oneshot(stable.as_bytes()))
    }

    /// Whether a file has the name of a profile.
    pub(crate) fn names(path: &Path) -> bool {
        let stem = path.file_stem().and_then(OsStr::to_str);
        let sum = stem.and_then(|stem| stem.rsplit_once('-')).map(|(_, sum)| sum);
        let is_sum =
            sum.is_some_and(|it| it.len() == 16 && it.bytes().all(|it| it.is_ascii_hexdigit()));
        is_sum && path.extension().is_some_and(|it| it == "toml" || it == "usual")
    }

    /// Returns the reason why a profile of `self` does not apply here, if so.
    pub(crate) fn differs_from(&self, here: &Self) -> Option<String> {
        let pairs = [
            ("file system", &self.file_system, &here.file_system),
            ("device", &self.device, &here.device),
        ];
        let different = pairs.into_iter().find(|(_, there, here)| there != here);
        match different {
            Some((what, there, here)) => {
                Some(format!("it was measured on {what} {there}, this is {here}"))
            }
            None if self.uuid != here.uuid
                || (self.uuid.is_none() && self.source != here.source) =>
            {
                Some(String::from("it was measured on another file system"))
            }
            None if self.cores != here.cores => Some(format!(
                "it was measured with {} cores, this machine has {}",
                self.cores, here.cores
            )),
            None => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file_system, source, device, cores, .. } = self;
        write!(f, "{file_system} on {source} ({device}), {cores} cores")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            file_system: String::from("ext4"),
            source: String::from("/dev/sda1"),
            uuid: Some(String::from("0b1c-22")),
            device: String::from("8:1"),
            cores: 4,
        }
    }

    #[test]
    fn a_profile_fits_only_where_all_of_it_is_the_same() {
        let here = key();
        assert_eq!(key().differs_from(&here), None);
        let renamed = Key { source: String::from("/dev/root"), ..key() };
        assert_eq!(renamed.differs_from(&here), None, "another name of the same");
        for other in [
            Key { file_system: String::from("xfs"), ..key() },
            Key { device: String::from("8:2"), ..key() },
            Key { uuid: None, ..key() },
            Key { cores: 8, ..key() },
        ] {
            assert!(other.differs_from(&here).is_some(), "{other:?}");
        }
        let plain = Key { uuid: None, ..key() };
        let other = Key { source: String::from("/dev/sdb1"), ..plain.clone() };
        assert!(other.differs_from(&plain).is_some());
    }

    #[test]
    fn file_names_are_plain_and_belong_to_one_file_system() {
        let odd = Key { file_system: String::from("fuse.a/b ü"), ..key() };
        let name = odd.file_name();
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-.".contains(sign);
        assert!(name.chars().all(is_plain) && name.starts_with("fuse-a-b"), "{name}");
        let renamed =
            Key { source: String::from("/dev/root"), device: String::from("9:9"), ..key() };
        assert_eq!(renamed.file_name(), key().file_name(), "found again, to say what differs");
        let plain = Key { uuid: None, ..key() };
        let other = Key { device: String::from("0:40"), ..plain.clone() };
        assert_ne!(plain.file_name(), other.file_name());
        assert_ne!(plain.file_name(), key().file_name());
    }

    #[test]
    fn the_key_of_a_path_is_that_of_its_file_system() {
        let here = Key::of(Path::new("/proc/self/status")).expect("mounted");
        assert_eq!(here.file_system, "proc");
        assert!(here.cores > 0 && here.uuid.is_none(), "{here}");
        assert!(Key::of(Path::new("/no/such/path")).is_err());
    }
}
