//! Where the bytes of parallel appends lie, and in which order they are to be read.

pub mod rope;
