//! Cheerio's modes: strands that write one file, or a file each, in no order.
//!
//! Study E compares its append with these modes. They are of no use in a product, because the content of
//! the file depends on the schedule. So they live here, built on the public items of [`swath`].
//!
//! ```text
//! global       one file, one position      records in the order of arrival    tickets, taken when full
//! local        one file, a position each   bytes where each strand seeks to   writes by place
//! local files  a file each                 records, one file after the other  forks of a folder of segments
//! ```
//!
//! A record is the output of one call of `write_all`, `write!` or [`record`](Writer::record). In global
//! mode, and with a file for each strand, records stay whole. The records of one strand keep their order,
//! perhaps with records of other strands between them. The output of a branch stays, even if a branch
//! before it in serial order fails later: without an order there is nothing to undo.
//!
//! ```
//! use std::io::Write;
//! use swath::append::OrderedOptions;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("out");
//! let out = swath_study::cheerio::global(&path, OrderedOptions::new())?;
//! let mut w = out.writer();
//! w.join(|w| write!(w, "left "), |w| write!(w, "right "))?;
//! w.finish()?;
//! assert_eq!(out.commit()?.bytes, 11);
//! # std::io::Result::Ok(())
//! ```
//!
//! Source: study E's related work, *Cheerio*.

mod target;
mod writer;

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use swath::append::{AppendOptions, Committed, Mode, OrderedOptions};
use swath::{Result, WriteOptions};

use self::target::{Files, SharedTarget, Target};
pub use self::writer::Writer;

/// Bytes that a writer collects: as many as a strand of Swath.
const BUFFER: usize = 256 << 10;

/// An unfinished output; nothing of it is visible before [`commit`](Self::commit).
///
/// Dropped without a commit, it writes nothing, and open writers fail from then on.
#[derive(Debug)]
pub struct Output {
    shared: Arc<SharedTarget>,
    buffer_size: usize,
}

/// Begins one file with one position that all strands share.
///
/// # Errors
///
/// The errors of [`ordered`](swath::append::ordered()).
pub fn global(path: impl AsRef<Path>, options: OrderedOptions) -> Result<Output> {
    let path = path.as_ref();
    Ok(Output::new(path, Target::Global(options.ordered(path)?)))
}

/// Begins one file of `len` bytes in which each strand has a position. Both branches of a fork begin at
/// the position of the fork, and the join restores it. See [`seek_to`](Writer::seek_to). Where strands
/// write the same bytes, either may win; bytes that no strand writes are zero.
///
/// # Errors
///
/// The errors of [`WriteOptions::create`].
pub fn local(path: impl AsRef<Path>, len: u64, options: &WriteOptions) -> Result<Output> {
    let path = path.as_ref();
    Ok(Output::new(path, Target::Local(options.create(path, len)?)))
}

/// Begins a folder with a file for each thread that writes. [`swath::append::open`] reads the files one
/// after the other. The mode of `options` is ignored.
///
/// # Errors
///
/// The errors of [`swath::append::create`].
pub fn local_files(path: impl AsRef<Path>, options: AppendOptions) -> Result<Output> {
    // The writers have buffers of their own, so the forks need none.
    let options = options.with_mode(Mode::Segments).with_buffer_size(1);
    let path = path.as_ref();
    let output = options.create(path)?;
    Ok(Output::new(path, Target::Files(Files::new(output))))
}

impl Output {
    fn new(path: &Path, target: Target) -> Self {
        Self { shared: Arc::new(SharedTarget::new(path, target)), buffer_size: BUFFER }
    }

    /// Sets the bytes that a writer collects before it writes them. Default: 256 KiB.
    #[must_use]
    pub fn with_buffer_size(mut self, buffer_size: usize) -> Self {
        self.buffer_size = buffer_size;
        self
    }

    /// Makes a writer for one strand, at position 0.
    pub fn writer(&self) -> Writer {
        Writer::new(Arc::clone(&self.shared), self.buffer_size, 0)
    }

    /// Ends writing: the output is complete under its name, and durable unless the options disable it. A file
    /// counts as one extent.
    ///
    /// # Errors
    ///
    /// `ResourceBusy` if a writer is open; the error of a write or of the commit. After any error there is
    /// no output.
    pub fn commit(self) -> io::Result<Committed> {
        // Each open writer has a reference.
        let open = Arc::strong_count(&self.shared) - 1;
        if open > 0 {
            let why = format!("{open} writers are open; try: finish them, and write it again");
            return Err(self.shared.refused(ErrorKind::ResourceBusy, "commit", &why));
        }
        self.shared.commit()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        drop(self.shared.close());
    }
}
