//! What was measured to be faster than the defaults, as a plain value.
//!
//! The library keeps no profile and looks for none: whoever has one hands it over, with the
//! options of each call. `swath tune` measures one for a file system and keeps it, and the command
//! loads it again.

use swath_plan::policy::{Engine, PageCache, Tuning};

/// How copies are read that share one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SharedDevice {
    /// One of them, as long as it is good: together they are seldom faster.
    #[default]
    OneCopy,
    /// Side by side, as copies on devices of their own are.
    SideBySide,
}

/// Settings that were measured to be faster than the defaults, for one file system of one machine.
///
/// `auto` takes them in place of its defaults; what the options ask for comes first, and an engine
/// that was asked for is not tuned. Every setter returns the profile and none can fail: a number
/// that nobody can mean is bounded when it is used, and the report says so. 0, and `Auto`, stand
/// for "not measured": the default stays.
///
/// It never changes which bytes come, only how.
///
/// ```
/// use swath::{Profile, ReadOptions};
///
/// let profile = Profile::new("ext4 on /dev/sda1").with_cold_workers(8);
/// let loaded = ReadOptions::new().with_profile(profile).read("/etc/passwd")?;
/// assert_eq!(loaded.report.profile.as_deref(), Some("ext4 on /dev/sda1"));
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    name: String,
    tuning: Tuning,
    single_pass: Engine,
    files_workers: usize,
    files_depth: u32,
    shared_device: SharedDevice,
}

/// A setting: its getter and its setter.
macro_rules! settings {
    ($($(#[$doc:meta])+ $get:ident $set:ident $field:ident $(. $inner:ident)?: $type:ty;)+) => {
        $(
            $(#[$doc])+
            #[must_use]
            pub fn $get(&self) -> $type {
                self.$field $(. $inner)?
            }

            #[doc = concat!("Sets [`", stringify!($get), "`](Self::", stringify!($get), ").")]
            #[must_use]
            pub fn $set(mut self, value: $type) -> Self {
                self.$field $(. $inner)? = value;
                self
            }
        )+
    };
}

impl Profile {
    /// A profile that changes nothing yet; reports call it by `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// What reports call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    settings! {
        /// Threads that read what the page cache holds; at most 1,024.
        warm_workers with_warm_workers tuning.warm_workers: u64;
        /// Bytes of one read into memory, for a file that the page cache holds; from 4 KiB to
        /// 64 MiB. Chunks of a scan are the caller's.
        warm_chunk_size with_warm_chunk_size tuning.warm_chunk_size: u64;
        /// Threads that read through the page cache what it does not hold; at most 1,024. For
        /// threads that do more with the bytes than to move them it counts only if it is more than
        /// they are anyway.
        cold_workers with_cold_workers tuning.cold_workers: u64;
        /// Bytes of one read into memory, for a file that the page cache does not hold all of;
        /// from 4 KiB to 64 MiB.
        cold_chunk_size with_cold_chunk_size tuning.cold_chunk_size: u64;
        /// Direct reads in flight; at most 1,024.
        direct_depth with_direct_depth tuning.direct_depth: u64;
        /// Bytes of one direct read into memory; from 4 KiB to 64 MiB.
        direct_chunk_size with_direct_chunk_size tuning.direct_chunk_size: u64;
        /// Who makes direct reads: [`Engine::Pool`] a thread for each, also where a ring is
        /// possible; every other engine stands for the default, the ring.
        direct_engine with_direct_engine tuning.direct_engine: Engine;
        /// How a file is read that nobody reads again: [`PageCache::Drop`] through the page
        /// cache, also where `O_DIRECT` is possible; every other way stands for the default, past
        /// it.
        once with_once tuning.once: PageCache;
        /// Up to how many bytes a file takes one read and no thread; at most 1 MiB.
        small_file with_small_file tuning.small: u64;
        /// Who sums or counts a file in the page cache that may be mapped: [`Engine::Pool`] reads
        /// it; every other engine stands for the default, the map.
        single_pass with_single_pass single_pass: Engine;
        /// Threads that read many small files from the page cache; at most 1,024.
        files_workers with_files_workers files_workers: usize;
        /// Files that wait for the device at one time, of many small ones; at most 1,024.
        files_depth with_files_depth files_depth: u32;
        /// How copies that share one device are read fastest. Whoever makes a
        /// [`Mirrored`](crate::mirror::Mirrored) of such copies hands it on with
        /// [`with_shared_device`](crate::mirror::Mirrored::with_shared_device).
        shared_device with_shared_device shared_device: SharedDevice;
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.name.as_str())
    }

    pub(crate) fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Whether a kernel that may map what is in the page cache should.
    pub(crate) fn maps(&self) -> bool {
        self.single_pass != Engine::Pool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_profile_changes_nothing_and_each_setting_does() {
        let new = Profile::new("name");
        assert!(new.is_empty() && new.tuning() == Tuning::default() && new.maps());
        let one_each = [
            new.clone().with_warm_workers(1),
            new.clone().with_warm_chunk_size(1),
            new.clone().with_cold_workers(1),
            new.clone().with_cold_chunk_size(1),
            new.clone().with_direct_depth(1),
            new.clone().with_direct_chunk_size(1),
            new.clone().with_direct_engine(Engine::Pool),
            new.clone().with_once(PageCache::Drop),
            new.clone().with_small_file(1),
            new.clone().with_single_pass(Engine::Pool),
            new.clone().with_files_workers(1),
            new.clone().with_files_depth(1),
            new.clone().with_shared_device(SharedDevice::SideBySide),
        ];
        for (index, profile) in one_each.iter().enumerate() {
            assert!(!profile.is_empty(), "{profile:?}");
            assert!(one_each[..index].iter().all(|other| other != profile), "{profile:?}");
        }
    }
}
