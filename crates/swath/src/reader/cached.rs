//! Blocks in the page cache: the consumer's own thread reads them faster than another thread could pass them on,
//! into memory that stays in its core's cache.

use std::num::NonZeroUsize;

use swath_plan::extent::Extent;
use swath_plan::policy::Engine;

use super::{FIRST, Reader};
use crate::buffer::Buffer;
use crate::engine::fill::read_cached;
use crate::error::Result;
use crate::timeline::Activity;

impl Reader {
    /// Whether the options allow any thread to read a block.
    pub(super) fn may_read_cached(&self) -> bool {
        let wishes = &self.options.wishes;
        let is_open = wishes.engine == Engine::Auto && wishes.workers <= 1;
        self.plain() && is_open && !self.keeps_ahead
    }

    /// Makes other threads read all but the first block, even bytes in the page cache, which the calling thread
    /// would otherwise read itself. This pays if that thread works on a block for longer than a copy takes, as a
    /// decoder does, and if another core is idle.
    ///
    /// ```
    /// use std::io::Read;
    /// # let file = tempfile::NamedTempFile::new()?;
    /// # std::fs::write(file.path(), vec![7; 3 << 20])?;
    /// let mut reader = swath::reader(file.path())?;
    /// reader.keep_ahead();
    /// let mut bytes = Vec::new();
    /// reader.read_to_end(&mut bytes)?;
    /// assert_eq!(bytes.len(), 3 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_ahead(&mut self) {
        self.keeps_ahead = true;
    }

    /// Returns the part of the next block that is in the page cache; `None` if there is none, or if the file
    /// system cannot tell.
    pub(super) fn read_cached(&self, rest: Extent, used: Buffer) -> Result<Option<Buffer>> {
        let len = rest.len().min(FIRST);
        let extent = Extent::between(rest.offset(), rest.offset() + len);
        let name = self.source.name();
        let Some(file) = self.source.file() else { return Ok(None) };
        self.observer.check(name, extent)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut block = match used {
            used if used.capacity() >= len => used,
            _ => self.source.block(&self.options.pool, len)?,
        };
        block.narrow(0, len);
        let hooks = self.observer.hooks();
        let came = hooks.record(Activity::Read, name, extent, || {
            NonZeroUsize::new(read_cached(file, extent.offset(), &mut block)).ok_or(())
        });
        let Ok(came) = came.map(NonZeroUsize::get) else { return Ok(None) };
        block.narrow(0, came);
        self.observer.delivered(came as u64);
        Ok(Some(block))
    }
}
