//! Batteries: tests that try as many cases as there is time for.
//!
//! A case follows from its seed. A push tries a slice of a battery, from a seed that follows from the
//! commit, so that each push tries other cases; `cargo xtask torture` tries the battery at its full size.
//! Seeds that failed once are listed in `reference/failed-seeds.txt`; each run tries them first.
//!
//! | Variable | Meaning |
//! | --- | --- |
//! | `SWATH_SEED` | the first seed; 0 without it |
//! | `SWATH_TORTURE` | if it is set, batteries have their full size |
//! | `SWATH_UNTIL` | the second since 1970 from which on no case begins |
//! | `SWATH_BATTERIES` | the file to which each battery appends a line: name, first seed, cases, seconds, outcome |
//!
//! ```
//! use swath_reference::battery::{Battery, Size};
//!
//! let mut sum = 0;
//! for seed in Battery::new("example", Size { slice: 3, full: 1000 }) {
//!     sum += u64::from(swath_reference::bytes(seed, 1)[0]);
//! }
//! assert!(sum <= 3 * 255);
//! ```

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The seeds that failed once, and why.
const FAILED: &str = include_str!("../failed-seeds.txt");

/// How many cases a push tries, and how many `torture` tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cases of a push.
    pub slice: u64,
    /// Cases of `torture`.
    pub full: u64,
}

/// The seeds of one battery, in the order in which they are tried. Dropped, it appends its line; after a
/// panic it also prints the command that repeats the case.
#[derive(Debug)]
pub struct Battery {
    name: &'static str,
    first: u64,
    count: u64,
    until: Option<SystemTime>,
    /// In reverse.
    failed: Vec<u64>,
    tried: u64,
    current: Option<u64>,
    start: Instant,
}

impl Battery {
    /// A battery of seeded cases. `xtask/src/torture.rs` lists the names.
    #[must_use]
    pub fn new(name: &'static str, size: Size) -> Battery {
        let count = if is_full() { size.full } else { size.slice };
        let mut failed = failed_seeds(FAILED, name);
        failed.reverse();
        Battery {
            name,
            first: seed(),
            count,
            until: number("SWATH_UNTIL").map(|second| UNIX_EPOCH + Duration::from_secs(second)),
            failed,
            tried: 0,
            current: None,
            start: Instant::now(),
        }
    }

    /// Returns how many cases were begun.
    #[must_use]
    pub fn tried(&self) -> u64 {
        self.tried
    }

    /// Keeps about `slice` of `items`, others for each seed and spread over all of them; in `torture`
    /// all of them. For batteries whose cases are a list.
    pub fn of_list<T>(
        name: &'static str,
        slice: usize,
        items: impl IntoIterator<Item = T>,
    ) -> Vec<T> {
        let mut items: Vec<T> = items.into_iter().collect();
        if !is_full() {
            let stride = items.len().div_ceil(slice.max(1)).max(1);
            let phase = usize::try_from(seed() % stride as u64).unwrap_or(0);
            let mut index = 0;
            items.retain(|_| {
                index += 1;
                (index - 1) % stride == phase
            });
        }
        let count = items.len() as u64;
        let mut battery = Battery::new(name, Size { slice: count, full: count });
        battery.failed.clear();
        battery.tried = count;
        items
    }

    fn is_over(&self) -> bool {
        // One case at least: a run that had no time for it would prove nothing.
        self.tried > 0 && self.until.is_some_and(|until| SystemTime::now() >= until)
    }
}

impl Iterator for Battery {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(seed) = self.failed.pop() {
            self.current = Some(seed);
            return self.current;
        }
        self.current = None;
        if self.tried == self.count || self.is_over() {
            return None;
        }
        self.current = Some(self.first.wrapping_add(self.tried));
        self.tried += 1;
        self.current
    }
}

impl Drop for Battery {
    fn drop(&mut self) {
        let Battery { name, first, tried, .. } = self;
        let outcome = if std::thread::panicking() { "failed" } else { "passed" };
        if std::thread::panicking() {
            // All cases were drawn before one failed: from the first seed on it comes again.
            let seed = self.current.unwrap_or(*first);
            eprintln!("to repeat this case: cargo xtask torture --only {name} --seed {seed}");
        }
        let seconds = self.start.elapsed().as_secs_f64();
        append("SWATH_BATTERIES", &format!("{name} {first} {tried} {seconds:.1} {outcome}\n"));
    }
}

/// Whether this is a run at full size.
#[must_use]
pub fn is_full() -> bool {
    std::env::var_os("SWATH_TORTURE").is_some()
}

/// Returns the first seed of this run.
#[must_use]
pub fn seed() -> u64 {
    number("SWATH_SEED").unwrap_or(0)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn failed_seeds(list: &str, name: &str) -> Vec<u64> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let mut words = lines.map(str::split_whitespace);
    let of_name = words
        .by_ref()
        .filter_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok()));
    of_name.map(|seed| seed.expect("a battery, a seed, what failed")).collect()
}

/// Appends `text` to the file that `variable` names, if it names one. One write: tests run in parallel.
pub(crate) fn append(variable: &str, text: &str) {
    if let Some(path) = std::env::var_os(variable) {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.expect("a file for notes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_as_many_consecutive_seeds_as_it_says() {
        let first = seed();
        let seeds: Vec<u64> = Battery::new("none", Size { slice: 3, full: 3 }).collect();
        assert_eq!(seeds, [first, first + 1, first + 2]);
    }

    #[test]
    fn seeds_that_failed_are_found_by_the_name_of_their_battery() {
        let list = "# why\ntrees 7  lost bytes\nkills 5  torn\ntrees 9  order\n";
        assert_eq!(failed_seeds(list, "trees"), [7, 9]);
        assert_eq!(failed_seeds(list, "tables"), []);
        assert!(std::panic::catch_unwind(|| failed_seeds("trees x\n", "trees")).is_err());
    }

    #[test]
    fn every_item_of_a_list_is_in_the_slice_of_some_seed() {
        if is_full() {
            return;
        }
        let slice = Battery::of_list("none", 4, 0..10);
        assert!((3..=4).contains(&slice.len()), "{slice:?}");
        assert_eq!(Battery::of_list("none", 0, 0..0), []);
        assert_eq!(Battery::of_list("none", 20, 0..10).len(), 10);
    }
}
