//! The names that writing uses besides those that the caller chose.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Operation, Reason, Result};

/// Longer names are cut and made distinct by a hash: with all additions, they fit the shortest limit
/// of any file system (143 bytes).
const LONGEST_STEM: usize = 100;
const LOCK: &str = ".swath-lock";
const HIDDEN: &str = ".swath-tmp";
const SCRATCH: &str = ".swath-tmp2";
const COPY: &str = ".swath-tmp3";

/// The file that readers of a folder of segments open first.
pub(crate) use swath_plan::segment::manifest::FILE_NAME as MANIFEST;
/// The next manifest until it is complete.
pub(crate) const NEW_MANIFEST: &str = ".MANIFEST.swath-tmp";
const SEGMENT: &str = "segment-";

/// Returns a segment name that no folder has.
pub(crate) fn segment_name() -> String {
    format!("{SEGMENT}{:016x}", unique_number())
}

/// Whether a name has the form of a segment's.
pub(crate) fn is_segment(name: &OsStr) -> bool {
    let digits = name.as_bytes().strip_prefix(SEGMENT.as_bytes());
    digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Whether a file of this name in a folder of segments is one that Swath creates.
pub(crate) fn is_of_a_folder(name: &OsStr) -> bool {
    is_segment(name) || name == MANIFEST || name == NEW_MANIFEST || is_kept_open(name)
}

/// Whether FUSE or NFS keeps a removed file under this name, until the last program has closed it.
pub(crate) fn is_kept_open(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let number = name.strip_prefix(b".fuse_hidden").or_else(|| name.strip_prefix(b".nfs"));
    number.is_some_and(|it| it.len() >= 8 && it.iter().all(u8::is_ascii_hexdigit))
}

/// Returns a number that no other writer has: the standard library's hash keys are random.
pub(crate) fn unique_number() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Returns a number that is greater than those of earlier microseconds: by 2112 they are too long.
pub(crate) fn number_in_order() -> u64 {
    /// Distinguish the numbers of one microsecond.
    const RANDOM: u32 = 12;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = u64::try_from(since.as_micros()).unwrap_or_default();
    time << RANDOM | unique_number() >> (u64::BITS - RANDOM)
}

/// The names used for one target while it is written.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    stem: OsString,
    suffix: String,
}

impl Names {
    /// Returns the names for the target `name`; `path` is for errors.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is not a name, or one that is reserved here.
    pub(crate) fn of(path: &Path, name: &OsStr) -> Result<Self> {
        if name == "." {
            return Err(Error::new(Operation::Create, Reason::Invalid, path)
                .detail("the path does not end in a name"));
        }
        if is_ours(name) {
            return Err(Error::new(Operation::Create, Reason::Invalid, path)
                .detail("names of this form are reserved for temporary files")
                .hint("choose another name"));
        }
        Ok(Self { stem: stem(name), suffix: String::new() })
    }

    /// Returns names that no other writer chooses, and that cannot be guessed.
    pub(crate) fn apart(&self) -> Self {
        Self { stem: self.stem.clone(), suffix: format!(".{:016x}", unique_number()) }
    }

    /// Returns the names with the end that a writer left; `None` if no writer uses such an end.
    pub(crate) fn ending_in(&self, suffix: &str) -> Option<Self> {
        let names = Self { stem: self.stem.clone(), suffix: suffix.to_owned() };
        names.is_made_apart(&names.hidden()).then_some(names)
    }

    /// Returns the suffix that distinguishes these names from other writers'.
    pub(crate) fn suffix(&self) -> &str {
        &self.suffix
    }

    /// Returns the names of a writer's files besides its lock.
    pub(crate) fn made(&self) -> [OsString; 3] {
        [self.hidden(), self.scratch(), self.copy()]
    }

    /// Returns the name of the lock file.
    pub(crate) fn lock(&self) -> OsString {
        self.with(LOCK)
    }

    /// Returns the name of the new bytes until they have their own.
    pub(crate) fn hidden(&self) -> OsString {
        self.with(HIDDEN)
    }

    /// Whether the new bytes of this target may have this name until they have their own.
    pub(crate) fn is_hidden(&self, name: &OsStr) -> bool {
        let hidden = self.bare(HIDDEN);
        name == hidden || without_number(name) == Some(hidden.as_bytes())
    }

    /// Returns the name of a spill file until that is removed.
    pub(crate) fn scratch(&self) -> OsString {
        self.with(SCRATCH)
    }

    /// Returns the name of a checkpoint's copy until it has its own.
    pub(crate) fn copy(&self) -> OsString {
        self.with(COPY)
    }

    /// Whether this is the lock of another writer of the same target with unguessable names.
    pub(crate) fn is_lock_apart(&self, name: &OsStr) -> bool {
        without_number(name) == Some(self.bare(LOCK).as_bytes())
    }

    /// Whether this is a file, but not the lock, of another writer of the same target with
    /// unguessable names.
    pub(crate) fn is_made_apart(&self, name: &OsStr) -> bool {
        let made = [HIDDEN, SCRATCH, COPY].map(|ending| self.bare(ending));
        without_number(name).is_some_and(|name| made.iter().any(|made| made.as_bytes() == name))
    }

    fn with(&self, ending: &str) -> OsString {
        let mut name = self.bare(ending);
        name.push(&self.suffix);
        name
    }

    fn bare(&self, ending: &str) -> OsString {
        let mut name = OsString::from(".");
        name.push(&self.stem);
        name.push(ending);
        name
    }
}

/// Returns an unguessable name to use instead of `name`, which is taken.
pub(crate) fn beside(name: &OsStr) -> OsString {
    let mut beside = name.to_owned();
    beside.push(format!(".{:016x}", unique_number()));
    beside
}

/// Returns the name without the number that [`Names::apart`] adds.
fn without_number(name: &OsStr) -> Option<&[u8]> {
    let (before, number) = name.as_bytes().split_last_chunk::<17>()?;
    let is_number = number[0] == b'.' && number[1..].iter().all(u8::is_ascii_hexdigit);
    is_number.then_some(before)
}

fn is_ours(name: &OsStr) -> bool {
    let before = without_number(name).unwrap_or(name.as_bytes());
    let ends = |ending: &str| before.ends_with(ending.as_bytes());
    before.starts_with(b".") && [LOCK, HIDDEN, SCRATCH, COPY].into_iter().any(ends)
}

/// Returns the name, cut if it is so long that nothing could be added.
pub(crate) fn stem(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    if bytes.len() <= LONGEST_STEM {
        return name.to_owned();
    }
    let hash = format!("~{:016x}", fnv1a(bytes));
    let mut end = LONGEST_STEM - hash.len();
    // Some file systems refuse half a character.
    while end > 0 && bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let mut cut = bytes[..end].to_vec();
    cut.extend(hash.bytes());
    OsString::from_vec(cut)
}

/// Returns a hash that every process and version computes: two writers must find the same lock.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Result<Names> {
        Names::of(Path::new(name), OsStr::new(name))
    }

    fn names(name: &str) -> Names {
        of(name).expect("a usable name")
    }

    #[test]
    fn names_are_hidden_and_those_apart_are_found_again() {
        assert_eq!(names("out.bin").lock(), ".out.bin.swath-lock");
        assert_eq!(names("out").hidden(), ".out.swath-tmp");
        let (own, apart) = (names("b"), names("b").apart());
        assert_ne!(apart.lock(), own.apart().lock());
        assert!(own.is_lock_apart(&apart.lock()) && apart.is_lock_apart(&apart.lock()));
        assert!(!own.is_lock_apart(&own.lock()) && !own.is_made_apart(&own.hidden()));
        for made in [apart.hidden(), apart.scratch(), apart.copy(), beside(&own.hidden())] {
            assert!(own.is_made_apart(&made) && !own.is_lock_apart(&made), "{made:?}");
            assert!(!names("a").is_made_apart(&made), "{made:?}");
        }
        assert!(own.is_hidden(&own.hidden()) && own.is_hidden(&apart.hidden()));
        for other in [own.lock(), own.scratch(), apart.copy(), names("a").hidden(), "b".into()]
        {
            assert!(!own.is_hidden(&other), "{other:?}");
        }
    }

    #[test]
    fn what_fuse_and_nfs_keep_is_of_a_folder_of_segments() {
        for name in [".fuse_hidden0000e6f7000024d1", ".nfs00000000012c5b0100000003"] {
            assert!(is_of_a_folder(name.as_ref()), "{name}");
        }
        for name in [".fuse_hidden", ".nfsomething", ".nfs0123", ".fuse_hidden0000e6f7.csv"] {
            assert!(!is_of_a_folder(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters_and_stay_apart() {
        let kept = "x".repeat(LONGEST_STEM);
        assert_eq!(stem(OsStr::new(&kept)), OsStr::new(&kept));
        for long in ["x".repeat(101), "x".repeat(255), "ä".repeat(127), "€".repeat(85)] {
            let cut = stem(OsStr::new(&long));
            assert!(cut.len() <= LONGEST_STEM, "{cut:?}");
            assert!(cut.to_str().is_some(), "{cut:?}");
            let mut other = long.clone();
            other.push('y');
            assert_ne!(stem(OsStr::new(&other)), cut);
        }
        // A test vector of the hash's authors: the same in every version.
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn names_of_our_own_form_are_no_targets() {
        let apart = names("x").apart();
        let apart = [apart.lock(), apart.copy()].map(|name| name.into_string().expect("UTF-8"));
        let usual = [".x.swath-tmp", ".x.swath-tmp2", ".x.swath-lock"].map(String::from);
        for name in usual.into_iter().chain(apart) {
            assert_eq!(of(&name).unwrap_err().reason(), Reason::Invalid, "{name}");
        }
        assert_eq!(names("x.swath-tmp").lock(), ".x.swath-tmp.swath-lock");
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        assert!(of(".").is_err());
    }

    #[test]
    fn segments_have_names_of_their_own() {
        let (one, two) = (segment_name(), segment_name());
        assert_ne!(one, two);
        assert!(is_segment(OsStr::new(&one)) && is_of_a_folder(OsStr::new(&two)));
        for other in ["segment-", "segment-1", "segment-00000000000000zz", "MANIFEST", "a"] {
            assert!(!is_segment(OsStr::new(other)), "{other}");
        }
    }
}
