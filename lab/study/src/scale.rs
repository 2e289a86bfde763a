//! Simulates jobs of more processes than this machine can run, and checks the simulation.
//!
//! A job of [`swath::job`] on 10,000 workers cannot run here, but its elements can be measured: the cost of
//! a part, the cost of an operation on a folder, and a few processes that share a machine. From these
//! numbers a discrete-event simulation computes the whole job, with a virtual clock:
//!
//! ```text
//! client ──hand out──▶ worker: open ▶ read ▶ compute ▶ write ▶ give the name ──receipt──▶ client
//!   Line                   Line     Pool    Pool      Pool        Line                     Line
//!                                                                              then: the commit
//! ```
//!
//! A [`ServerLine`] serves one request after the other (the client, the file server's metadata). The users
//! of a [`Pool`] share its rate (bandwidth, the cores of one machine). All randomness comes from a seed:
//! two strategies with one seed have the same parts, slow workers and failures.
//!
//! [`cores`] computes a verb of one process in the same way, on more cores than this machine has. [`local`]
//! runs small jobs with real processes, to compare the simulation with them.
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
