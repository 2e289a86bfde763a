//! Scatters entries by row into buckets that fit the cache, while the file is parsed.
//!
//! ```text
//! worker 1  |bucket 0: row, column; …|bucket 1 …|    a stream of packed records for each bucket
//! worker 2  |bucket 0               |bucket 1 …|
//! log       block 7 put 12 records into bucket 0, 9 into bucket 1, …
//! ```
//!
//! A record is the low bits of the row and the column, in the fewest bytes that hold both, then the
//! value. The log merges the streams of all workers back into the order of the file. Workers share
//! nothing while they scatter, so no counters have to be merged.

use bytemuck::Pod;
use swath::Array;

use crate::matrix::id::Id;
use crate::matrix::job::Failure;

/// Bytes of a bucket collected before they are appended to it: whole lines of the first-level
/// cache.
const STAGE: usize = 256;
/// Length of a bucket's first chunk; each chunk is twice as long as the last.
const LEAST: usize = 64 << 10;
/// Length of the longest chunk; below this, memory is returned page by page.
const MOST: usize = 1 << 20;
/// Memory starts at page boundaries, and caches index lines by the low bits of their address. So
/// the buckets start at different multiples of a line within this many bytes.
const SPREAD: usize = 16 << 10;
/// Bytes that writing a record may touch after its end.
const SLACK: usize = 8;

/// The split of rows into buckets, and the layout of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowSplit {
    /// Rows of a bucket, as a power of two.
    low_bits: u32,
    /// Bytes of a row and a column.
    width: usize,
    /// Bytes of a record.
    record: usize,
    pub(super) buckets: usize,
    rows: u64,
}

impl RowSplit {
    /// Splits `rows` rows into about `wanted` buckets; `None` if a record would not fit in 64 bits.
    pub(super) fn new<V>(rows: u64, columns: u64, wanted: u64) -> Option<Self> {
        let column_bits = u64::BITS - columns.saturating_sub(1).leading_zeros();
        let rows_of_each = rows.div_ceil(wanted.max(1)).max(1).checked_next_power_of_two()?;
        let low_bits = rows_of_each.trailing_zeros();
        if low_bits + column_bits > u64::BITS - 1 {
            return None;
        }
        let width = usize::try_from((low_bits + column_bits).div_ceil(8).max(1)).ok()?;
        let record = width + size_of::<V>();
        let buckets = usize::try_from(rows.div_ceil(rows_of_each).max(1)).ok()?;
        Some(Self { low_bits, width, record, buckets, rows })
    }

    /// Mask of the row bits of a key.
    #[inline(always)]
    fn low(&self) -> u64 {
        (1 << self.low_bits) - 1
    }

    #[inline(always)]
    fn key(&self, row: u64, column: u64) -> (usize, u64) {
        let low = row & self.low();
        let bucket = usize::try_from(row >> self.low_bits).unwrap_or(usize::MAX);
        (bucket, low | column << self.low_bits)
    }

    /// Returns the number of rows of a bucket.
    pub(super) fn rows_of(&self, bucket: usize) -> usize {
        let first = (bucket as u64) << self.low_bits;
        let count = self.rows.saturating_sub(first).min(1 << self.low_bits);
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Returns the first row of a bucket.
    pub(super) fn first_row(&self, bucket: usize) -> u64 {
        (bucket as u64) << self.low_bits
    }
}

/// Some records of one bucket, and the number of bytes used.
struct Chunk {
    bytes: Array<u8>,
    start: usize,
    used: usize,
}

/// The entries that one worker found, by bucket.
pub(super) struct Partition {
    split: RowSplit,
    stage: Vec<u8>,
    staged: Vec<usize>,
    /// Bytes of each bucket that have left the stage.
    flushed: Vec<u64>,
    /// Bytes of each bucket when the last block ended, including the stage.
    logged: Vec<u64>,
    streams: Vec<Vec<Chunk>>,
    /// The blocks it took, in ascending order.
    blocks: Vec<u64>,
    /// For each of these blocks, the number of records in each bucket.
    log: Vec<u32>,
}

impl Partition {
    pub(super) fn new(split: RowSplit) -> Self {
        let count = split.buckets;
        Self {
            split,
            stage: vec![0; count * STAGE],
            staged: vec![0; count],
            flushed: vec![0; count],
            logged: vec![0; count],
            streams: std::iter::repeat_with(Vec::new).take(count).collect(),
            blocks: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Whether the block comes after all that it has taken.
    pub(super) fn may_take(&self, block: u64) -> bool {
        self.blocks.last().is_none_or(|&last| last < block)
    }

    /// Puts entries into their buckets.
    pub(super) fn push<I: Id, V: Pod>(
        &mut self,
        rows: &[I],
        columns: &[I],
        values: &[V],
    ) -> Result<(), Failure> {
        let split = self.split;
        for ((row, column), value) in rows.iter().zip(columns).zip(values) {
            self.push_one(split, row.to_u64(), column.to_u64(), value)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn push_one<V: Pod>(
        &mut self,
        split: RowSplit,
        row: u64,
        column: u64,
        value: &V,
    ) -> Result<(), Failure> {
        let (bucket, key) = split.key(row, column);
        let at = self.staged[bucket];
        let place = &mut self.stage[bucket * STAGE..][..STAGE][at..];
        place[..8].copy_from_slice(&key.to_le_bytes());
        if size_of::<V>() > 0 {
            let bytes = bytemuck::bytes_of(value);
            place[split.width..][..size_of::<V>()].copy_from_slice(bytes);
        }
        let at = at + split.record;
        self.staged[bucket] = at;
        if at + split.record + SLACK > STAGE { self.flush(bucket) } else { Ok(()) }
    }

    /// Moves the staged bytes to the end of their bucket.
    fn flush(&mut self, bucket: usize) -> Result<(), Failure> {
        let staged = std::mem::take(&mut self.staged[bucket]);
        if staged == 0 {
            return Ok(());
        }
        let stream = &mut self.streams[bucket];
        // A stage is copied whole, and reading a record may touch bytes after its end.
        let room = stream.last().map_or(0, |chunk| chunk.bytes.len() - chunk.used);
        if room < STAGE + SLACK {
            let len = stream.last().map_or(LEAST, |last| (2 * last.bytes.len()).min(MOST));
            let start = bucket * STAGE % SPREAD;
            stream.push(Chunk { bytes: Array::zeroed(len)?, start, used: start });
        }
        let chunk = stream.last_mut().expect("one was just made if it was missing");
        let from: &[u8; STAGE] = self.stage[bucket * STAGE..].first_chunk().expect("its stage");
        let to = chunk.bytes[chunk.used..].first_chunk_mut().expect("there is room");
        *to = *from;
        chunk.used += staged;
        self.flushed[bucket] += staged as u64;
        Ok(())
    }

    /// Logs the number of records that a block put into each bucket.
    pub(super) fn end_block(&mut self, block: u64) {
        let record = self.split.record as u64;
        for bucket in 0..self.split.buckets {
            let now = self.flushed[bucket] + self.staged[bucket] as u64;
            let records = (now - self.logged[bucket]) / record;
            // A block is read into memory in one piece.
            self.log.push(u32::try_from(records).expect("a block of less than 2^32 lines"));
            self.logged[bucket] = now;
        }
        self.blocks.push(block);
    }

    fn finish(&mut self) -> Result<(), Failure> {
        (0..self.split.buckets).try_for_each(|bucket| self.flush(bucket))?;
        self.stage = Vec::new();
        Ok(())
    }
}

/// The entries of all workers, ready to be read bucket by bucket.
pub(super) struct Partitions {
    pub(super) split: RowSplit,
    /// For each block in the order of the file: the partition that took it, and its index there.
    order: Vec<(usize, usize)>,
    logs: Vec<Vec<u32>>,
    /// Number of records of each bucket.
    pub(super) lens: Vec<usize>,
}

/// The records of one bucket, from all workers.
pub(super) struct Bucket {
    index: usize,
    streams: Vec<Vec<Chunk>>,
}

impl Partitions {
    /// Combines the partitions of all workers.
    pub(super) fn new(
        split: RowSplit,
        mut all: Vec<Partition>,
    ) -> Result<(Self, Vec<Bucket>), Failure> {
        all.iter_mut().try_for_each(Partition::finish)?;
        let mut order: Vec<(u64, (usize, usize))> = Vec::new();
        for (which, partition) in all.iter().enumerate() {
            let places = partition.blocks.iter().enumerate();
            order.extend(places.map(|(place, &block)| (block, (which, place))));
        }
        order.sort_unstable();
        let order = order.into_iter().map(|(_, place)| place).collect();
        let mut lens = vec![0; split.buckets];
        let mut buckets: Vec<_> = (0..split.buckets)
            .map(|index| Bucket { index, streams: Vec::with_capacity(all.len()) })
            .collect();
        let mut logs = Vec::new();
        for partition in all {
            for (len, &bytes) in lens.iter_mut().zip(&partition.flushed) {
                *len += usize::try_from(bytes).unwrap_or(usize::MAX) / split.record;
            }
            for (bucket, stream) in buckets.iter_mut().zip(partition.streams) {
                bucket.streams.push(stream);
            }
            logs.push(partition.log);
        }
        Ok((Self { split, order, logs, lens }, buckets))
    }

    /// Calls `each` with the row (relative to the bucket's first) of every record of a bucket, in
    /// any order.
    #[inline(always)]
    pub(super) fn each_row(&self, bucket: &Bucket, mut each: impl FnMut(usize)) {
        let (low, record) = (self.split.low(), self.split.record);
        for chunk in bucket.streams.iter().flatten() {
            let bytes = &chunk.bytes[..chunk.used + SLACK];
            for at in (chunk.start..chunk.used).step_by(record) {
                let key: &[u8; 8] = bytes[at..].first_chunk().expect("there is slack after it");
                each(usize::try_from(u64::from_le_bytes(*key) & low).unwrap_or(usize::MAX));
            }
        }
    }

    /// Calls `each` with the row (relative to the bucket's first), column and value of every record
    /// of a bucket, in the order of the file.
    #[inline(always)]
    pub(super) fn each_record<V: Pod>(
        &self,
        bucket: &Bucket,
        mut each: impl FnMut(usize, u64, V),
    ) {
        let RowSplit { low_bits, width, record, .. } = self.split;
        let kept = u64::MAX >> (u64::BITS - 8 * u32::try_from(width).unwrap_or(8));
        let low = self.split.low();
        let start =
            |stream: &Vec<Chunk>, index| stream.get(index).map_or(0, |it: &Chunk| it.start);
        let mut places: Vec<_> =
            bucket.streams.iter().map(|stream| (0, start(stream, 0))).collect();
        for &(which, block) in &self.order {
            let mut left = self.logs[which][block * self.split.buckets + bucket.index] as usize;
            let (chunk_index, at) = &mut places[which];
            while left > 0 {
                let stream = &bucket.streams[which];
                let chunk = &stream[*chunk_index];
                let here = left.min((chunk.used - *at) / record);
                // Reading a record may touch bytes after its end.
                let mut bytes = &chunk.bytes[*at..*at + here * record + SLACK];
                for _ in 0..here {
                    let key: &[u8; 8] = bytes.first_chunk().expect("there is slack after it");
                    let key = u64::from_le_bytes(*key) & kept;
                    let row = usize::try_from(key & low).unwrap_or(usize::MAX);
                    let value = if size_of::<V>() == 0 {
                        V::zeroed()
                    } else {
                        bytemuck::pod_read_unaligned(&bytes[width..record])
                    };
                    each(row, key >> low_bits, value);
                    bytes = &bytes[record..];
                }
                left -= here;
                *at += here * record;
                if *at == chunk.used {
                    *chunk_index += 1;
                    *at = start(stream, *chunk_index);
                }
            }
        }
    }
}
