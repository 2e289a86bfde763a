//! Where a transform leaves its bytes.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::append::{Ordered, OrderedOptions, ordered, ordered_to};
use crate::error::Result;

/// Where a transform leaves its bytes: under a path, where they are complete or absent, or in a
/// stream.
///
/// Nothing is made before a verb gets it.
pub struct Output {
    place: Place,
    options: OrderedOptions,
}

enum Place {
    Path(PathBuf),
    Stream(Box<dyn Write + Send>, PathBuf),
}

impl Output {
    /// A file: new, or in the place of the one that is there, once it is complete.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Path(path.into()), options: OrderedOptions::new() }
    }

    /// A stream, called `name` in messages: a pipe, a socket, standard output. After an error
    /// what is before it, in the order of the input, may have gone out.
    pub fn stream(writer: impl Write + Send + 'static, name: impl Into<PathBuf>) -> Self {
        let place = Place::Stream(Box::new(writer), name.into());
        Self { place, options: OrderedOptions::new() }
    }

    /// How to write. Default: durably, through the page cache, a few blocks ahead.
    #[must_use]
    pub fn with_options(mut self, options: OrderedOptions) -> Self {
        self.options = options;
        self
    }

    pub(super) fn open(self) -> Result<Ordered> {
        match self.place {
            Place::Path(path) => ordered(path, self.options),
            Place::Stream(writer, name) => Ok(ordered_to(writer, &name, self.options)),
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Place::Path(path) | Place::Stream(_, path)) = &self.place;
        f.debug_tuple("Output").field(path).finish()
    }
}

impl From<PathBuf> for Output {
    fn from(path: PathBuf) -> Self {
        Self::path(path)
    }
}

impl From<String> for Output {
    fn from(path: String) -> Self {
        Self::path(path)
    }
}

macro_rules! from_paths {
    ($($type:ty),+) => {$(
        impl From<$type> for Output {
            fn from(path: $type) -> Self {
                Self::path(AsRef::<Path>::as_ref(path))
            }
        }
    )+};
}
from_paths!(&Path, &PathBuf, &str, &String, &OsStr);
