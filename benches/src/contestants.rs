//! Ways to read a file: the machine's limits, Swath, its peers, and the control; and ways to
//! keep items in order.
//!
//! Each times its reads alone. Before, whatever it reads into is overwritten, so that the
//! checksum afterwards is of what this run has read and not of what the last run left.

pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod compress;
pub(crate) mod control;
pub(crate) mod device;
pub(crate) mod files;
pub(crate) mod fork;
pub(crate) mod ingest;
pub(crate) mod limit;
pub(crate) mod order;
pub(crate) mod peer;
pub(crate) mod program;
pub(crate) mod swath;
pub(crate) mod text;
pub(crate) mod timing;
pub(crate) mod waits;
pub(crate) mod write;
