//! Builds compressed rows or columns: entries are scattered into buckets, then put in place bucket
//! by bucket.

use std::cmp::Reverse;

use swath::machine::Mutex;
use swath::{Array, Block};

use crate::error::{Error, FormatReason};
use crate::matrix::bucket::{BucketPart, BucketScratch, Built};
use crate::matrix::coo::{self, Counted, each_batch};
use crate::matrix::entries::{Entries, EntryRules};
use crate::matrix::id::Id;
use crate::matrix::job::{Failure, MatrixJob, MatrixPass};
use crate::matrix::kinds::Layout;
use crate::matrix::options::{Duplicates, EntryOrder};
use crate::matrix::partition::{Bucket, Partition, Partitions, RowSplit};
use crate::matrix::value::Value;
use crate::share::share_with;
use crate::text::TextFault;

/// The id by which entries are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Row,
    Column,
}

/// Entries grouped by row or by column.
pub(super) struct GroupedEntries<I, V> {
    /// Number of rows and columns of the matrix.
    pub(super) size: (u64, u64),
    pub(super) offsets: Array<u64>,
    /// The other id of each entry.
    pub(super) others: Array<I>,
    pub(super) values: Array<V>,
}

/// Bytes of the result per bucket. A smaller bucket would fit a nearer cache, but scattering into
/// more buckets costs more: 256 KiB took 1.5 times as long as 1 MiB; 4 MiB took the same.
const BUCKET_BYTES: u64 = 1 << 20;
const MOST_BUCKETS: u64 = 2048;

/// Reads the entries and groups them.
pub(super) fn read<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    by: By,
) -> Result<GroupedEntries<I, V>, Failure> {
    let rules = EntryRules::of(job);
    let size = match job.header.row_count.zip(job.header.column_count) {
        Some(size) => size,
        None => {
            let needed = vertices::<I, V>(job, &rules)?;
            (needed, needed)
        }
    };
    let split = split::<V>(job, size.0, size.1, by)?;
    let starts = if rules.layout == Layout::Array {
        coo::count_exactly::<I, V>(job, &rules)?
    } else {
        Vec::new()
    };
    let pool = Mutex::new(Vec::<Partition>::new());
    let totals = job.map_blocks(MatrixPass::Last, |block| {
        let mut all = pool.lock();
        let found = all.iter().position(|partition| partition.may_take(block.index));
        let taken = found.map(|found| all.swap_remove(found));
        drop(all);
        let mut partition = taken.unwrap_or_else(|| Partition::new(split));
        let total = scatter::<I, V>(&rules, block, by, &starts, &mut partition);
        partition.end_block(block.index);
        pool.lock().push(partition);
        total
    })?;
    let total: u64 = totals.into_iter().sum();
    if job.header.entry_count.is_some_and(|declared| declared != total) {
        return Err(coo::why_not::<I, V>(job, &rules));
    }
    let all = pool.into_inner();
    let (partitions, buckets) = Partitions::new(split, all)?;
    if partitions.lens.iter().any(|&len| u32::try_from(len).is_err()) {
        let detail = "one group of adjacent rows or columns has more than 2^32 entries";
        return Err(Failure::Error(Error::reading(
            job.input.path(),
            FormatReason::TooLarge,
            detail,
        )));
    }
    let rows = if by == By::Row { size.0 } else { size.1 };
    let job = Build { job, partitions: &partitions, rows };
    let (offsets, others, values) = job.build(buckets)?;
    Ok(GroupedEntries { size, offsets, others, values })
}

/// Returns the number of vertices that the ids of the edges require.
fn vertices<I: Id, V: Value>(job: &MatrixJob<'_>, rules: &EntryRules) -> Result<u64, Failure> {
    let greatest = job.map_blocks(MatrixPass::First, |block| {
        let mut greatest = None;
        each_batch::<I, V>(rules, block, 0, |rows, columns, _| {
            let here = rows.iter().copied().max().max(columns.iter().copied().max());
            greatest = greatest.max(here);
            Ok(())
        })?;
        Ok(greatest)
    })?;
    let greatest = greatest.into_iter().flatten().max();
    Ok(greatest.map_or(0, |greatest| greatest.to_u64() + 1))
}

/// Chooses the split of the rows, if their offsets fit in memory.
fn split<V>(job: &MatrixJob<'_>, rows: u64, columns: u64, by: By) -> Result<RowSplit, Failure> {
    let (rows, columns) = if by == By::Row { (rows, columns) } else { (columns, rows) };
    let at = job.header.body_offset.saturating_sub(1);
    // Every row takes an offset, even an empty one: `most` limits them by the file's length.
    let most = (64 << 20) + 16 * u128::from(job.len);
    if 8 * (u128::from(rows) + 1) > most {
        let detail = format!(
            "{rows} rows or columns are too many for a file of {} \
             bytes; keep it as .mtx, or read it as coordinates",
            job.len
        );
        return Err(TextFault::too_large(at, detail).into());
    }
    let entries = job.header.entry_count.unwrap_or(job.len / 8);
    let bytes = entries.saturating_mul(4 + size_of::<V>() as u64);
    let wanted = bytes.div_ceil(BUCKET_BYTES).clamp(1, MOST_BUCKETS);
    RowSplit::new::<V>(rows, columns, wanted).ok_or_else(|| {
        TextFault::too_large(at, "more than 2^48 columns cannot be compressed").into()
    })
}

/// Orders buckets: those much fuller than the rest first, the others in order.
fn fullest_first(lens: &[usize]) -> Vec<usize> {
    let much = lens.iter().fold(0, |sum: usize, &len| sum.saturating_add(len)) / lens.len() * 4;
    let mut order: Vec<usize> = (0..lens.len()).collect();
    order.sort_by_key(|&bucket| Reverse(lens[bucket] / much.max(1)));
    order
}

/// Returns the results of the buckets, in order.
fn in_order(mut results: Vec<(usize, Result<usize, Failure>)>) -> Result<Vec<usize>, Failure> {
    results.sort_by_key(|&(bucket, _)| bucket);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Scatters the entries of a block, and counts those stored in the file.
fn scatter<I: Id, V: Value>(
    rules: &EntryRules,
    block: Block<'_>,
    by: By,
    starts: &[Counted],
    partition: &mut Partition,
) -> Result<u64, Failure> {
    let start = if rules.layout == Layout::Array {
        let place = starts.binary_search_by_key(&block.index, |block| block.index);
        starts[place.map_err(|_| Failure::Changed)?].start
    } else {
        0
    };
    let mut total = 0;
    each_batch::<I, V>(rules, block, start, |rows, columns, values| {
        total += rows.len() as u64;
        let (rows, columns) = if by == By::Row { (rows, columns) } else { (columns, rows) };
        if !rules.expands {
            return partition.push(rows, columns, values);
        }
        for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
            // For columns, row and column were swapped; swap them back to mirror the entry.
            partition.push(&[row], &[column], &[value])?;
            if row != column {
                partition.push(&[column], &[row], &[Entries::mirrored(rules, value)])?;
            }
        }
        Ok(())
    })?;
    Ok(total)
}

/// The second half: builds the buckets in place.
struct Build<'b, 'p> {
    job: &'b MatrixJob<'p>,
    partitions: &'b Partitions,
    rows: u64,
}

type Arrays<I, V> = (Array<u64>, Array<I>, Array<V>);

impl Build<'_, '_> {
    fn build<I: Id, V: Value>(&self, buckets: Vec<Bucket>) -> Result<Arrays<I, V>, Failure> {
        let options = self.job.options;
        let buckets: Vec<_> = buckets.into_iter().map(|it| Mutex::new(Some(it))).collect();
        let lens = if options.duplicates == Duplicates::Summed {
            self.each_bucket(|index, scratch: &mut BucketScratch<I, V>| {
                let bucket = buckets[index].lock();
                let bucket = bucket.as_ref().expect("taken in the next round");
                scratch.build(self.partitions, bucket, index);
                scratch.sum().map_err(|row| self.overflow(index, row))
            })?
        } else {
            self.partitions.lens.clone()
        };
        let total = lens.iter().copied().fold(0, usize::saturating_add);
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
        let mut offsets = Array::<u64>::zeroed(rows.saturating_add(1))?;
        let mut others = Array::<I>::zeroed(total)?;
        let has_values = size_of::<V>() > 0;
        let mut values = Array::<V>::zeroed(if has_values { total } else { 0 })?;
        let split = self.partitions.split;
        let row_lens = (0..split.buckets).map(|bucket| split.rows_of(bucket));
        let value_lens = lens.iter().map(|&len| if has_values { len } else { 0 });
        let mut start = 0;
        let parts: Vec<_> = offsets
            .parts_mut(std::iter::once(1).chain(row_lens))
            .into_iter()
            .skip(1)
            .zip(others.parts_mut(lens.iter().copied()))
            .zip(values.parts_mut(value_lens))
            .map(|((ends, others), values)| {
                let part = BucketPart { start, ends, others, values };
                start += part.others.len() as u64;
                Mutex::new(Some(part))
            })
            .collect();
        self.each_bucket(|index, scratch: &mut BucketScratch<I, V>| {
            let bucket = buckets[index].lock().take();
            let part = parts[index].lock().take();
            let (bucket, mut part) = bucket.zip(part).expect("each is taken once");
            match (options.duplicates, options.order) {
                (Duplicates::Kept, EntryOrder::File) => {
                    part.build(self.partitions, &bucket, scratch)
                }
                (Duplicates::Kept, EntryOrder::Sorted) => {
                    part.build(self.partitions, &bucket, scratch);
                    part.sort(scratch);
                }
                (Duplicates::Summed, _) => {
                    scratch.build(self.partitions, &bucket, index);
                    scratch.sum().map_err(|row| self.overflow(index, row))?;
                    part.copy(scratch);
                }
            }
            Ok(part.others.len())
        })?;
        drop(parts);
        Ok((offsets, others, values))
    }

    /// Calls `each` for every bucket on all workers. Much fuller buckets come first; the others are
    /// taken in order, since neighbours share pages of the result.
    fn each_bucket<S: Built>(
        &self,
        each: impl Fn(usize, &mut S) -> Result<usize, Failure> + Sync,
    ) -> Result<Vec<usize>, Failure> {
        let order = fullest_first(&self.partitions.lens);
        let workers = if order.len() > 1 { self.job.workers() } else { 1 };
        in_order(share_with(order, workers, |scratch: &mut S, bucket| {
            let result = self.job.check_cancelled().and_then(|()| each(bucket, scratch));
            (bucket, result)
        }))
    }

    fn overflow(&self, bucket: usize, row: usize) -> Failure {
        // Numbered as in the file.
        let base = u64::from(self.job.base());
        let row = self.partitions.split.first_row(bucket) + row as u64 + base;
        let detail =
            format!("the sum of the values in row or column {row} does not fit its type");
        Failure::Error(Error::reading(self.job.input.path(), FormatReason::TooLarge, detail))
    }
}
