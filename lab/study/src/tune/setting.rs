//! The settings: their names, the values to try, and the cases that measure them.

use swath::mirror::SharedDevice;
use swath::{Engine, PageCache, Profile};

use super::case::{SMALL, TuneCase};
use super::duel::Because;
use super::place::{Needs, TunePlace};
use swath_profile::stats::Interval;

/// The finding about one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingFinding {
    /// The name, as in the file of a profile.
    pub setting: &'static str,
    /// The default, in words.
    pub usual: &'static str,
    /// The new value, in words; `None` if the default stays.
    pub taken: Option<String>,
    /// The reason.
    pub because: String,
    /// The speed-up of the best other value in its last measurement.
    pub ratio: Option<Interval>,
}

/// Values to try together, the case that they should speed up, and the cases that they must not slow down.
pub(super) struct Trial {
    pub(super) values: Vec<u64>,
    pub(super) gain: TuneCase,
    pub(super) guards: Vec<TuneCase>,
}

/// One setting.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) usual: &'static str,
    pub(super) needs: Needs,
    /// The trials for a number of cores; each is made only if the one before it was a gain.
    pub(super) steps: fn(u64) -> Vec<Trial>,
    pub(super) apply: fn(Profile, u64) -> Profile,
    pub(super) word: fn(u64) -> String,
}

impl Setting {
    /// Returns the finding before the measurement: it is impossible here, or there was no time yet.
    pub(super) fn open(&self, place: &TunePlace) -> SettingFinding {
        match place.lacks(self.needs) {
            Some(why) => self.kept(format!("not measured: {why}"), None),
            None => self.kept(Because::NoTime.word().to_owned(), None),
        }
    }

    /// Returns the finding if the default stays.
    pub(super) fn kept(&self, because: String, ratio: Option<Interval>) -> SettingFinding {
        SettingFinding { setting: self.name, usual: self.usual, taken: None, because, ratio }
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn one(values: impl Into<Vec<u64>>, gain: TuneCase, guards: &[TuneCase]) -> Vec<Trial> {
    vec![Trial { values: values.into(), gain, guards: guards.to_vec() }]
}

/// Returns `values` without the default and without duplicates.
fn others(values: &[u64], usual: u64) -> Vec<u64> {
    let mut others: Vec<u64> = values.to_vec();
    others.sort_unstable();
    others.dedup();
    others.retain(|&value| value > 0 && value != usual);
    others
}

fn count(value: u64) -> String {
    value.to_string()
}

fn size(bytes: u64) -> String {
    match bytes / MIB {
        0 => format!("{} KiB", bytes / KIB),
        mib => format!("{mib} MiB"),
    }
}

fn usize_of(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The settings, the most important first, because time may be short.
pub(super) const SETTINGS: [Setting; 12] = [
    Setting {
        name: "warm-workers",
        usual: "one for each core",
        needs: Needs::Nothing,
        steps: |cores| {
            let values = others(&[1, cores / 2, cores * 2], cores);
            one(values, TuneCase::Warm, &[TuneCase::WarmShort, TuneCase::WarmStream])
        },
        apply: Profile::with_warm_workers,
        word: count,
    },
    Setting {
        name: "cold-workers",
        usual: "4, or one for each core; 1 where the kernel reads far ahead",
        needs: Needs::Cold,
        steps: |cores| {
            let values = others(&[1, 2, 8, 16, 32], cores.max(4));
            one(
                values,
                TuneCase::Cold,
                &[TuneCase::ColdShort, TuneCase::ColdStream, TuneCase::ColdSum],
            )
        },
        apply: Profile::with_cold_workers,
        word: count,
    },
    Setting {
        name: "direct-depth",
        usual: "16; 2 on spinning disks and networks",
        needs: Needs::Direct,
        steps: |_| one([4, 8, 32, 64], TuneCase::Direct, &[TuneCase::DirectShort]),
        apply: Profile::with_direct_depth,
        word: count,
    },
    Setting {
        name: "direct-engine",
        usual: "ring",
        needs: Needs::Ring,
        steps: |_| one([1], TuneCase::Direct, &[TuneCase::DirectShort]),
        apply: |profile, _| profile.with_direct_engine(Engine::Pool),
        word: |_| String::from("pool"),
    },
    Setting {
        name: "direct-chunk-size",
        usual: "1 MiB; 4 MiB on spinning disks and networks",
        needs: Needs::Direct,
        steps: |_| {
            one([256 * KIB, 2 * MIB, 4 * MIB], TuneCase::Direct, &[TuneCase::DirectShort])
        },
        apply: Profile::with_direct_chunk_size,
        word: size,
    },
    Setting {
        name: "once",
        usual: "bypass",
        needs: Needs::Direct,
        steps: |_| one([1], TuneCase::Once, &[TuneCase::OnceShort, TuneCase::OnceSum]),
        apply: |profile, _| profile.with_once(PageCache::Drop),
        word: |_| String::from("drop"),
    },
    Setting {
        name: "warm-chunk-size",
        usual: "1 MiB",
        needs: Needs::Nothing,
        steps: |_| one([256 * KIB, 2 * MIB, 4 * MIB], TuneCase::Warm, &[TuneCase::WarmShort]),
        apply: Profile::with_warm_chunk_size,
        word: size,
    },
    Setting {
        name: "cold-chunk-size",
        usual: "1 MiB; 4 MiB on spinning disks and networks",
        needs: Needs::Cold,
        steps: |_| one([256 * KIB, 2 * MIB, 4 * MIB], TuneCase::Cold, &[TuneCase::ColdShort]),
        apply: Profile::with_cold_chunk_size,
        word: size,
    },
    Setting {
        name: "files-depth",
        usual: "128 in rings, or 64 threads",
        needs: Needs::Cold,
        steps: |_| one([32, 64, 256], TuneCase::FilesCold, &[]),
        apply: |profile, value| {
            profile.with_files_depth(u32::try_from(value).unwrap_or(u32::MAX))
        },
        word: count,
    },
    Setting {
        name: "files-workers",
        usual: "one for each core",
        needs: Needs::Nothing,
        steps: |cores| {
            // A minimum: all workers read the large files together.
            one([cores * 2, cores * 4], TuneCase::FilesWarm, &[TuneCase::FilesCold])
        },
        apply: |profile, value| profile.with_files_workers(usize_of(value)),
        word: count,
    },
    Setting {
        name: "small-file",
        usual: "64 KiB",
        needs: Needs::Nothing,
        steps: |_| {
            SMALL
                .map(|size| one([size], TuneCase::Small(size), &[TuneCase::SmallCold(size)]))
                .into_iter()
                .flatten()
                .collect()
        },
        apply: Profile::with_small_file,
        word: size,
    },
    Setting {
        name: "side-by-side",
        usual: "no: of copies on one device one is read",
        needs: Needs::Cold,
        steps: |_| one([1], TuneCase::Copies, &[TuneCase::CopiesWarm]),
        apply: |profile, _| profile.with_shared_device(SharedDevice::SideBySide),
        word: |_| String::from("yes"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_a_name_and_changes_a_profile_in_a_way_of_its_own() {
        let mut seen: Vec<(Profile, &str)> = Vec::new();
        for setting in &SETTINGS {
            for cores in [1, 2, 3, 64] {
                let values: Vec<u64> =
                    (setting.steps)(cores).into_iter().flat_map(|step| step.values).collect();
                assert!(!values.is_empty(), "{} of {cores}", setting.name);
                for value in values {
                    let changed = (setting.apply)(Profile::default(), value);
                    assert!(!changed.is_empty(), "{} {value}", setting.name);
                    assert!(!(setting.word)(value).is_empty());
                    if cores == 1 {
                        seen.push((changed, setting.name));
                    }
                }
            }
        }
        for (index, (profile, name)) in seen.iter().enumerate() {
            for (other, rival) in &seen[..index] {
                assert_ne!(profile, other, "{name} and {rival}");
            }
        }
    }

    #[test]
    fn defaults_are_not_tried_against_themselves() {
        assert_eq!(others(&[1, 0, 2], 1), [2]);
        assert_eq!(others(&[1, 2, 4, 2], 4), [1, 2]);
    }
}
