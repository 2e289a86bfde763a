//! Flags that several commands share, and what the words of any flag stand for.
//!
//! What one command takes stands in its own file, with what it does.

mod copies;
mod files;
mod output;
mod read;
pub mod size;
mod timeline;
mod words;

pub(crate) use copies::{Against, CopiesArgs, parse_against};
pub(crate) use files::Files;
pub(crate) use output::OutputArgs;
pub(crate) use read::{ExtentArgs, FlowArgs, ProfileArgs, ReadArgs};
pub(crate) use size::{parse_extent, parse_memory_size, parse_size};
pub(crate) use timeline::TimelineArgs;
pub(crate) use words::{input, words};
