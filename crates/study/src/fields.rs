//! What several entrants share, and the entrants that are made of it: each defined once, for the
//! studies' [`experiments`](crate::experiments), the recorded measurements and the command's `demo`.

pub mod classes;
pub mod contracts;
pub mod forked;
pub mod graph;
pub mod grove;
pub mod orders;
pub mod sums;
