//! What writes, on a file system whose k-th call fails, for every k: whole, or what was before.

mod copy;
mod faulty;
#[path = "../hooked/mod.rs"]
mod hooked;
mod ordered;
