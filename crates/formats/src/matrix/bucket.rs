//! One bucket: counts its records by row, then puts them in place, both within the cache.

use crate::matrix::id::Id;
use crate::matrix::partition::{Bucket, Partitions};
use crate::matrix::value::Value;

/// A buffer that each worker keeps from bucket to bucket.
pub(super) trait Built: Default {}

/// The place of a bucket's records in the result.
pub(super) struct BucketPart<'p, I, V> {
    /// Number of entries in earlier buckets.
    pub(super) start: u64,
    /// The end of each row.
    pub(super) ends: &'p mut [u64],
    pub(super) others: &'p mut [I],
    /// Empty if the value type has no size.
    pub(super) values: &'p mut [V],
}

/// Buffers for a bucket that is built before its size is known.
pub(super) struct BucketScratch<I, V> {
    /// For each row, the place of the next record; in the end, the end of the row. A bucket has
    /// fewer than 2^32 records.
    next: Vec<u32>,
    others: Vec<I>,
    values: Vec<V>,
    sorted: Vec<(I, V)>,
}

impl<I, V> Default for BucketScratch<I, V> {
    fn default() -> Self {
        Self { next: Vec::new(), others: Vec::new(), values: Vec::new(), sorted: Vec::new() }
    }
}

impl<I, V> Built for BucketScratch<I, V> {}

/// Counts the records of each row and computes the start of each row.
fn begins(partitions: &Partitions, bucket: &Bucket, rows: usize, next: &mut Vec<u32>) {
    next.clear();
    next.resize(rows, 0);
    partitions.each_row(bucket, |row| next[row] += 1);
    let mut begin = 0;
    for next in next {
        begin += std::mem::replace(next, begin);
    }
}

/// Puts each record in the next free place of its row.
#[inline(always)]
fn put<I: Id, V: Value>(
    partitions: &Partitions,
    bucket: &Bucket,
    next: &mut [u32],
    others: &mut [I],
    values: &mut [V],
) {
    partitions.each_record(bucket, |row, other, value: V| {
        let place = next[row] as usize;
        next[row] += 1;
        // It was scattered as an id of this type, so it fits.
        others[place] = I::from_u64(other).unwrap_or(I::zeroed());
        if size_of::<V>() > 0 {
            values[place] = value;
        }
    });
}

impl<I: Id, V: Value> BucketPart<'_, I, V> {
    /// Puts the records of a bucket in place; within a row they stay in the order of the file.
    pub(super) fn build(
        &mut self,
        partitions: &Partitions,
        bucket: &Bucket,
        scratch: &mut BucketScratch<I, V>,
    ) {
        begins(partitions, bucket, self.ends.len(), &mut scratch.next);
        put(partitions, bucket, &mut scratch.next, self.others, self.values);
        for (end, &next) in self.ends.iter_mut().zip(&scratch.next) {
            *end = self.start + u64::from(next);
        }
    }

    /// Sorts each row; equal entries stay in the order of the file.
    pub(super) fn sort(&mut self, scratch: &mut BucketScratch<I, V>) {
        let mut begin = 0;
        for &end in &scratch.next {
            let end = end as usize;
            let values =
                if size_of::<V>() > 0 { &mut self.values[begin..end] } else { &mut [] };
            sort_row(&mut self.others[begin..end], values, &mut scratch.sorted);
            begin = end;
        }
    }

    /// Copies the result of [`BucketScratch::sum`].
    pub(super) fn copy(&mut self, scratch: &BucketScratch<I, V>) {
        self.others.copy_from_slice(&scratch.others);
        if size_of::<V>() > 0 {
            self.values.copy_from_slice(&scratch.values);
        }
        for (end, &next) in self.ends.iter_mut().zip(&scratch.next) {
            *end = self.start + u64::from(next);
        }
    }
}

impl<I: Id, V: Value> BucketScratch<I, V> {
    /// Puts the records of a bucket in place, each row sorted.
    pub(super) fn build(&mut self, partitions: &Partitions, bucket: &Bucket, index: usize) {
        let len = partitions.lens[index];
        begins(partitions, bucket, partitions.split.rows_of(index), &mut self.next);
        self.others.clear();
        self.others.resize(len, I::zeroed());
        self.values.clear();
        self.values.resize(len, V::zeroed());
        put(partitions, bucket, &mut self.next, &mut self.others, &mut self.values);
        let mut begin = 0;
        for &end in &self.next {
            let end = end as usize;
            let values = &mut self.values[begin..end];
            sort_row(&mut self.others[begin..end], values, &mut self.sorted);
            begin = end;
        }
    }

    /// Adds up the values of equal entries, in the order of the file, and returns how many entries
    /// remain. A sum that does not fit is an error with its row.
    pub(super) fn sum(&mut self) -> Result<usize, usize> {
        let (mut begin, mut left) = (0, 0);
        for row in 0..self.next.len() {
            let (end, first) = (self.next[row] as usize, left);
            for at in begin..end {
                let (other, value) = (self.others[at], self.values[at]);
                if left > first && self.others[left - 1] == other {
                    let sum = self.values[left - 1].plus(value).ok_or(row)?;
                    self.values[left - 1] = sum;
                } else {
                    (self.others[left], self.values[left]) = (other, value);
                    left += 1;
                }
            }
            // Never more than before.
            self.next[row] = u32::try_from(left).unwrap_or(u32::MAX);
            begin = end;
        }
        self.others.truncate(left);
        self.values.truncate(left);
        Ok(left)
    }
}

/// Sorts the entries of a row; equal ones keep their order.
fn sort_row<I: Id, V: Value>(others: &mut [I], values: &mut [V], pairs: &mut Vec<(I, V)>) {
    if others.is_sorted() {
        return;
    }
    if size_of::<V>() == 0 {
        others.sort_unstable();
        return;
    }
    pairs.clear();
    pairs.extend(others.iter().copied().zip(values.iter().copied()));
    pairs.sort_by_key(|&(other, _)| other);
    for ((other, value), pair) in others.iter_mut().zip(values).zip(&*pairs) {
        (*other, *value) = *pair;
    }
}
