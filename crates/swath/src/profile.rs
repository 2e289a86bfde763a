//! Settings that were measured to be faster than the defaults, as a plain value.
//!
//! The library stores no profiles and looks for none: the caller passes one with the options of
//! each call. `swath tune` measures one for a file system and saves it, and the command loads it
//! again.

use swath_plan::policy::{Engine, PageCache, Tuning};

/// How to read copies that share one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SharedDevice {
    /// Read one copy, as long as it is good: together they are seldom faster.
    #[default]
    OneCopy,
    /// Read them in parallel, as copies on separate devices.
    SideBySide,
}

/// Settings that were measured to be faster than the defaults, for one file system of one machine.
///
/// `auto` uses them in place of its defaults. Options of the call take precedence, and a requested
/// engine is not tuned. No setter can fail: absurd values are clamped when they are used, and the
/// report says so. 0 and `Auto` mean "not measured": the default stays.
///
/// A profile never changes which bytes are read, only how.
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
    /// Returns a profile without settings; reports call it `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    settings! {
        /// Threads that read bytes in the page cache; at most 1,024.
        warm_workers with_warm_workers tuning.warm_workers: u64;
        /// Bytes of one read into memory, for a file that is in the page cache; from 4 KiB to 64
        /// MiB. The chunk size of a scan is the caller's.
        warm_chunk_size with_warm_chunk_size tuning.warm_chunk_size: u64;
        /// Threads that read bytes outside the page cache through it; at most 1,024. For threads
        /// that also process the bytes, it only counts if it is more than their usual number.
        cold_workers with_cold_workers tuning.cold_workers: u64;
        /// Bytes of one read into memory, for a file that is not completely in the page cache;
        /// from 4 KiB to 64 MiB.
        cold_chunk_size with_cold_chunk_size tuning.cold_chunk_size: u64;
        /// Direct reads in flight; at most 1,024.
        direct_depth with_direct_depth tuning.direct_depth: u64;
        /// Bytes of one direct read into memory; from 4 KiB to 64 MiB.
        direct_chunk_size with_direct_chunk_size tuning.direct_chunk_size: u64;
        /// How direct reads are made: [`Engine::Pool`] uses a thread for each, even where a ring
        /// is possible; every other engine means the default, the ring.
        direct_engine with_direct_engine tuning.direct_engine: Engine;
        /// How to read a file that will not be read again: [`PageCache::Drop`] reads through the
        /// page cache, even where `O_DIRECT` is possible; every other value means the default,
        /// bypassing it.
        once with_once tuning.once: PageCache;
        /// Size up to which a file is read with one read and no thread; at most 1 MiB.
        small_file with_small_file tuning.small: u64;
        /// Threads that read many small files from the page cache; at most 1,024.
        files_workers with_files_workers files_workers: usize;
        /// Files in flight on the device at a time, of many small ones; at most 1,024.
        files_depth with_files_depth files_depth: u32;
        /// The fastest way to read copies that share one device. Pass it with
        /// [`with_shared_device`](crate::mirror::Mirrored::with_shared_device) to a
        /// [`Mirrored`](crate::mirror::Mirrored) of such copies.
        shared_device with_shared_device shared_device: SharedDevice;
    }

    /// Whether the profile changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.name.as_str())
    }

    pub(crate) fn tuning(&self) -> Tuning {
        self.tuning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_profile_changes_nothing_and_each_setting_does() {
        let new = Profile::new("name");
        assert!(new.is_empty() && new.tuning() == Tuning::default());
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
