//! Runs the blocks of `README.md` and of every page in `docs`, so that what a page shows works.
//!
//! ```text
//! blocks.rs   what is a block, and is it marked as it must be?
//! pages.rs    which pages are there?
//! fixture.rs  the folder that a block finds, with the files that pages name
//! run.rs      shell, C and Python, run; build.rs makes tests of the Rust blocks
//! ```
//!
//! Rust blocks are tests of this crate (`cargo test -p swath-docs`). The others need what other steps
//! of `cargo xtask test` build; `cargo xtask blocks` runs them.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod fixture;
pub mod pages;
pub mod run;
