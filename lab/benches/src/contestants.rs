//! Ways to read and write files: the machine's limits, Swath, and its peers.

pub(crate) mod compress;
pub(crate) mod consumer;
pub(crate) mod device;
pub(crate) mod file;
pub(crate) mod files;
pub(crate) mod text;
pub(crate) mod waits;
pub(crate) mod write;
