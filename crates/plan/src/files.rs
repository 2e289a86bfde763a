//! Decides how many files to read at a time, by which worker, and in which way first.
//!
//! ```text
//! files   |0 1 2 3 4 5 ..|  claims: long ones first, single files at the end   (share)
//! way     page cache first; on a miss the device, with many reads in flight    (Probe, Window)
//! opens   by the worker as long as that is fast, otherwise by the ring         (Opener)
//! memory  slabs, lent in turn, with a reserve for the file that all wait for   (Lender)
//! ```
//!
//! Nothing is opened or read here: numbers in, numbers out.
//!
//! ```
//! use swath_plan::files::{Probe, ProbeWay};
//!
//! let mut probe = Probe::default();
//! assert_eq!(probe.way(), ProbeWay::Cached, "hope first");
//! (0..8).for_each(|_| probe.saw(false));
//! assert_eq!(probe.way(), ProbeWay::Device, "then experience");
//! ```

mod lender;
mod opener;
mod probe;
mod window;

pub use lender::{Grant, Lender};
pub use opener::{By, Opener};
pub use probe::{Probe, ProbeWay};
pub use window::Window;

/// Returns how many of `left` files one of `workers` should claim at a time, at most `most`.
///
/// This is an eighth of an even share: few claims while there is much to do, and at the end no
/// worker holds files that another could take.
///
/// ```
/// use swath_plan::files::share;
///
/// assert_eq!([share(100_000, 2, 32), share(160, 2, 32), share(3, 2, 32)], [32, 10, 1]);
/// assert_eq!(share(0, 2, 32), 0);
/// ```
pub fn share(left: usize, workers: usize, most: usize) -> usize {
    (left / workers.max(1).saturating_mul(8)).clamp(1, most.max(1)).min(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_end_and_never_exceed_what_is_left() {
        for workers in [0, 1, 2, 7, 64] {
            for most in [0, 1, 32] {
                let (mut left, mut claims) = (1000, 0);
                while left > 0 {
                    let share = share(left, workers, most);
                    assert!((1..=left).contains(&share) && share <= most.max(1));
                    left -= share;
                    claims += 1;
                }
                assert!(claims <= 1000);
            }
        }
    }
}
