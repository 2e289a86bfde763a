//! What `swath tune` has measured for a file system, kept and found again.
//!
//! ```text
//! path → Key: file system, device, cores → Store: one file each → Profile for the library
//! ```
//!
//! The library takes a profile as a plain value and knows of no folder; here is the folder. The command
//! and the bindings ask [`Profiles`]. A profile is used only where it was measured: on the same file
//! system of the same device, by as many cores. One that is damaged or of a newer version is a
//! problem that [`Lookup`] returns, and the defaults are used: no read fails for it, and nothing is
//! printed here.
//!
//! ```
//! use std::path::Path;
//! use swath_profile::{Key, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::at(folder.path());
//! let key = Key::of(Path::new("."))?;
//! assert!(store.load(&key)?.is_none(), "nobody has measured it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod error;
mod key;
mod profiles;
mod store;
mod text;

pub use error::{Error, Result};
pub use key::Key;
pub use profiles::{Lookup, Profiles};
pub use store::{Found, Store};
pub use text::{Kept, Measured};
