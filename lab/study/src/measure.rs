//! The frame of all measurements: the entrants, their turns, the counters of a run, and the goals.
//!
//! ```text
//! Stage: folder, inputs, memory ─→ Entrant: series, x, state, expected ─┐
//!                                                            control ──┤
//!        Turns: shuffled, rotated ─→ interleave ───────────────────────┴→ before, work, check → Run
//!                                                                                      │
//!        Goal → interval of the rounds → met, missed, undecided     ← Selected ←───────┘
//! ```
//!
//! A machine's speed drifts: other guests come and go, memory returns to the host, the clock rate follows
//! the temperature. So each round runs all entrants once, and they are compared within the round (see
//! [`stats`](swath_profile::stats)). A checksum verifies each run, and a control with the same fixed work
//! in every round measures the noise of the machine.
//!
//! The studies' [`experiments`](crate::experiments), [`tune`](crate::tune), the command's `demo` and the
//! recorded measurements, including those of Python, use it.
//!
//! ```
//! use swath::CancelToken;
//! use swath_study::measure::{Entrant, Meter, Outcome, Rounds, run};
//!
//! let bytes = vec![1_u8; 1000];
//! let thousand = Outcome { bytes: 1000, checksum: 1000 };
//! let sum = Entrant::new("sum", thousand, move |meter: &mut Meter| {
//!     let checksum = meter.measure(|| bytes.iter().map(|&byte| u64::from(byte)).sum())?;
//!     Ok(Outcome { checksum, ..thousand })
//! });
//! let mut runs = Vec::new();
//! let rounds = Rounds { count: 7, seed: 1, ..Rounds::default() };
//! run(&mut [sum], rounds, &CancelToken::new(), &mut |run| runs.push(run))?;
//! assert_eq!(runs.len(), 7);
//! # anyhow::Ok(())
//! ```

mod budget;
mod control;
mod entrant;
mod goal;
mod meter;
mod rounds;
mod stage;

pub use budget::Budget;
pub use control::{CONTROL, control};
pub use entrant::{Absent, Entrant, Entrants, Outcome};
pub use goal::{Goal, Reached};
pub use meter::{Counting, Meter, hardware};
pub use rounds::{Rounds, Stopped, Turn, Turns, interleave, run};
pub use stage::{Extent, Input, SharedPages, Stage, UNREAD, memory_for};
