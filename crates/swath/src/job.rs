//! Jobs of many processes, on one machine or many: parallel workers write one correct output, once.
//!
//! Swath starts no workers: an engine that you already have does (Dask, MPI, a batch system, a
//! shell loop). This module is the contract between them:
//!
//! ```text
//! plan(inputs, target)   client    the bytes that each part reads; a folder for the parts' output
//! Part::writer()         worker    an attempt of a part: bytes in order, then a receipt (Done)
//! Plan::commit(done)     client    each part once, in order: the output, durable under its name
//! Plan::abort()          client    removes the folder; the target is unchanged
//! ```
//!
//! ```
//! use std::io::Write;
//! use swath::job;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
//! # std::fs::write(&input, "one\ntwo\nthree\n").unwrap();
//! let plan = job::JobOptions::new().with_parts(2).plan([&input], &output)?;
//! let mut done = Vec::new();
//! for part in plan.parts() {                    // each on any process, in any order
//!     let mut out = part.writer()?;
//!     for piece in part.pieces() {              // the lines that begin in these bytes
//!         let records = swath::records(piece.open()?).with_starting_in(piece.extent());
//!         let upper = records.map_blocks(|block| -> swath::Result<Vec<u8>> {
//!             Ok(block.to_bytes().to_ascii_uppercase())
//!         })?;
//!         out.write_all(&upper.concat())?;
//!     }
//!     done.push(out.finish()?);                 // a receipt, which the client collects
//! }
//! plan.commit(&done)?;
//! plan.remove()?;
//! assert_eq!(std::fs::read(&output)?, b"ONE\nTWO\nTHREE\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Promises.**
//! - A part may be done several times, and several times at once: each [`SegmentWriter`] writes a
//!   file of its own, whose name no other attempt uses. The commit chooses the attempt that counts.
//! - The target is complete or unchanged, whichever process is killed, at any time.
//! - Nothing is removed before the output is durable. A commit that failed or was killed is run
//!   again. If the target has its bytes already, they stay; otherwise attempts that ended in the
//!   meantime count. Another commit of a committed job returns the same result.
//! - An attempt that can no longer count, because the job is committed, ends with an error.
//! - An input that has changed since the plan was made is an error.
//! - The bytes of parts are compared with the checksums of their receipts while they are copied.
//!
//! **The folder** is self-contained, see [`status`]; it appears, and loses its name, in one step. It
//! is next to the target (or where [`JobOptions::with_folder`] says), and all processes must see it
//! under the same path.
//!
//! ```text
//! out.txt.job-5f3a9c0e/
//!   JOB                                      the plan (JSON)
//!   part-000012.5f3a9c0e12345678.1048576.9ae0daaf   part, attempt, bytes, CRC-32C: name and receipt
//!   CHOSEN                                   the attempts that the commit takes
//!   COMMITTED                                the output is durable
//! ```
//!
//! Plans, parts and receipts are plain data: they implement `serde`'s traits, and [`Plan::to_json`]
//! gives text.

mod choose;
mod commit;
mod data;
mod files;
mod folder;
mod input;
mod layout;
mod lines;
mod options;
mod place;
mod plan;
mod segment;
mod segments;
mod status;
mod sweep;
mod target;

pub use commit::CommittedJob;
pub use data::{Done, Form, Part, PartPiece};
pub use options::{JobOptions, plan};
pub use plan::{Plan, open};
pub use segment::SegmentWriter;
pub use status::{State, Status, status};
pub use swath_plan::parts::Division;
pub use sweep::{Sweep, Swept, sweep};
