//! Cheerio's modes: strands that write one file, or a file each, in no order.
//!
//! Study E compares its append with these. A product has no use for them: what is in the file
//! depends on who ran when. So they are here, on what [`swath`] offers to everybody.
//!
//! ```text
//! global       one file, one position      records in the order of arrival    tickets, taken when full
//! local        one file, a position each   bytes where each strand seeks to   writes by place
//! local files  a file each                 records, one file after the other  forks of a folder of segments
//! ```
//!
//! A record is what one call of `write_all` or `write!` leaves, or what one call of
//! [`record`](Writer::record) writes. In global mode and in files of their own records stay whole;
//! those of one strand come in its order, perhaps with those of others between. What a branch has
//! left stays, also if one before it in serial order fails later: without an order there is nothing
//! to undo.
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

use self::target::{Files, Shared, Target};
pub use self::writer::Writer;

/// As much as a strand of Swath collects.
const BUFFER: usize = 256 << 10;

/// An output that is being written; nothing of it is visible before [`commit`](Self::commit).
///
/// Dropped without a commit, it leaves nothing. Writers that are open fail from there on.
#[derive(Debug)]
pub struct Output {
    shared: Arc<Shared>,
    buffer_size: usize,
}

/// Begins one file with one position that all strands share.
///
/// # Errors
///
/// Those of [`ordered`](swath::append::ordered()).
pub fn global(path: impl AsRef<Path>, options: OrderedOptions) -> Result<Output> {
    let path = path.as_ref();
    Ok(Output::new(path, Target::Global(options.ordered(path)?)))
}

/// Begins one file of `len` bytes in which each strand has a position: a fork gives both branches
/// the position of the fork, and after the join it is there again. See
/// [`seek_to`](Writer::seek_to). Where strands write the same bytes, either may win; what nobody
/// writes is zero.
///
/// # Errors
///
/// Those of [`WriteOptions::create`].
pub fn local(path: impl AsRef<Path>, len: u64, options: &WriteOptions) -> Result<Output> {
    let path = path.as_ref();
    Ok(Output::new(path, Target::Local(options.create(path, len)?)))
}

/// Begins a folder with a file for each thread that writes. [`swath::append::open`] reads the files one
/// after the other. The mode of `options` does not count.
///
/// # Errors
///
/// Those of [`swath::append::create`].
pub fn local_files(path: impl AsRef<Path>, options: AppendOptions) -> Result<Output> {
    // Writers collect: what they leave goes to the file at once.
    let options = options.with_mode(Mode::Segments).with_buffer_size(1);
    let path = path.as_ref();
    let output = options.create(path)?;
    Ok(Output::new(path, Target::Files(Files::new(output))))
}

impl Output {
    fn new(path: &Path, target: Target) -> Self {
        Self { shared: Arc::new(Shared::new(path, target)), buffer_size: BUFFER }
    }

    /// Bytes that a writer collects before it leaves them. Default: 256 KiB.
    #[must_use]
    pub fn with_buffer_size(mut self, buffer_size: usize) -> Self {
        self.buffer_size = buffer_size;
        self
    }

    /// Makes a writer for one strand, at position 0.
    #[must_use]
    pub fn writer(&self) -> Writer {
        Writer::new(Arc::clone(&self.shared), self.buffer_size, 0)
    }

    /// Ends writing: the output is complete under its name, and durable unless the options say
    /// otherwise. A file counts as one extent.
    ///
    /// # Errors
    ///
    /// `ResourceBusy` if a writer is open: the output is given up then, as with every error. What
    /// made writing or the commit fail.
    pub fn commit(self) -> io::Result<Committed> {
        // Each writer holds it too.
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
