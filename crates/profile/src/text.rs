//! A profile as the text of its file.

use std::num::NonZeroU64;
use std::time::{SystemTime, UNIX_EPOCH};
use swath::mirror::SharedDevice;

use serde::{Deserialize, Serialize};
use swath::{Engine, PageCache, Profile};

use crate::error::{Error, Result};
use crate::key::Key;

/// The version of the format.
const VERSION: u32 = 1;

/// A measurement in its saved form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    version: u32,
    /// The version of Swath that measured it.
    pub swath: String,
    /// The time of the measurement, in seconds since 1970.
    pub measured_at_unix_s: u64,
    /// The place where it applies.
    pub key: Key,
    /// The settings that differ from the defaults.
    settings: Settings,
    /// The findings about every setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
}

/// The finding about one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Its name.
    pub setting: String,
    /// The default.
    pub usual: String,
    /// The value chosen instead, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// The reason.
    pub because: String,
    /// The speed of the best other value relative to the default, and its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<[f64; 3]>,
}

/// The settings; an absent one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_workers: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_chunk_size_bytes: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_workers: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_chunk_size_bytes: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_depth: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_chunk_size_bytes: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_engine: Option<Direct>,
    #[serde(skip_serializing_if = "Option::is_none")]
    once: Option<Once>,
    #[serde(skip_serializing_if = "Option::is_none")]
    small_file_bytes: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_workers: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_depth: Option<NonZeroU64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side_by_side: Option<bool>,
}

/// The engine of direct reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direct {
    Ring,
    Pool,
}

/// The way to read a file that is not read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Once {
    Bypass,
    Drop,
}

/// Only the version; all other fields are ignored.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

impl Kept {
    /// Makes a measurement of `profile`, with the current time.
    pub fn new(key: Key, profile: &Profile, measured: Vec<Measured>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            version: VERSION,
            swath: env!("CARGO_PKG_VERSION").to_owned(),
            measured_at_unix_s: since.map_or(0, |since| since.as_secs()),
            key,
            settings: Settings::of(profile),
            measured,
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// One line that describes the fault.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let one_line = |error: toml::de::Error| match error.span() {
            Some(span) => {
                let before = text.get(..span.start).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                format!("line {line}: {}", error.message().replace('\n', " "))
            }
            None => error.message().replace('\n', " "),
        };
        let head: Head = toml::from_str(text).map_err(one_line)?;
        if head.version != VERSION {
            return Err(format!(
                "it has version {}, this program knows {VERSION}",
                head.version
            ));
        }
        toml::from_str(text).map_err(one_line)
    }

    /// Returns the text of its file.
    ///
    /// # Errors
    ///
    /// If a number does not fit the format's signed 64-bit integers.
    pub fn text(&self) -> Result<String> {
        let text = toml::to_string(self).map_err(|error| {
            let text = format!("cannot write the profile of {} as TOML: {error}", self.key);
            Error::new(text, "", "")
        })?;
        Ok(format!("# Measured by `swath tune`; `swath tune --clear` removes it.\n{text}"))
    }

    /// Returns the profile in the library's form.
    pub fn profile(&self) -> Profile {
        self.settings.apply(Profile::new(self.key.name()))
    }
}

impl Settings {
    fn of(profile: &Profile) -> Self {
        let number = NonZeroU64::new;
        Self {
            warm_workers: number(profile.warm_workers()),
            warm_chunk_size_bytes: number(profile.warm_chunk_size()),
            cold_workers: number(profile.cold_workers()),
            cold_chunk_size_bytes: number(profile.cold_chunk_size()),
            direct_depth: number(profile.direct_depth()),
            direct_chunk_size_bytes: number(profile.direct_chunk_size()),
            direct_engine: match profile.direct_engine() {
                Engine::Ring => Some(Direct::Ring),
                Engine::Pool => Some(Direct::Pool),
                _ => None,
            },
            once: match profile.once() {
                PageCache::Bypass => Some(Once::Bypass),
                PageCache::Drop => Some(Once::Drop),
                _ => None,
            },
            small_file_bytes: number(profile.small_file()),
            files_workers: number(profile.files_workers() as u64),
            files_depth: number(u64::from(profile.files_depth())),
            side_by_side: (profile.shared_device() == SharedDevice::SideBySide).then_some(true),
        }
    }

    fn apply(&self, profile: Profile) -> Profile {
        let number = |number: Option<NonZeroU64>| number.map_or(0, NonZeroU64::get);
        // The library bounds a value that is too large for the type.
        let workers = usize::try_from(number(self.files_workers)).unwrap_or(usize::MAX);
        let depth = u32::try_from(number(self.files_depth)).unwrap_or(u32::MAX);
        profile
            .with_warm_workers(number(self.warm_workers))
            .with_warm_chunk_size(number(self.warm_chunk_size_bytes))
            .with_cold_workers(number(self.cold_workers))
            .with_cold_chunk_size(number(self.cold_chunk_size_bytes))
            .with_direct_depth(number(self.direct_depth))
            .with_direct_chunk_size(number(self.direct_chunk_size_bytes))
            .with_direct_engine(match self.direct_engine {
                None => Engine::Auto,
                Some(Direct::Ring) => Engine::Ring,
                Some(Direct::Pool) => Engine::Pool,
            })
            .with_once(match self.once {
                None => PageCache::Auto,
                Some(Once::Bypass) => PageCache::Bypass,
                Some(Once::Drop) => PageCache::Drop,
            })
            .with_small_file(number(self.small_file_bytes))
            .with_files_workers(workers)
            .with_files_depth(depth)
            .with_shared_device(match self.side_by_side {
                Some(true) => SharedDevice::SideBySide,
                _ => SharedDevice::OneCopy,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            file_system: String::from("ext4"),
            source: String::from("/dev/\"odd\"\\1"),
            uuid: None,
            device: String::from("8:1"),
            cores: 4,
        }
    }

    #[test]
    fn every_setting_comes_back_from_the_text() {
        let all = Profile::new(key().name())
            .with_warm_workers(1)
            .with_warm_chunk_size(2)
            .with_cold_workers(3)
            .with_cold_chunk_size(4)
            .with_direct_depth(5)
            .with_direct_chunk_size(6)
            .with_direct_engine(Engine::Pool)
            .with_once(PageCache::Drop)
            .with_small_file(7)
            .with_files_workers(8)
            .with_files_depth(9)
            .with_shared_device(SharedDevice::SideBySide);
        for profile in [Profile::new(key().name()), all] {
            let measured = vec![Measured {
                setting: String::from("warm-workers"),
                usual: String::from("one for each core"),
                taken: None,
                because: String::from("nothing else was clearly faster"),
                ratio: Some([1.01, 0.9, 1.125]),
            }];
            let kept = Kept::new(key(), &profile, measured);
            let text = kept.text().expect("it fits");
            assert_eq!(Kept::parse(&text).as_ref(), Ok(&kept), "{text}");
            assert_eq!(kept.profile(), profile, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line_with_its_number() {
        let text = Kept::new(key(), &Profile::default(), Vec::new()).text().expect("it fits");
        let broken = text.replace("[settings]", "[settings]\nwarm_workers = \"x\"");
        let why = Kept::parse(&broken).expect_err("no number");
        assert!(why.starts_with("line ") && !why.contains('\n'), "{why}");
        let newer = text.replace("version = 1", "version = 9\nnovelty = true");
        assert_eq!(
            Kept::parse(&newer).expect_err("newer"),
            "it has version 9, this program knows 1"
        );
    }
}
