//! Random graphs whose degrees follow a power law, as in the web and in social networks.
//!
//! R-MAT (Chakrabarti, Zhan and Faloutsos, 2004): the matrix is cut into quarters, one of which is chosen
//! with probabilities a, b, c and d and cut again, until a single entry is left.
//!
//! ```text
//! a | b     a = 0.57   b = 0.19     and so on inside of each: rows and columns with many entries
//! --+--     c = 0.19   d = 0.05     have many in common
//! c | d
//! ```
//!
//! Vertices are then renumbered at random, as in Graph500, because neighbours in number would have similar
//! degrees. Every edge depends on the seed and its own number alone, so any worker can make any part of the
//! graph.

use swath::Result;
use swath::append::{Ordered, OrderedReport};
use swath_plan::random::{GAMMA, mix};

use super::write_each;

/// The most levels: a vertex number has half the bits of a word.
const MOST_LEVELS: u32 = 32;

/// A random graph, which is generated while it is written.
///
/// ```
/// use swath::append::{OrderedOptions, ordered};
/// use swath_study::workload::graph::{Rmat, Text};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("graph.mtx");
/// let graph = Rmat::new(10, 5000).with_seed(7); // 1,024 vertices
/// graph.write(Text::MatrixMarket, 2, ordered(&path)?)?;
/// assert!(std::fs::read_to_string(&path)?.contains("1024 1024 5000"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rmat {
    scale: u32,
    edges: u64,
    seed: u64,
    is_shuffled: bool,
}

/// The upper bounds, of 65,536, of the first three quarters, with probabilities 0.57, 0.19 and 0.19.
const BOUNDS: [u64; 3] = [37_355, 49_807, 62_259];

/// The format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Matrix Market, vertices from 1.
    MatrixMarket,
    /// A line for each edge, vertices from 0. A comment states their number.
    Edges,
}

impl Rmat {
    /// Returns a graph of 2^`scale` vertices and `edges` edges, including duplicates and loops.
    ///
    /// # Panics
    ///
    /// If `scale` is above 32.
    pub fn new(scale: u32, edges: u64) -> Self {
        assert!(scale <= MOST_LEVELS, "2^{scale} vertices are more than 2^{MOST_LEVELS}");
        Self { scale, edges, seed: 1, is_shuffled: true }
    }

    /// Sets the seed of the graph. Default 1.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Writes the graph with `workers` threads (0: one for each core), and commits the output. The bytes do not
    /// depend on the number of threads.
    ///
    /// # Errors
    ///
    /// The errors of writing.
    pub fn write(&self, text: Text, workers: usize, output: Ordered) -> Result<OrderedReport> {
        let (vertices, edges) = (1_u64 << self.scale, self.edges);
        let (head, first) = match text {
            Text::MatrixMarket => {
                let banner = "%%MatrixMarket matrix coordinate pattern general";
                (format!("{banner}\n{vertices} {vertices} {edges}\n"), 1)
            }
            Text::Edges => {
                let size = format!("rows={vertices} columns={vertices}");
                (format!("# swath: {size} values=none first=0\n"), 0)
            }
        };
        write_each(output, workers, &head, edges, |index, out| {
            let (from, to) = self.edge(index);
            push(out, from + first, b' ');
            push(out, to + first, b'\n');
        })
    }

    /// Returns the vertices of the edge with this number: from, to.
    pub fn edge(&self, index: u64) -> (u64, u64) {
        let mut state = mix(self.seed).wrapping_add(index.wrapping_mul(STEP));
        let (mut from, mut to) = (0, 0);
        let mut level = 0;
        while level < self.scale {
            // Each random word decides four levels.
            state = state.wrapping_add(GAMMA);
            let mut random = mix(state);
            for _ in level..self.scale.min(level + 4) {
                let chosen = random & 0xffff;
                random >>= 16;
                let [a, b, c] = BOUNDS.map(|bound| u64::from(chosen >= bound));
                // The number of bounds reached is the quarter: 2 and 3 are the lower half, 1 and 3
                // the right one.
                from = from << 1 | b;
                to = to << 1 | ((a ^ b) | c);
            }
            level += 4;
        }
        if self.is_shuffled { (self.shuffled(from), self.shuffled(to)) } else { (from, to) }
    }

    /// Permutes the numbers below 2^scale, by invertible steps.
    fn shuffled(&self, vertex: u64) -> u64 {
        let mask = (1 << self.scale) - 1;
        let half = self.scale / 2 + 1;
        let mut mixed_up = vertex;
        for (turn, odd) in [(0, GAMMA), (21, STEP), (42, 0xd6e8_feb8_6659_fd93)] {
            mixed_up = mixed_up.wrapping_add(self.seed.rotate_left(turn)) & mask;
            mixed_up = mixed_up.wrapping_mul(odd) & mask;
            mixed_up ^= mixed_up >> half;
        }
        mixed_up
    }
}

/// The step from one edge to the next: odd, and different from [`GAMMA`].
const STEP: u64 = 0xa076_1d64_78bd_642f;

/// Appends a number and the byte after it.
fn push(out: &mut Vec<u8>, mut number: u64, after: u8) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        // A digit, below 10.
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(after);
}

#[cfg(test)]
mod tests {
    use super::*;
    use swath::append::OrderedOptions;
    use swath::sink::Durability;
    use swath_formats::matrix::{self, AnyCoo};

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
        let graph = Rmat { is_shuffled: false, ..Rmat::new(1, 0) };
        let mut counts = [0_u32; 4];
        for index in 0..100_000 {
            let (from, to) = graph.edge(index);
            counts[usize::try_from(2 * from + to).expect("one of four")] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            assert!((f64::from(count) / 100_000.0 - share).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn random_graphs_are_the_same_for_every_number_of_workers() {
        let folder = tempfile::tempdir().expect("a folder");
        let graph = Rmat::new(12, 100_000).with_seed(42);
        let path = folder.path().join("graph");
        let written = |workers, text| {
            let out = OrderedOptions::new()
                .with_output(swath::OutputOptions::new().with_durability(Durability::None))
                .ordered(&path);
            graph.write(text, workers, out.expect("begun")).expect("written");
            std::fs::read(&path).expect("text")
        };
        for text in [Text::MatrixMarket, Text::Edges] {
            let first = written(1, text);
            for workers in 2..=8 {
                assert!(written(workers, text) == first, "{workers} workers");
            }
            let read = matrix::read(path.as_path()).expect("a graph");
            let AnyCoo::U32(read) = read else { panic!("few vertices") };
            assert_eq!((read.row_count, read.column_count), (4096, 4096));
            let ends = read.rows.iter().zip(read.columns.iter());
            let ends = ends.map(|(&from, &to)| (u64::from(from), u64::from(to)));
            assert!(ends.eq((0..100_000).map(|index| graph.edge(index))));
        }
    }

    #[test]
    #[should_panic(expected = "more than 2^32")]
    fn too_many_vertices_are_refused() {
        let _ = Rmat::new(33, 1);
    }
}
