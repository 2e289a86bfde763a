//! The output of a verb that writes in order.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::append::{Ordered, OrderedOptions};
use crate::error::Result;

/// The output of a verb that writes in order: a path, where it is complete or absent, a stream, or
/// an ordered output that was begun before.
///
/// Creates nothing before it is passed to a verb.
///
/// ```
/// use swath::Output;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let (input, output) = (folder.path().join("in"), folder.path().join("out"));
/// # std::fs::write(&input, "b\na\n").unwrap();
/// let same = |line: &[u8], out: &mut Vec<u8>| -> swath::Result<()> {
///     out.extend_from_slice(line);
///     Ok(())
/// };
/// swath::transform(&input, &output, same)?;                          // a path
/// swath::transform(&input, Output::stream(std::io::sink(), "-"), same)?;
/// let begun = swath::append::OrderedOptions::new().with_window(4).ordered(&output)?;
/// swath::transform(&input, begun, same)?;                            // committed by the verb
/// # assert_eq!(std::fs::read(&output).unwrap(), b"ba");
/// # Ok::<(), swath::Error>(())
/// ```
pub struct Output(OutputPlace);

enum OutputPlace {
    Path(PathBuf),
    Stream(Box<dyn Write + Send>, PathBuf),
    Begun(Box<Ordered>),
}

impl Output {
    /// A file that appears once it is complete: new, or in place of an existing one.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self(OutputPlace::Path(path.into()))
    }

    /// A stream, called `name` in messages: a pipe, a socket, standard output. After an error,
    /// output of earlier input may have been sent.
    pub fn stream(writer: impl Write + Send + 'static, name: impl Into<PathBuf>) -> Self {
        Self(OutputPlace::Stream(Box::new(writer), name.into()))
    }

    /// The name in messages: the path, or the name of the stream.
    pub fn name(&self) -> &Path {
        match &self.0 {
            OutputPlace::Path(path) | OutputPlace::Stream(_, path) => path,
            OutputPlace::Begun(ordered) => ordered.name(),
        }
    }

    /// Begins the output, for a verb that writes. An output that was begun before keeps its own options.
    ///
    /// # Errors
    ///
    /// As [`append::ordered`](crate::append::ordered).
    pub fn open(self, options: impl Into<OrderedOptions>) -> Result<Ordered> {
        let options = options.into();
        match self.0 {
            OutputPlace::Path(path) => options.ordered(path),
            OutputPlace::Stream(writer, name) => Ok(options.ordered_to(writer, name)),
            OutputPlace::Begun(ordered) => Ok(*ordered),
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.name()).finish()
    }
}

impl From<Ordered> for Output {
    fn from(ordered: Ordered) -> Self {
        Self(OutputPlace::Begun(Box::new(ordered)))
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
