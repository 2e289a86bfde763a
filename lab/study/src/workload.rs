//! Makes inputs with the same bytes on every machine.
//!
//! A file depends on its [`Recipe`] alone, not on the number of workers: bytes and letters are functions of
//! their position, and lines of numbers come in blocks, which are functions of their index and follow in
//! order.
//!
//! ```text
//! bytes, letters   |block 0|block 1|block 2|bl|       cut at the size, to the byte
//! lines of numbers |block 0  |block 1 |block 2 |b|    cut at the last line end before it
//! ```
//!
//! ```
//! use swath_study::workload::{FileContent, Recipe, generate};
//!
//! let path = std::env::temp_dir().join(format!("swath-letters-{}", std::process::id()));
//! let made = generate(Recipe { kind: FileContent::Letters, size: 1000, seed: 1 }, &path, 2)?;
//! assert_eq!(made.bytes, 1000);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod contracts;
pub mod graph;

use crate::threads::each;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use swath_os::locks::{Condvar, Mutex};
use swath_plan::random::{fraction, word};

use swath::append::{Ordered, OrderedOptions, OrderedReport};
use swath::sink::Durability;
use swath::{OutputOptions, Positional, Result, WriteOptions};

/// Bytes or letters made and written at one time.
const BLOCK_SIZE: u64 = 1 << 20;

/// Numbers in one line, as in study A.
pub const NUMBERS_PER_LINE: usize = 1024;

/// Lines of numbers made and written at one time: about 750 KiB.
const LINES_PER_BLOCK: u64 = 128;

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// Random bytes.
    Bytes,
    /// Random letters A to Z. 26 does not divide 256, so some letters come 10 times where others come 9 times.
    Letters,
    /// Lines of 1,024 random numbers from 0 to 65,535, separated by commas.
    CsvNumbers,
    /// Lines of random numbers in any other style.
    Csv(Table),
}

/// The form of a table's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Numbers in one line, separated by commas; 1 or more.
    pub columns: usize,
    /// The form of a number.
    pub style: Style,
}

/// The form of a number in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// From 0 to 65,535.
    Integers,
    /// From 0 to 1, with this many digits after the point; 17 digits distinguish all doubles.
    Fractions(usize),
    /// From -1,000 to 1,000, with this many digits after the point.
    Fixed(usize),
}

/// The recipe of a file: it determines every byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The kind of content.
    pub kind: FileContent,
    /// The length in bytes. A file of lines ends with the last whole line within it, but has at least one line
    /// unless `size` is 0.
    pub size: u64,
    /// The seed of the bytes.
    pub seed: u64,
}

/// A generated file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// The file's length.
    pub bytes: u64,
    /// The number of line ends.
    pub lines: u64,
    /// The sum of the bytes, for the check of readers.
    pub sum: u64,
}

impl Generated {
    fn of(bytes: &[u8]) -> Self {
        let lines = swath_simd::count(bytes, b'\n');
        Self { bytes: bytes.len() as u64, lines, sum: swath_simd::sum(bytes) }
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.sum += other.sum;
    }
}

/// Writes the file of `recipe` to `path` with `workers` threads (0: one per CPU), as [`swath::write()`]
/// does: whole or not at all, replacing an existing file. The data is not synced to the device: see
/// [`generate_file`].
///
/// # Errors
///
/// As [`WriteOptions::write`].
pub fn generate(recipe: Recipe, path: &Path, workers: usize) -> Result<Generated> {
    generate_file(recipe, path, workers, OutputOptions::new().with_durability(Durability::None))
}

/// Writes the file as [`generate`] does, with options: whether the file may exist, and whether it survives
/// a power cut.
///
/// # Errors
///
/// As [`generate`].
pub fn generate_file(
    recipe: Recipe,
    path: &Path,
    workers: usize,
    output: OutputOptions,
) -> Result<Generated> {
    let Some(fill) = fill_of(recipe.kind) else {
        let out = OrderedOptions::new().with_output(output).ordered(path)?;
        return generate_stream(recipe, workers, out);
    };
    let out = WriteOptions::new().with_output(output).create(path, recipe.size)?;
    let made = write_blocks(&out, recipe, usable(workers), fill)?;
    out.commit()?;
    Ok(made)
}

/// Writes the bytes of `recipe` to `out` in order, with `workers` threads (0: one per CPU), and commits it.
///
/// # Errors
///
/// The errors of writing.
pub fn generate_stream(recipe: Recipe, workers: usize, out: Ordered) -> Result<Generated> {
    let (size, seed, workers) = (recipe.size, recipe.seed, usable(workers));
    match recipe.kind {
        FileContent::Bytes => write_in_order(out, recipe, workers, fill_bytes),
        FileContent::Letters => write_in_order(out, recipe, workers, fill_letters),
        FileContent::CsvNumbers => {
            let decimals = Decimals::new();
            let fill = |block: &mut Vec<u8>, index| fill_lines(block, &decimals, seed, index);
            write_lines(out, size, workers, &fill)
        }
        FileContent::Csv(table) => write_lines(out, size, workers, &|block, index| {
            fill_table(block, table, seed, index);
        }),
    }
}

/// Returns the number of threads: 0 means one per CPU.
fn usable(workers: usize) -> usize {
    match workers {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        count => count.min(MOST_WORKERS),
    }
}

/// Returns the function that fills a block, for kinds with blocks of one size.
fn fill_of(kind: FileContent) -> Option<Fill> {
    match kind {
        FileContent::Bytes => Some(fill_bytes as Fill),
        FileContent::Letters => Some(fill_letters),
        FileContent::CsvNumbers | FileContent::Csv(_) => None,
    }
}

/// Fills a block with the words of a seed, from a given word on.
type Fill = fn(&mut [u8], u64, u64);

/// Runs `work` on `workers` threads, or fewer if they cannot be started, and adds up the results.
fn fork(workers: usize, work: impl Fn() -> Result<Generated> + Sync) -> Result<Generated> {
    let made = each(vec![(); workers], |()| work()).results;
    made.into_iter().try_fold(Generated::default(), |mut total, made| {
        total.add(made?);
        Ok(total)
    })
}

/// Writes a head and `count` lines, each a function of its number, with `workers` threads (0: one for each
/// core), and commits the output.
fn write_each(
    output: Ordered,
    workers: usize,
    head: &str,
    count: u64,
    each: impl Fn(u64, &mut Vec<u8>) + Sync,
) -> Result<OrderedReport> {
    /// Lines written together: some hundred kB.
    const CHUNK: u64 = 1 << 14;
    let chunks = 0..count.div_ceil(CHUNK).max(1);
    output.map_ordered(chunks, workers, |chunk, ticket| -> Result<()> {
        let out = ticket.buffer();
        if chunk == 0 {
            out.extend_from_slice(head.as_bytes());
        }
        (chunk * CHUNK..count.min((chunk + 1) * CHUNK)).for_each(|index| each(index, out));
        Ok(())
    })?;
    output.commit()
}

/// The most threads: a larger number is a mistake.
const MOST_WORKERS: usize = 1024;

/// Writes blocks of one size, each at the place of its index.
fn write_blocks(
    out: &Positional,
    recipe: Recipe,
    workers: usize,
    fill: Fill,
) -> Result<Generated> {
    let next = AtomicU64::new(0);
    fork(workers, || {
        let mut made = Generated::default();
        let mut block = vec![0; usize::try_from(BLOCK_SIZE.min(recipe.size)).unwrap_or(0)];
        loop {
            // Relaxed: only the number matters; joining the threads orders the rest.
            let offset = next.fetch_add(1, Ordering::Relaxed).saturating_mul(BLOCK_SIZE);
            if offset >= recipe.size {
                return Ok(made);
            }
            let len = BLOCK_SIZE.min(recipe.size - offset);
            let part = &mut block[..usize::try_from(len).unwrap_or(usize::MAX)];
            fill(part, recipe.seed, offset / 8);
            out.write_at(part, offset)?;
            made.add(Generated::of(part));
        }
    })
}

/// Writes blocks of one size in order.
fn write_in_order(
    out: Ordered,
    recipe: Recipe,
    workers: usize,
    fill: Fill,
) -> Result<Generated> {
    let made = Mutex::new(Generated::default());
    let blocks = 0..recipe.size.div_ceil(BLOCK_SIZE);
    out.map_ordered(blocks, workers, |index, ticket| -> Result<()> {
        let offset = index * BLOCK_SIZE;
        let len = BLOCK_SIZE.min(recipe.size - offset);
        let block = ticket.buffer();
        block.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        fill(block, recipe.seed, offset / 8);
        made.lock().add(Generated::of(block));
        Ok(())
    })?;
    out.commit()?;
    Ok(made.into_inner())
}

/// Fills `target` with the words of `seed` from `first_word` on.
fn fill_bytes(target: &mut [u8], seed: u64, first_word: u64) {
    let mut index = first_word;
    let mut words = target.chunks_exact_mut(8);
    for eight in &mut words {
        eight.copy_from_slice(&word(seed, index).to_le_bytes());
        index += 1;
    }
    let rest = words.into_remainder();
    rest.copy_from_slice(&word(seed, index).to_le_bytes()[..rest.len()]);
}

/// Fills `target` with letters, each made from a byte of [`fill_bytes`].
pub(crate) fn fill_letters(target: &mut [u8], seed: u64, first_word: u64) {
    fill_bytes(target, seed, first_word);
    for byte in target {
        // The upper half of the product is below 26.
        *byte = b'A' + (u16::from(*byte) * 26).to_be_bytes()[0];
    }
}

/// Writes blocks of lines in order.
fn write_lines(
    out: Ordered,
    size: u64,
    workers: usize,
    fill: &(dyn Fn(&mut Vec<u8>, u64) + Sync),
) -> Result<Generated> {
    let (queue, made) = (BlockQueue::new(size), Mutex::new(Generated::default()));
    let blocks = (0..).take_while(|_| !queue.is_closed());
    out.map_ordered(blocks, workers, |index, ticket| -> Result<()> {
        let block = ticket.buffer();
        fill(block, index);
        // No deadlock: earlier blocks already have their tickets.
        block.truncate(queue.place(index, block));
        let more = Generated::of(block);
        made.lock().add(more);
        Ok(())
    })?;
    out.commit()?;
    Ok(made.into_inner())
}

/// Fills `block` with the lines of block `index`.
fn fill_lines(block: &mut Vec<u8>, decimals: &Decimals, seed: u64, index: u64) {
    const WORDS_PER_LINE: u64 = NUMBERS_PER_LINE as u64 / 4;
    block.clear();
    let first_line = index * LINES_PER_BLOCK;
    for line in first_line..first_line + LINES_PER_BLOCK {
        for number in line * WORDS_PER_LINE..(line + 1) * WORDS_PER_LINE {
            decimals.append(word(seed, number), block);
        }
        // The comma after the last number becomes the line's end.
        *block.last_mut().expect("a line has numbers") = b'\n';
    }
}

/// Fills `block` with the lines of block `index` of a table.
fn fill_table(block: &mut Vec<u8>, table: Table, seed: u64, index: u64) {
    /// Numbers of a block: about as much text as a block of bytes.
    const NUMBERS_PER_BLOCK: u64 = 64 << 10;
    block.clear();
    let columns = table.columns.max(1) as u64;
    let lines = (NUMBERS_PER_BLOCK / columns).max(1);
    for line in index * lines..(index + 1) * lines {
        for number in line * columns..(line + 1) * columns {
            push_number(block, table.style, seed, number);
            block.push(b',');
        }
        // The comma after the last number becomes the line's end.
        *block.last_mut().expect("a line has numbers") = b'\n';
    }
}

fn push_number(block: &mut Vec<u8>, style: Style, seed: u64, index: u64) {
    let fraction = fraction(seed, index);
    let written = match style {
        Style::Integers => write!(block, "{}", word(seed, index) >> 48),
        Style::Fractions(decimals) => write!(block, "{fraction:.decimals$}"),
        Style::Fixed(decimals) => write!(block, "{:.decimals$}", fraction * 2000.0 - 1000.0),
    };
    written.expect("a vector takes everything");
}

/// The text of every number from 0 to 65,535, each with a comma.
struct Decimals {
    texts: Vec<[u8; 8]>,
}

impl Decimals {
    /// Makes the texts: at most six bytes each, with the length in the last byte.
    fn new() -> Self {
        let text = |number: u16| {
            let digits = format!("{number},");
            let mut text = [0; 8];
            text[..digits.len()].copy_from_slice(digits.as_bytes());
            text[7] = u8::try_from(digits.len()).expect("at most six");
            text
        };
        Self { texts: (0..=u16::MAX).map(text).collect() }
    }

    /// Appends the four numbers of `word`.
    #[inline]
    fn append(&self, word: u64, block: &mut Vec<u8>) {
        for number in [word, word >> 16, word >> 32, word >> 48] {
            let [low, high, ..] = number.to_le_bytes();
            let text = self.texts[usize::from(u16::from_le_bytes([low, high]))];
            // Copy eight bytes with one store, then cut the excess off.
            let end = block.len() + usize::from(text[7]);
            block.extend_from_slice(&text);
            block.truncate(end);
        }
    }
}

/// Decides how much of each block the file holds, in the order of the indexes.
struct BlockQueue {
    size: u64,
    state: Mutex<QueueState>,
    moved: Condvar,
}

struct QueueState {
    next_index: u64,
    offset: u64,
    closed: bool,
}

impl BlockQueue {
    fn new(size: u64) -> Self {
        let state = QueueState { next_index: 0, offset: 0, closed: size == 0 };
        Self { size, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Waits for the blocks before `index`; returns the number of bytes of `block` that fit.
    fn place(&self, index: u64, block: &[u8]) -> usize {
        let waiting = |state: &mut QueueState| !state.closed && state.next_index != index;
        let state = self.moved.wait_while(self.state.lock(), waiting);
        let mut state = state;
        if state.closed {
            return 0;
        }
        let offset = state.offset;
        let part = whole_lines(block, self.size.saturating_sub(offset), offset == 0);
        state.offset += part.len() as u64;
        state.next_index += 1;
        state.closed = part.len() < block.len();
        drop(state);
        self.moved.notify_all();
        part.len()
    }

    /// Returns whether the file is full.
    fn is_closed(&self) -> bool {
        self.state.lock().closed
    }
}

/// Returns the whole lines of `block` that fit into `room`; at least one line if the block is the first.
fn whole_lines(block: &[u8], room: u64, is_first: bool) -> &[u8] {
    let room = usize::try_from(room).unwrap_or(usize::MAX).min(block.len());
    let is_end = |&byte: &u8| byte == b'\n';
    match block[..room].iter().rposition(is_end) {
        Some(end) => &block[..=end],
        None if is_first => &block[..=block.iter().position(is_end).expect("it has lines")],
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::ErrorKind;

    const FIXED: FileContent = FileContent::Csv(Table { columns: 8, style: Style::Fixed(6) });
    const KINDS: [FileContent; 4] =
        [FileContent::Bytes, FileContent::Letters, FileContent::CsvNumbers, FIXED];

    fn made(kind: FileContent, size: u64, workers: usize) -> (Generated, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("made");
        let generated = generate(Recipe { kind, size, seed: 9 }, &path, workers);
        (generated.expect("it is made"), fs::read(&path).expect("it is there"))
    }

    #[test]
    fn every_worker_count_makes_the_same_bytes() {
        for kind in KINDS {
            let size = 5 * BLOCK_SIZE / 2 + 13;
            let (one, bytes) = made(kind, size, 1);
            assert_eq!(one, Generated::of(&bytes), "{kind:?}");
            for workers in [2, 7] {
                let (many, same) = made(kind, size, workers);
                assert!(same == bytes && many == one, "{kind:?} {workers}");
            }
        }
    }

    #[test]
    fn a_stream_gets_the_bytes_of_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("stream");
        for kind in KINDS {
            for size in [0, 1, BLOCK_SIZE, 5 * BLOCK_SIZE / 2 + 13] {
                let stream = fs::File::create(&path).expect("room");
                let out = OrderedOptions::new().ordered_to(stream, &path);
                let recipe = Recipe { kind, size, seed: 9 };
                let generated = generate_stream(recipe, 3, out).expect("it is made");
                let (wanted, bytes) = made(kind, size, 2);
                assert!(fs::read(&path).expect("there") == bytes, "{kind:?} {size}");
                assert_eq!(generated, wanted, "{kind:?} {size}");
            }
        }
    }

    #[test]
    fn sizes_around_every_boundary_are_kept() {
        for size in [0, 1, 7, 8, 9, BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1] {
            for kind in [FileContent::Bytes, FileContent::Letters] {
                let (generated, bytes) = made(kind, size, 2);
                assert_eq!((generated.bytes, bytes.len() as u64), (size, size), "{kind:?}");
            }
        }
    }

    #[test]
    fn letters_are_a_to_z_and_all_occur() {
        let (_, bytes) = made(FileContent::Letters, 100_000, 2);
        assert!(bytes.iter().all(u8::is_ascii_uppercase));
        assert!((b'A'..=b'Z').all(|letter| bytes.contains(&letter)));
    }

    #[test]
    fn lines_have_1024_numbers_and_the_file_ends_with_one() {
        let (generated, bytes) = made(FileContent::CsvNumbers, 2_000_000, 3);
        assert!(generated.bytes <= 2_000_000 && generated.bytes > 1_990_000);
        let text = String::from_utf8(bytes).expect("digits and commas");
        assert!(text.ends_with('\n'));
        assert_eq!(text.lines().count() as u64, generated.lines);
        for line in text.lines() {
            let numbers = line.split(',').map(|field| field.parse::<u16>().expect("a number"));
            assert_eq!(numbers.count(), NUMBERS_PER_LINE);
        }
    }

    #[test]
    fn numbers_of_tables_are_in_their_range_and_as_long_as_asked_for() {
        for (style, range, decimals) in [
            (Style::Integers, 0.0..=65_535.0, 0),
            (Style::Fractions(17), 0.0..=1.0, 17),
            (Style::Fixed(6), -1000.0..=1000.0, 6),
        ] {
            let (generated, bytes) =
                made(FileContent::Csv(Table { columns: 3, style }), 300_000, 2);
            let text = String::from_utf8(bytes).expect("digits");
            assert_eq!(text.lines().count() as u64, generated.lines);
            for line in text.lines() {
                assert_eq!(line.split(',').count(), 3, "{line}");
                for number in line.split(',') {
                    assert!(
                        range.contains(&number.parse::<f64>().expect("a number")),
                        "{number}"
                    );
                    let decimal = number.split_once('.').map_or("", |(_, decimal)| decimal);
                    assert_eq!(decimal.len(), decimals, "{number}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_lines_has_one_unless_it_is_to_be_empty() {
        assert_eq!(made(FileContent::CsvNumbers, 0, 2).1, b"");
        assert_eq!(made(FileContent::CsvNumbers, 1, 2).0.lines, 1);
    }

    #[test]
    fn another_seed_makes_other_bytes() {
        let mut blocks = [[0; 64]; 2];
        fill_bytes(&mut blocks[0], 1, 0);
        fill_bytes(&mut blocks[1], 2, 0);
        assert_ne!(blocks[0], blocks[1]);
    }

    #[test]
    fn an_existing_file_is_replaced_and_nothing_hidden_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("made");
        fs::write(&path, "before").expect("it can be written");
        let recipe = Recipe { kind: FileContent::Letters, size: 3, seed: 1 };
        generate(recipe, &path, 1).expect("it is replaced");
        assert_eq!(fs::read(&path).expect("it is there").len(), 3);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_folder_or_device_is_not_replaced() {
        let recipe = Recipe { kind: FileContent::Bytes, size: 3, seed: 1 };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (is_folder, invalid) = (ErrorKind::IsADirectory, ErrorKind::InvalidInput);
        for (path, kind) in [(folder.path(), is_folder), (Path::new("/dev/null"), invalid)] {
            let error = generate(recipe, path, 1).expect_err("not a file");
            assert_eq!(error.io_kind(), kind, "{error:?}");
        }
    }
}
