//! Writers on a file system whose k-th call fails, for every k: the whole file, or the one
//! before.

mod copy;
mod faulty;
mod ordered;
