//! The instructions that the kernels use.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A set of instructions for which every kernel exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Words of eight bytes; on every machine.
    Portable,
    /// Vectors of 32 bytes: AVX2, with BMI1, BMI2, LZCNT, POPCNT and PCLMULQDQ, which all
    /// processors with AVX2 have.
    Avx2,
    /// Vectors of 64 bytes: AVX-512F and AVX-512BW, in addition to the above.
    Avx512,
}

impl Level {
    /// Every level, the narrowest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// Whether this processor and its operating system support this level.
    ///
    /// Costs a load: the standard library queries the processor once.
    #[must_use]
    pub fn available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                std::is_x86_feature_detected!("avx2")
                    && std::is_x86_feature_detected!("bmi1")
                    && std::is_x86_feature_detected!("bmi2")
                    && std::is_x86_feature_detected!("lzcnt")
                    && std::is_x86_feature_detected!("popcnt")
                    && std::is_x86_feature_detected!("pclmulqdq")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// Checks the level, and panics if it is missing: its instructions would raise `SIGILL`.
    pub(crate) fn detected(self) -> Detected {
        assert!(self.available(), "this processor has no {self}");
        Detected(self)
    }
}

/// A level of this processor; made only in this file, after a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detected(Level);

impl Detected {
    /// Returns the level.
    pub(crate) fn level(self) -> Level {
        self.0
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        })
    }
}

/// The limit, as an index of [`Level::ALL`]; see [`limit_level`].
static LIMIT: AtomicUsize = AtomicUsize::new(Level::ALL.len() - 1);

/// Limits all kernels of this process to this level from now on, to measure the speed on other
/// processors. Results are the same at every level.
pub fn limit_level(most: Level) {
    // Relaxed: a kernel that still uses the wider level is correct too.
    LIMIT.store(most as usize, Ordering::Relaxed);
}

/// Returns the level that [`sum`](crate::sum) and the other kernels use here: the widest
/// available, unless [limited](limit_level).
#[must_use]
pub fn level() -> Level {
    detected().level()
}

/// Like [`level`], with the proof that it is available: a processor with a level has the narrower
/// ones too.
pub(crate) fn detected() -> Detected {
    let limit = Level::ALL[LIMIT.load(Ordering::Relaxed)];
    Detected(widest().min(limit))
}

/// One more than the index of the widest available level in [`Level::ALL`]; 0 until it is known.
static WIDEST: AtomicUsize = AtomicUsize::new(0);

fn widest() -> Level {
    // Relaxed: every thread finds the same level.
    match WIDEST.load(Ordering::Relaxed) {
        0 => {
            let place = Level::ALL.iter().rposition(|level| level.available()).unwrap_or(0);
            WIDEST.store(place + 1, Ordering::Relaxed);
            Level::ALL[place]
        }
        known => Level::ALL[known - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_level_is_the_widest_available_one() {
        let widest = Level::ALL.into_iter().filter(|level| level.available()).max();
        assert_eq!(widest, Some(level()));
    }

    #[test]
    fn levels_are_written_in_lower_case() {
        let names: Vec<String> = Level::ALL.iter().map(Level::to_string).collect();
        assert_eq!(names, ["portable", "avx2", "avx512"]);
    }
}
