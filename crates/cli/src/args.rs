//! Flags that several commands share, and the meaning of the words of any flag.
//!
//! The flags of one command are in its own file.

mod copies;
pub mod duration;
mod files;
mod output;
mod parts;
mod read;
pub mod size;
mod table;
mod timeline;
mod words;

pub(crate) use copies::{Against, CopiesArgs, parse_against};
pub(crate) use duration::parse_duration;
pub(crate) use files::Files;
pub(crate) use output::{ForceFlag, InPlaceFlag, OutFlag, OutputArgs};
pub(crate) use parts::PartList;
pub(crate) use read::{ExtentArgs, FlowArgs, ProfileArgs, ReadArgs};
pub(crate) use size::{parse_extent, parse_memory_size, parse_size};
pub(crate) use table::{TableArgs, TableOutArgs};
pub(crate) use timeline::TimelineArgs;
pub(crate) use words::{Named, count, file, input, path, whole, words};

/// The names of arguments whose default is standard input.
pub(crate) const STDIN_BY_DEFAULT: [&str; 4] = ["path", "paths", "from", "list"];
