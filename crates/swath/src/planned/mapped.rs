//! Maps files that the caller wants mapped, or where a map is faster.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use swath_os::map::{Map, MapAdvice, MapFlags, Permit};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, Facts, PageCache};

use super::facts::{WINDOWS, facts};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::AtomicUsize;
use crate::options::{MapPages, PageSize, ReadOptions};
use crate::source::{OpenSource, Source, SourceLength};

/// A file that is processed through a map.
pub(crate) struct Mapping<'f> {
    pub(crate) source: Arc<OpenSource>,
    pub(crate) facts: Facts,
    /// A map of the requested extent.
    pub(crate) map: Map<'f>,
}

impl ReadOptions {
    /// Maps the file of `permit` if the engine says so; or if all of it is in the page cache and
    /// a map `is_welcome` there.
    pub(crate) fn map_to_consume<'f>(
        &self,
        permit: Permit<'f>,
        name: &Path,
        is_welcome: impl FnOnce(Extent, &OpenSource) -> bool,
    ) -> Result<Option<Mapping<'f>>> {
        let (source, Some(extent)) = self.open_mapped(&permit, name)? else { return Ok(None) };
        let facts = facts(&source, extent, self, WINDOWS);
        let is_to_be = match self.wishes.engine {
            Engine::Map => true,
            Engine::Auto => {
                // A map of cached bytes brings none into the page cache, so a file that is too large to be kept
                // may be mapped too, unless the caller wants it kept out.
                let is_kept =
                    facts.direct.is_none() || self.wishes.page_cache == PageCache::Auto;
                is_kept && facts.is_resident() && is_welcome(extent, &source)
            }
            _ => false,
        };
        if !is_to_be {
            return Ok(None);
        }
        let map = match self.map_extent(permit, &source, extent) {
            // A limit on address space does not keep from reading.
            Err(error)
                if self.wishes.engine == Engine::Auto
                    && error.io_kind() == io::ErrorKind::OutOfMemory =>
            {
                return Ok(None);
            }
            map => map?,
        };
        Ok(Some(Mapping { source, facts, map }))
    }

    /// Opens the file of `permit`; returns the extent to map, or `None` if there is nothing to
    /// map: no bytes, or bytes that the kernel generates when they are read.
    pub(crate) fn open_mapped(
        &self,
        permit: &Permit<'_>,
        name: &Path,
    ) -> Result<(Arc<OpenSource>, Option<Extent>)> {
        let file = permit.file().try_clone();
        let file = file.map_err(|error| Error::io(Operation::Open, name, error))?;
        let source = OpenSource::open(Source::file(file, name))?;
        let extent = match source.kind() {
            SourceLength::Sized(len) => Some(self.extent_of(&source, len)?),
            SourceLength::Made => None,
            SourceLength::Stream => {
                let error = Error::new(Operation::Map, Reason::Invalid, name);
                return Err(error.detail("only regular files can be mapped"));
            }
        };
        Ok((source, extent.filter(|extent| !extent.is_empty())))
    }

    pub(crate) fn map_extent<'f>(
        &self,
        permit: Permit<'f>,
        source: &OpenSource,
        extent: Extent,
    ) -> Result<Map<'f>> {
        let fail = |error: io::Error| match error.kind() {
            // The file has shrunk since it was opened.
            io::ErrorKind::UnexpectedEof => source.shrunk(extent),
            _ => Error::io(Operation::Map, source.name(), error).at(extent),
        };
        let flags = MapFlags {
            populate: self.map_pages == MapPages::WhenMade,
            huge_page: self.map_page_size == PageSize::Huge,
        };
        let too_large = |_| fail(io::ErrorKind::OutOfMemory.into());
        let len = usize::try_from(extent.len()).map_err(too_large)?;
        let map = Map::new(permit, extent.offset(), len, flags).map_err(fail)?;
        if let Some(advice) = self.advice.for_map() {
            map.advise(0, len, advice).map_err(fail)?;
        }
        Ok(map)
    }
}

/// A map whose workers give its pages back, each a share when it ends; otherwise the final `munmap`
/// would do it all on one thread.
pub(crate) struct Shares<'m> {
    map: &'m Map<'m>,
    workers: usize,
    ended: AtomicUsize,
}

impl<'m> Shares<'m> {
    pub(crate) fn new(map: &'m Map<'m>, workers: usize) -> Self {
        Self { map, workers, ended: AtomicUsize::new(0) }
    }

    /// Gives back the share of a worker that ends.
    pub(crate) fn give_back(&self) {
        // Relaxed: only gives each worker a number.
        let index = self.ended.fetch_add(1, Ordering::Relaxed);
        let share = self.map.len().div_ceil(self.workers.max(1));
        let from = share.saturating_mul(index).min(self.map.len());
        let len = share.min(self.map.len() - from);
        if len > 0 && self.workers > 1 {
            // A worker that is not done finds its pages in the page cache.
            let _ = self.map.advise(from, len, MapAdvice::DontNeed);
        }
    }
}
