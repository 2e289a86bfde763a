//! Batteries: tests that try as many cases as time allows.
//!
//! A case is determined by its seed. A push tries a slice of a battery, starting at a seed that is
//! derived from the commit, so that each push tries other cases; `cargo xtask torture` tries the
//! whole battery. A case that failed once is listed in `reference/failed-seeds.txt` with its test;
//! each run tries it first.
//!
//! | Variable | Meaning |
//! | --- | --- |
//! | `SWATH_SEED` | the first seed; 0 without it |
//! | `SWATH_TORTURE` | if it is set, batteries have their full size |
//! | `SWATH_UNTIL` | the second since 1970 from which on no case begins |
//! | `SWATH_BATTERIES` | the file to which each battery appends a line: name, first seed, cases, seconds, outcome |
//!
//! ```
//! use swath_reference::battery::{Battery, BatterySize};
//!
//! let mut sum = 0;
//! for seed in Battery::new("example", BatterySize { slice: 3, full: 1000 }) {
//!     sum += u64::from(swath_reference::bytes(seed, 1)[0]);
//! }
//! assert!(sum <= 3 * 255);
//! ```

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The seeds that failed once, and the reasons.
const FAILED: &str = include_str!("../failed-seeds.txt");

/// The numbers of cases that a push and `torture` try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatterySize {
    /// The number of cases of a push.
    pub slice: u64,
    /// The number of cases of `torture`.
    pub full: u64,
}

/// The cases of one battery, in the order of trial: seeds, or the items of a list. When dropped, it
/// appends its line; after a panic it also prints the command that repeats the case.
#[derive(Debug)]
pub struct Battery<T = u64> {
    name: &'static str,
    first: u64,
    /// The cases, each with its seed or list index; those that failed once come first.
    cases: std::vec::IntoIter<(u64, T)>,
    is_list: bool,
    until: Option<SystemTime>,
    tried: u64,
    current: Option<u64>,
    start: Instant,
}

impl BatterySize {
    /// Returns the number of cases of this run.
    #[must_use]
    pub fn count(self) -> u64 {
        if is_full() { self.full } else { self.slice }
    }
}

impl Battery {
    /// Returns a battery of seeded cases. `xtask/src/torture/attacks.rs` lists the names.
    #[must_use]
    pub fn new(name: &'static str, size: BatterySize) -> Battery {
        let count = size.count();
        let failed = failed_seeds(FAILED, &test()).into_iter();
        let seeds = failed.chain((0..count).map(|it| seed().wrapping_add(it)));
        Battery::of(name, false, seeds.map(|seed| (seed, seed)).collect())
    }
}

impl<T> Battery<T> {
    /// Returns a battery of about `slice` of `items`, spread over all of them and different for
    /// each seed; in `torture`, of all items. The number of an item that failed once is its list
    /// index.
    pub fn of_list(
        name: &'static str,
        slice: usize,
        items: impl IntoIterator<Item = T>,
    ) -> Battery<T> {
        let items: Vec<T> = items.into_iter().collect();
        let stride = if is_full() { 1 } else { items.len().div_ceil(slice.max(1)).max(1) };
        let (stride, failed) = (stride as u64, failed_seeds(FAILED, &test()));
        let is_chosen =
            |place: u64| place % stride == seed() % stride || failed.contains(&place);
        let mut cases: Vec<_> =
            (0..).zip(items).filter(|(place, _)| is_chosen(*place)).collect();
        cases.sort_by_key(|(place, _)| !failed.contains(place));
        Battery::of(name, true, cases)
    }

    fn of(name: &'static str, is_list: bool, cases: Vec<(u64, T)>) -> Battery<T> {
        Battery {
            name,
            first: seed(),
            cases: cases.into_iter(),
            is_list,
            until: number("SWATH_UNTIL").map(|second| UNIX_EPOCH + Duration::from_secs(second)),
            tried: 0,
            current: None,
            start: Instant::now(),
        }
    }

    /// Returns the number of cases begun.
    #[must_use]
    pub fn tried(&self) -> u64 {
        self.tried
    }

    fn is_over(&self) -> bool {
        // At least one case: a run without any would prove nothing.
        self.tried > 0 && self.until.is_some_and(|until| SystemTime::now() >= until)
    }

    /// Returns the command that repeats the case, for a panic. If all cases were drawn before one
    /// failed, it repeats those starting at the first seed.
    fn how_to_repeat(&self) -> String {
        let (test, number) = (test(), self.current.unwrap_or(self.first));
        let variable = if self.is_list {
            String::from("SWATH_TORTURE=1")
        } else {
            format!("SWATH_SEED={number}")
        };
        let repeat = match std::env::var("CARGO_PKG_NAME") {
            Ok(package) if test != UNNAMED => {
                format!("{variable} cargo test --package {package} -- --exact {test}")
            }
            // A thread that the test started.
            _ => format!("cargo xtask torture --only {} --seed {number}", self.name),
        };
        format!("case {number} failed; to repeat it: {repeat}")
    }
}

const UNNAMED: &str = "main";

/// Returns the path of the running test, which is the name of its thread.
fn test() -> String {
    std::thread::current().name().unwrap_or(UNNAMED).to_owned()
}

impl<T> Iterator for Battery<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.current = None;
        if self.is_over() {
            return None;
        }
        let (number, case) = self.cases.next()?;
        self.current = Some(number);
        self.tried += 1;
        Some(case)
    }
}

impl<T> Drop for Battery<T> {
    fn drop(&mut self) {
        let mut outcome = "passed";
        if std::thread::panicking() {
            outcome = "failed";
            eprintln!("{}", self.how_to_repeat());
        }
        let (name, first, tried) = (self.name, self.first, self.tried);
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

fn failed_seeds(list: &str, test: &str) -> Vec<u64> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let mut words = lines.map(str::split_whitespace);
    let of_test = words
        .by_ref()
        .filter_map(|mut words| (words.next()? == test).then(|| words.next()?.parse().ok()));
    of_test.map(|seed| seed.expect("a test, a number, what failed")).collect()
}

/// Appends `text` to the file that `variable` names, if any. Writes once: tests run in parallel.
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
        let seeds: Vec<u64> = Battery::new("none", BatterySize { slice: 3, full: 3 }).collect();
        assert_eq!(seeds, [first, first + 1, first + 2]);
    }

    #[test]
    fn seeds_that_failed_are_found_by_the_name_of_their_test() {
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
        let slice = Battery::of_list("none", 4, 0..10).count();
        assert!((3..=4).contains(&slice), "{slice}");
        assert_eq!(Battery::of_list("none", 0, 0..0).count(), 0);
        assert_eq!(Battery::of_list("none", 20, 0..10).count(), 10);
    }

    #[test]
    fn a_case_that_fails_is_named_and_the_cases_after_it_are_not_counted() {
        let mut battery = Battery::of_list("none", 10, 0..10);
        assert_eq!(battery.by_ref().take(3).last(), Some(2));
        assert_eq!(battery.tried(), 3);
        assert!(
            battery.how_to_repeat().starts_with("case 2 failed; to repeat it: SWATH_TORTURE=1")
        );
        let mut battery = Battery::new("none", BatterySize { slice: 2, full: 2 });
        let how = format!("SWATH_SEED={} cargo test --package swath-reference", seed());
        battery.next();
        assert!(battery.how_to_repeat().contains(&how));
        assert_eq!(battery.by_ref().count(), 1);
        assert!(battery.how_to_repeat().contains(&how));
    }
}
