//! The settings that `swath tune` measured for a file system: saves and finds them.
//!
//! ```text
//! path → Key: file system, device, cores → Store: one file each → Profile for the library
//! ```
//!
//! The library takes a profile as a plain value and knows no folder; this crate manages the folder.
//! The command and the bindings use [`Profiles`]. A profile is used only where it was measured: on
//! the same file system of the same device, with the same number of cores. If a profile is damaged
//! or of a newer version, [`Lookup`] returns the problem, and the defaults are used: no read fails
//! because of it, and this crate prints nothing.
//!
//! ```
//! use std::path::Path;
//! use swath_profile::{Key, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::at(folder.path());
//! let key = Key::of(Path::new("."))?;
//! assert!(store.load(&key)?.is_none(), "it was never measured");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod error;
mod key;
mod profiles;
pub mod stats;
mod store;
mod text;

pub use error::{Error, Result};
pub use key::Key;
pub use profiles::{Lookup, Profiles};
pub use store::{Found, Store};
pub use text::{Kept, Measured};
