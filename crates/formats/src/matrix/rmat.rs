//! Random graphs whose degrees follow a power law, as those of the web and of friends do.
//!
//! R-MAT (Chakrabarti, Zhan and Faloutsos, 2004): the matrix is cut into quarters, one of them is
//! chosen with probabilities a, b, c and d, that one is cut again, until a single entry is left.
//!
//! ```text
//! a | b     a = 0.57   b = 0.19     and so on inside of each: rows and columns with many entries
//! --+--     c = 0.19   d = 0.05     have many in common
//! c | d
//! ```
//!
//! Vertices are then renumbered at random, as Graph500 does, or neighbours in number would have
//! similar degrees. Every edge is made from the seed and its own number alone, so all workers make
//! any part of the same graph.

use std::ops::Range;
use swath::Output;
use swath::append::OrderedReport;

use crate::error::{Error, FormatReason, Result};
use crate::matrix::header::Symmetry;
use crate::matrix::value::Values;
use crate::matrix::write::{self, Listing, MatrixWriteOptions};
use crate::random::{ODD, mixed};

/// The most levels: numbers of vertices have half the bits of a word.
const MOST_LEVELS: u32 = 32;

/// A random graph that is made as it is written.
///
/// ```
/// use swath_formats::matrix::{MatrixWriteOptions, Rmat};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("graph.mtx");
/// let graph = Rmat::new(10, 5000).with_seed(7); // 1,024 vertices
/// graph.write(&path, &MatrixWriteOptions::new())?;
/// # assert!(std::fs::read_to_string(&path).unwrap().contains("1024 1024 5000"));
/// # Ok::<(), swath_formats::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rmat {
    scale: u32,
    edges: u64,
    seed: u64,
    /// Of 65,536: up to where each of the first three quarters is chosen.
    bounds: [u64; 3],
    is_shuffled: bool,
}

/// Edges have no weights.
static NO_VALUES: Values = Values::None;

impl Rmat {
    /// A graph of 2^`scale` vertices and so many edges, duplicates and loops among them. `scale` is
    /// at most 32.
    pub fn new(scale: u32, edges: u64) -> Self {
        Self { scale, edges, seed: 1, bounds: bounds(0.57, 0.19, 0.19), is_shuffled: true }
    }

    /// What the graph is made from: another seed, another graph. Default 1.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How probable the first three quarters are, in 65,536ths; the last one has the rest. Default:
    /// 0.57, 0.19, 0.19.
    #[must_use]
    pub fn with_probabilities(mut self, a: f64, b: f64, c: f64) -> Self {
        self.bounds = bounds(a, b, c);
        self
    }

    /// Leaves vertices in the order of the quarters: low numbers have many edges.
    #[must_use]
    pub fn without_shuffle(mut self) -> Self {
        self.is_shuffled = false;
        self
    }

    /// Writes the graph.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Invalid`] if the scale is above 32; of writing.
    pub fn write(
        &self,
        path: impl Into<Output>,
        options: &MatrixWriteOptions,
    ) -> Result<OrderedReport> {
        let output = path.into();
        if self.scale > MOST_LEVELS {
            let detail = format!("2^{} vertices are more than 2^{MOST_LEVELS}", self.scale);
            return Err(Error::writing(output.name(), FormatReason::Invalid, detail));
        }
        write::write(self, output, options)
    }

    /// The edge with this number: from which vertex to which.
    ///
    /// # Panics
    ///
    /// If the scale is above 32.
    pub fn edge(&self, index: u64) -> (u64, u64) {
        assert!(self.scale <= MOST_LEVELS, "a scale of {}", self.scale);
        let mut state = mixed(self.seed).wrapping_add(index.wrapping_mul(STEP));
        let (mut from, mut to) = (0, 0);
        let mut level = 0;
        while level < self.scale {
            // Four levels from each random word.
            state = state.wrapping_add(ODD);
            let mut random = mixed(state);
            for _ in level..self.scale.min(level + 4) {
                let chosen = random & 0xffff;
                random >>= 16;
                let [a, b, c] = self.bounds.map(|bound| u64::from(chosen >= bound));
                // Quarters 0 to 3 are how many bounds were reached; the lower half from 2 on, the
                // right one in 1 and 3.
                from = from << 1 | b;
                to = to << 1 | ((a ^ b) | c);
            }
            level += 4;
        }
        if self.is_shuffled { (self.shuffled(from), self.shuffled(to)) } else { (from, to) }
    }

    /// Another number below 2^scale for each: steps that can all be taken back.
    fn shuffled(&self, vertex: u64) -> u64 {
        let mask = (1 << self.scale) - 1;
        let half = self.scale / 2 + 1;
        let mut mixed_up = vertex;
        for (turn, odd) in [(0, ODD), (21, STEP), (42, 0xd6e8_feb8_6659_fd93)] {
            mixed_up = mixed_up.wrapping_add(self.seed.rotate_left(turn)) & mask;
            mixed_up = mixed_up.wrapping_mul(odd) & mask;
            mixed_up ^= mixed_up >> half;
        }
        mixed_up
    }
}

/// Odd, and unlike the other: from one edge to the next.
const STEP: u64 = 0xa076_1d64_78bd_642f;

fn bounds(a: f64, b: f64, c: f64) -> [u64; 3] {
    // Saturates: what is no probability is 0 or 1.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped before"
    )]
    let bound = |share: f64| (share * 65_536.0).clamp(0.0, 65_536.0) as u64;
    [bound(a), bound(a + b), bound(a + b + c)]
}

impl Listing for Rmat {
    fn size(&self) -> (u64, u64) {
        (1 << self.scale, 1 << self.scale)
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::General
    }

    fn entry_count(&self) -> u64 {
        self.edges
    }

    fn values(&self) -> &Values {
        &NO_VALUES
    }

    fn uses(&self, _: u64, _: usize) -> bool {
        false
    }

    fn list(&self, range: Range<u64>, mut each: impl FnMut(u64, u64)) {
        for index in range {
            let (from, to) = self.edge(index);
            each(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renumbering_is_a_permutation() {
        for scale in 0..=12 {
            for seed in [0, 1, u64::MAX] {
                let graph = Rmat::new(scale, 0).with_seed(seed);
                let mut seen: Vec<u64> = (0..1 << scale).map(|it| graph.shuffled(it)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..1 << scale), "scale {scale}");
            }
        }
    }

    #[test]
    fn quarters_are_as_frequent_as_asked_for() {
        let graph = Rmat::new(1, 0).without_shuffle();
        let mut counts = [0_u32; 4];
        for index in 0..100_000 {
            let (from, to) = graph.edge(index);
            counts[usize::try_from(2 * from + to).expect("one of four")] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            assert!((f64::from(count) / 100_000.0 - share).abs() < 0.01, "{counts:?}");
        }
    }
}
