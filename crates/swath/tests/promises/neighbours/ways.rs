//! The ways of writing.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use swath::append::{AppendOptions, Mode, OrderedOptions};
use swath::copy::CopyOptions;
use swath::mirror::MirrorOptions;
use swath::sink::Fs;
use swath::{Error, OutputOptions, WriteOptions};

pub(crate) const NEW: &[u8] = b"NEW BYTES, WHICH ARE LONGER";

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Write,
    Positional,
    Shared,
    Copy,
    Mirror,
    Tickets,
    /// Strands that spill, and a checkpoint before the end.
    Strands,
    Segments,
}

impl Way {
    /// Writes [`NEW`] to `path`; `source` is a file with the same bytes.
    ///
    /// # Errors
    ///
    /// The library's own.
    pub(crate) fn leave(
        self,
        path: &Path,
        source: &Path,
        fs: Arc<dyn Fs>,
    ) -> Result<(), Error> {
        match self {
            Self::Write => WriteOptions::new()
                .with_output(OutputOptions::new().with_fs(fs))
                .write(path, NEW)
                .map(drop),
            Self::Positional => {
                let out = WriteOptions::new()
                    .with_output(OutputOptions::new().with_fs(fs))
                    .create(path, NEW.len() as u64)?;
                out.write_at(NEW, 0)?;
                out.commit()
            }
            Self::Shared => {
                let options = WriteOptions::new().with_output(OutputOptions::new().with_fs(fs));
                let draft = options.create_shared(path, NEW.len() as u64)?;
                let out = options.open_shared(draft.token())?;
                out.write_at(NEW, 0)?;
                draft.commit(&[out.finish()?])
            }
            Self::Copy => CopyOptions::new()
                .with_output(OutputOptions::new().with_fs(fs))
                .copy(source, path)
                .map(drop),
            Self::Mirror => MirrorOptions::new()
                .with_output(OutputOptions::new().with_fs(fs))
                .mirror(source, &[path])
                .map(drop),
            Self::Tickets => {
                let out = OrderedOptions::new()
                    .with_output(OutputOptions::new().with_fs(fs))
                    .ordered(path)?;
                let mut ticket = out.ticket()?;
                ticket.write_all(NEW).expect("memory");
                ticket.done()?;
                out.commit().map(drop)
            }
            Self::Strands => strands(path, AppendOptions::new().with_memory_limit(1), fs),
            Self::Segments => strands(path, AppendOptions::new().with_mode(Mode::Segments), fs),
        }
    }
}

fn strands(path: &Path, options: AppendOptions, fs: Arc<dyn Fs>) -> Result<(), Error> {
    let ours = |error: std::io::Error| {
        *error.into_inner().and_then(|error| error.downcast().ok()).expect("an error of ours")
    };
    let (first, second) = NEW.split_at(9);
    let mut out = options
        .with_output(OutputOptions::new().with_fs(fs))
        .with_buffer_size(4)
        .create(path)?;
    out.write_all(first).map_err(ours)?;
    out.checkpoint()?;
    let mut fork = out.fork()?;
    fork.write_all(second).map_err(ours)?;
    fork.finish()?;
    out.commit().map(drop)
}
