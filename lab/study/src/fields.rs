//! Inputs and their entrants, each defined once, for the studies' [`experiments`](crate::experiments),
//! the recorded measurements and the command's `demo`.

pub mod classes;
pub mod contracts;
pub mod file;
pub mod forked;
pub mod grove;
pub mod orders;
pub mod sums;
pub mod text;
