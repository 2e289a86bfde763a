//! Jobs of many processes past the size of this machine: a simulation, and what it is checked with.
//!
//! A job of [`swath::job`] on 10,000 workers cannot be run here, but its parts can: what one part costs,
//! what one operation on a folder costs, and how a few processes share a machine. From these numbers a
//! discrete-event simulation computes the whole, with a virtual clock:
//!
//! ```text
//! client ──hand out──▶ worker: open ▶ read ▶ compute ▶ write ▶ give the name ──receipt──▶ client
//!   Line                   Line     Pool    Pool      Pool        Line                     Line
//!                                                                              then: the commit
//! ```
//!
//! A [`ServerLine`] serves one request after the other (the client, the file server's metadata). A [`Pool`] is
//! shared by all who use it at one time (bandwidth, the cores of one machine). Everything random comes
//! from a seed; two strategies with one seed meet the same parts, slow workers and failures.
//!
//! [`cores`] computes a verb of one process in the same way, on more cores than there are here.
//! [`local`] runs small jobs with real processes, so that the simulation can be compared with them.
//!
//! ```
//! use swath_study::scale::{Job, Strategy, simulate};
//!
//! let job = Job::default().with_workers(4).with_parts(16);
//! let alone = simulate(&Job { workers: 1, ..job.clone() }, 1)?;
//! let four = simulate(&Job { strategy: Strategy::Pull, ..job }, 1)?;
//! assert_eq!(four.parts, 16);
//! assert!(four.seconds < alone.seconds && four.seconds * 4.0 >= alone.seconds * 0.99);
//! # anyhow::Ok(())
//! ```

mod calls;
mod commit;
pub mod cores;
pub mod costs;
mod engine;
mod event;
mod fleet;
mod line;
pub mod local;
mod model;
mod parts;
mod pool;
#[cfg(test)]
mod tests;
pub mod worker;

pub use calls::{Callers, ONE_PROCESS};
pub use commit::{Commit, Committing, OutputForm, commit};
pub use engine::simulate;
pub use line::ServerLine;
pub use model::{
    Bandwidth, Client, Death, Job, Simulated, Spent, Storage, Strategy, Trouble, Use, Work,
};
pub use pool::Pool;
