//! Trees of files, as inputs: made for a case, in the page cache or out of it, and removed.

use crate::bench::{Bench, Residency};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use swath_study::cache;
use swath_study::harness::Expected;
use swath_study::many::tree::{Made, Spread, Tree, make};
use swath_study::many::{Glance, plain, residency};

/// How many files of which size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    files: u64,
    size: u64,
    label: &'static str,
}

impl Shape {
    pub(crate) const WARM: Self = Self { files: 100_000, size: 10_000, label: "100k-10kB" };
    pub(crate) const COLD: Self = Self { files: 20_000, size: 10_000, label: "20k-10kB" };
    /// Study B's three.
    pub(crate) const SMALL: Self = Self { files: 500, size: 10_000, label: "500-10kB" };
    pub(crate) const MEDIUM: Self = Self { files: 124, size: 1_000_000, label: "124-1MB" };
    pub(crate) const LARGE: Self = Self { files: 31, size: 3_600_000, label: "31-3.6MB" };

    /// The same bytes in files of three sizes, for readers whose time is not linear.
    pub(crate) const LINES: [Self; 3] = [
        Self { files: 100, size: 10_000, label: "100-10kB" },
        Self { files: 10, size: 100_000, label: "10-100kB" },
        Self { files: 2, size: 500_000, label: "2-500kB" },
    ];

    /// What people call it.
    pub(crate) fn label(self) -> &'static str {
        self.label
    }

    /// Fewer and smaller files for smoke tests.
    fn tree(self, quick: bool) -> Tree {
        let (most, largest) = if quick { (40, 100_000) } else { (u64::MAX, u64::MAX) };
        let (files, size) = (self.files.min(most), self.size.min(largest));
        Tree { files, size, spread: Spread::Even, seed: 1 }
    }
}

/// Files to read. Removed when dropped.
pub(crate) struct Files {
    pub(crate) folder: PathBuf,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) made: Made,
    /// What is left of them where bytes are not kept.
    pub(crate) glance: Glance,
}

impl Files {
    /// Makes them in the folder of the inputs.
    pub(crate) fn make(bench: &Bench, shape: Shape) -> Result<Self> {
        let folder = bench.folder().join(format!("tree-{}", shape.label));
        eprintln!("making {}", folder.display());
        // Left by a run that was ended.
        let _ = fs::remove_dir_all(&folder);
        let tree = shape.tree(bench.quick);
        let made = make(&tree, &folder, 0)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let paths = tree.paths(&folder);
        let glance = plain::read_and_drop(&paths, 1).context("cannot read the files back")?;
        // Writing back must not run beside the first measurements, and warm means that somebody
        // read them. Where files do not leave the cache, cold cases say so.
        let _ = residency::make_all_cold(&paths, bench.cold_by);
        Ok(Self { folder, paths, made, glance })
    }

    /// Returns the bytes of all files.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.made.bytes).expect("inputs fit into memory")
    }

    /// What those give who keep all bytes: the sum of them.
    pub(crate) fn kept(&self, repeats: u64) -> Expected {
        Expected { bytes: self.made.bytes * repeats, checksum: self.made.sum }
    }

    /// What those give who keep none.
    pub(crate) fn glanced(&self, repeats: u64) -> Expected {
        Expected { bytes: self.made.bytes * repeats, checksum: self.glance.sum }
    }

    /// Brings all files into a state, and then touches as much memory as the run and the page
    /// cache will take.
    pub(crate) fn prepare(&self, bench: &Bench, state: Residency, own: usize) -> Result<()> {
        let cached = match state {
            Residency::Warm => residency::make_all_warm(&self.paths).map(|()| 0)?,
            Residency::Cold => {
                residency::make_all_cold(&self.paths, bench.cold_by).map(|()| self.len())?
            }
            Residency::Half => bail!("many files are warm or cold"),
        };
        match own + cached {
            0 => Ok(()),
            len => cache::touch_memory(len).context("cannot touch memory"),
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Files that stay are replaced by the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
