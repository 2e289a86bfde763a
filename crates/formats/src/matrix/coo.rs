//! Coordinates: lines are counted block by block and parsed into place. That takes one pass over
//! the file if the header gives their number, otherwise two.

use swath::machine::Mutex;

use swath::{Array, Block};

use crate::error::FormatReason;
use crate::matrix::entries::{Entries, EntryRules};
use crate::matrix::id::Id;
use crate::matrix::job::{Failure, MatrixJob, MatrixPass};
use crate::matrix::kinds::{Layout, Symmetry};
use crate::matrix::sparse::Coo;
use crate::matrix::target::Target;
use crate::matrix::value::Value;
use crate::memory::room_for;
use crate::text::TextFault;

/// Number of entries that are parsed before they are stored elsewhere.
pub(super) const BATCH: usize = 1024;

/// The contents of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) index: u64,
    /// Number of entries in the blocks before it.
    pub(super) start: u64,
    /// Number of entries, exact or an upper limit.
    pub(super) entries: u64,
    /// Number of entries including their mirror images.
    pub(super) outputs: u64,
}

/// Reads the entries in the order of the file.
pub(super) fn read<I: Id, V: Value>(job: &MatrixJob<'_>) -> Result<Coo<I>, Failure> {
    let rules = EntryRules::of(job);
    if let Some(coo) = place_at_once::<I, V>(job, &rules)? {
        return Ok(coo);
    }
    let counted = count::<I, V>(job, &rules)?;
    if let Some(coo) = place::<I, V>(job, &rules, &counted)? {
        return Ok(coo);
    }
    // Some lines are blank or comments.
    let counted = count_exactly::<I, V>(job, &rules)?;
    place::<I, V>(job, &rules, &counted)?.ok_or(Failure::Changed)
}

/// Counts the entries in the cheapest way possible.
fn count<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
) -> Result<Vec<Counted>, Failure> {
    if rules.expands && rules.layout != Layout::Array {
        return count_mirrored::<I, V>(job, rules);
    }
    let counted = job.map_blocks(MatrixPass::First, counted_by_lines)?;
    let total: u64 = counted.iter().map(|block| block.entries).sum();
    if job.header.entry_count.is_some_and(|entries| entries != total) {
        return count_exactly::<I, V>(job, rules);
    }
    Ok(with_starts(rules, counted))
}

/// Counts a block in which every line holds an entry. This function, like others here, is not
/// generic: code that does not depend on the twelve combinations of id and value types is compiled
/// once.
fn counted_by_lines(block: Block<'_>) -> Result<Counted, Failure> {
    let entries = lines_of(block);
    Ok(Counted { index: block.index, start: 0, entries, outputs: entries })
}

/// Returns the number of lines in a block, whatever they contain.
fn lines_of(block: Block<'_>) -> u64 {
    let is_cut = block.bytes.last().is_some_and(|&byte| byte != b'\n');
    swath_simd::count(block.bytes, b'\n') + u64::from(is_cut)
}

/// Counts the lines that are neither blank nor comments.
pub(super) fn count_exactly<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
) -> Result<Vec<Counted>, Failure> {
    if rules.expands && rules.layout != Layout::Array {
        // The first count was exact, so the file has changed since.
        return Err(Failure::Changed);
    }
    let counted = with_starts(rules, entries_of_blocks(job, rules)?);
    check_total::<I, V>(job, rules, &counted)?;
    Ok(counted)
}

/// Counts, for each block, the lines that are neither blank nor comments.
fn entries_of_blocks(job: &MatrixJob<'_>, rules: &EntryRules) -> Result<Vec<Counted>, Failure> {
    job.map_blocks(MatrixPass::First, |block| {
        let mut lines = Entries::of(rules, block, 0);
        let entries = std::iter::from_fn(|| lines.skip_entry()).count() as u64;
        Ok(Counted { index: block.index, start: 0, entries, outputs: entries })
    })
}

/// Returns the error for a number of entries that differs from the header's, for callers that have
/// not counted.
pub(super) fn why_not<I: Id, V: Value>(job: &MatrixJob<'_>, rules: &EntryRules) -> Failure {
    let counted = if rules.expands && rules.layout != Layout::Array {
        count_mirrored::<I, V>(job, rules)
    } else {
        count_exactly::<I, V>(job, rules)
    };
    counted.err().unwrap_or(Failure::Changed)
}

/// Parses everything, because entries on the diagonal have no mirror image.
fn count_mirrored<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
) -> Result<Vec<Counted>, Failure> {
    let counted = job.map_blocks(MatrixPass::First, |block| {
        let mut counted = Counted { index: block.index, start: 0, entries: 0, outputs: 0 };
        each_batch::<I, V>(rules, block, 0, |rows, columns, _| {
            let mirrored = rows.iter().zip(columns).filter(|(row, column)| row != column);
            counted.entries += rows.len() as u64;
            counted.outputs += (rows.len() + mirrored.count()) as u64;
            Ok(())
        })?;
        Ok(counted)
    })?;
    let counted = with_starts(rules, counted);
    check_total::<I, V>(job, rules, &counted)?;
    Ok(counted)
}

/// Sets the start of each block's entries.
fn with_starts(rules: &EntryRules, mut counted: Vec<Counted>) -> Vec<Counted> {
    let mut start = 0;
    for block in &mut counted {
        block.start = start;
        start += block.entries;
        if rules.expands && rules.layout == Layout::Array {
            block.outputs = mirrored_before(rules, start) - mirrored_before(rules, block.start);
        }
    }
    counted
}

/// Returns the number of entries, mirror images included, from the first `index` values of an
/// array.
fn mirrored_before(rules: &EntryRules, index: u64) -> u64 {
    let on_diagonal = match rules.symmetry {
        Symmetry::SkewSymmetric => 0,
        _ => {
            let (row, column) = rules.place(index);
            column.saturating_add(u64::from(row > column)).min(rules.rows).min(index)
        }
    };
    (2 * index).saturating_sub(on_diagonal)
}

/// Compares the number of entries with the header.
pub(super) fn check_total<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
    counted: &[Counted],
) -> Result<(), Failure> {
    let Some(declared) = job.header.entry_count else { return Ok(()) };
    let total: u64 = counted.iter().map(|block| block.entries).sum();
    if total == declared {
        return Ok(());
    }
    // A malformed line explains more than a wrong total.
    Err(wrong_total(job, rules, counted, declared, first_fault::<I, V>(job, rules, counted)))
}

/// Returns the error for a total other than `declared`, or for the first `wrong` line.
fn wrong_total(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
    counted: &[Counted],
    declared: u64,
    wrong: Result<(), Failure>,
) -> Failure {
    let total: u64 = counted.iter().map(|block| block.entries).sum();
    if total < declared {
        let noun = if declared == 1 { "entry" } else { "entries" };
        let detail = format!("the header declares {declared} {noun}, but the file has {total}");
        let fault = TextFault { offset: job.len, reason: FormatReason::Truncated, detail };
        return wrong.err().unwrap_or(fault.into());
    }
    match (wrong, excess(job, rules, counted, declared)) {
        (_, Err(failure)) => failure,
        (Err(Failure::Fault(fault)), Ok(offset)) if fault.offset < offset => fault.into(),
        (_, Ok(offset)) => {
            let detail = match declared {
                1 => "more than the one entry that the header declares".to_owned(),
                _ => format!("more than the {declared} entries that the header declares"),
            };
            TextFault::malformed(offset, detail).into()
        }
    }
}

/// Returns the place of the first entry beyond `declared`.
fn excess(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
    counted: &[Counted],
    declared: u64,
) -> Result<u64, Failure> {
    let block = counted.iter().find(|block| block.start + block.entries > declared);
    let block = block.ok_or(Failure::Changed)?;
    let found = job.map_blocks(MatrixPass::First, |here| {
        let mut lines = Entries::of(rules, here, 0);
        let wanted = usize::try_from(declared - block.start).unwrap_or(usize::MAX);
        let is_here = here.index == block.index;
        Ok(std::iter::from_fn(|| lines.skip_entry()).nth(wanted).filter(|_| is_here))
    })?;
    found.into_iter().flatten().next().ok_or(Failure::Changed)
}

/// Parses all lines and returns the first fault.
fn first_fault<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
    counted: &[Counted],
) -> Result<(), Failure> {
    job.map_blocks(MatrixPass::First, |block| {
        let place = counted.binary_search_by_key(&block.index, |block| block.index);
        let start = counted[place.map_err(|_| Failure::Changed)?].start;
        each_batch::<I, V>(rules, block, start, |_, _, _| Ok(()))
    })?;
    Ok(())
}

/// Parses the entries of a block, one batch at a time.
pub(super) fn each_batch<I: Id, V: Value>(
    rules: &EntryRules,
    block: Block<'_>,
    start: u64,
    mut each: impl FnMut(&[I], &[I], &[V]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut entries = Entries::of(rules, block, start);
    let mut rows = vec![I::zeroed(); BATCH];
    let mut columns = vec![I::zeroed(); BATCH];
    let mut values = vec![V::zeroed(); BATCH];
    loop {
        let mut target = Target { rows: &mut rows, columns: &mut columns, values: &mut values };
        let filled = entries.fill(&mut target)?;
        each(&rows[..filled], &columns[..filled], &values[..filled])?;
        if filled < BATCH {
            return Ok(());
        }
    }
}

/// The result of one block.
struct Placed<I> {
    is_full: bool,
    greatest: Option<I>,
}

/// Memory for all entries.
struct EntryRoom<I, V> {
    rows: Array<I>,
    columns: Array<I>,
    /// Empty if the value type has no size.
    values: Array<V>,
}

impl<I: Id, V: Value> EntryRoom<I, V> {
    fn new(entries: usize) -> Result<Self, Failure> {
        room_for(entries.saturating_mul(2 * size_of::<I>() + size_of::<V>()))?;
        Ok(Self {
            rows: Array::zeroed(entries)?,
            columns: Array::zeroed(entries)?,
            values: Array::zeroed(value_len::<V>(entries))?,
        })
    }

    /// Returns the matrix, once every block is in place.
    fn into_coo(self, job: &MatrixJob<'_>, placed: &[Placed<I>]) -> Coo<I> {
        let needed = placed.iter().filter_map(|block| block.greatest).max();
        let needed = needed.map_or(0, |greatest| greatest.to_u64() + 1);
        let Self { rows, columns, values } = self;
        Coo {
            row_count: job.header.row_count.unwrap_or(needed),
            column_count: job.header.column_count.unwrap_or(needed),
            symmetry: job.symmetry(),
            rows,
            columns,
            values: V::wrap(values),
        }
    }
}

/// Returns the length of the value array for this many entries.
fn value_len<V>(entries: usize) -> usize {
    if size_of::<V>() > 0 { entries } else { 0 }
}

/// Parses every block as soon as the lines before it are counted. `None` if the number of lines
/// differs from the header's or a line is malformed; the two-pass path then finds out why, or
/// succeeds.
fn place_at_once<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
) -> Result<Option<Coo<I>>, Failure> {
    let declared = job.header.entry_count.filter(|_| !rules.expands);
    let Some(declared) = declared.and_then(|entries| usize::try_from(entries).ok()) else {
        return Ok(None);
    };
    let Ok(mut room) = EntryRoom::<I, V>::new(declared) else { return Ok(None) };
    let EntryRoom { rows, columns, values } = &mut room;
    let mut rest = Target { rows, columns, values };
    let mut start = 0;
    let turn = |lines: u64| {
        // Blank lines at the end need no room; entries there are too many.
        let part = rest.split_off(usize::try_from(lines).unwrap_or(usize::MAX));
        let first = start;
        start += part.rows.len() as u64;
        Ok((first, part))
    };
    let map = |block: Block<'_>, (first, part)| {
        place_block(rules, block, first, part)
            .and_then(|placed| if placed.is_full { Ok(placed) } else { Err(Failure::Changed) })
    };
    let look = |block: Block<'_>| Ok(lines_of(block));
    match job.blocks(MatrixPass::Last).map_blocks_in_turn(look, turn, map) {
        Ok(placed) if rest.rows.is_empty() => Ok(Some(room.into_coo(job, &placed))),
        Err(failure @ Failure::Error(_)) => Err(failure),
        _ => Ok(None),
    }
}

/// Parses every block into its part; `None` if a block has fewer entries than were counted.
fn place<I: Id, V: Value>(
    job: &MatrixJob<'_>,
    rules: &EntryRules,
    counted: &[Counted],
) -> Result<Option<Coo<I>>, Failure> {
    let index = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let lens = || counted.iter().map(|block| index(block.outputs));
    let mut room = EntryRoom::<I, V>::new(lens().fold(0, usize::saturating_add))?;
    let parts = room.rows.parts_mut(lens()).into_iter().zip(room.columns.parts_mut(lens()));
    let parts: Vec<_> = parts
        .zip(room.values.parts_mut(lens().map(value_len::<V>)))
        .map(|((rows, columns), values)| Mutex::new(Some(Target { rows, columns, values })))
        .collect();
    let placed = job.map_blocks(MatrixPass::Last, |block| {
        let place = counted.binary_search_by_key(&block.index, |block| block.index);
        let place = place.map_err(|_| Failure::Changed)?;
        let part = parts[place].lock().take();
        let part = part.ok_or(Failure::Changed)?;
        place_block(rules, block, counted[place].start, part)
    })?;
    drop(parts);
    if placed.len() != counted.len() {
        return Err(Failure::Changed);
    }
    let is_full = placed.iter().all(|block| block.is_full);
    Ok(is_full.then(|| room.into_coo(job, &placed)))
}

fn place_block<I: Id, V: Value>(
    rules: &EntryRules,
    block: Block<'_>,
    start: u64,
    mut part: Target<'_, I, V>,
) -> Result<Placed<I>, Failure> {
    let filled = if rules.expands {
        let mut at = 0;
        each_batch::<I, V>(rules, block, start, |rows, columns, values| {
            for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
                let mirrored = Entries::mirrored(rules, value);
                let images = [(row, column, value), (column, row, mirrored)];
                let count = if row == column { 1 } else { 2 };
                if part.rows.len() - at < count {
                    return Err(Failure::Changed);
                }
                for &(row, column, value) in &images[..count] {
                    part.put(at, row, column, value);
                    at += 1;
                }
            }
            Ok(())
        })?;
        at
    } else {
        let mut entries = Entries::of(rules, block, start);
        let filled = entries.fill(&mut part)?;
        if entries.has_more() {
            return Err(Failure::Changed);
        }
        filled
    };
    // Ids are checked only if they determine the number of vertices.
    let greatest = if rules.rows == u64::MAX {
        let greatest = |ids: &[I]| ids.iter().copied().max();
        greatest(&part.rows[..filled]).max(greatest(&part.columns[..filled]))
    } else {
        None
    };
    Ok(Placed { is_full: filled == part.rows.len(), greatest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::options::MatrixOptions;

    /// Returns the number of entries if one pass suffices for the file.
    fn at_once(text: &str, block_size: u64) -> Option<usize> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("it.mtx");
        std::fs::write(&path, text).expect("written");
        let options = MatrixOptions::new().with_block_size(block_size);
        let job = MatrixJob::begin(path.into(), &options).expect("a header");
        let found = place_at_once::<u32, f64>(&job, &EntryRules::of(&job)).expect("readable");
        found.map(|coo| coo.rows.len())
    }

    #[test]
    fn one_look_is_enough_for_whatever_has_an_entry_in_each_line() {
        let head = "%%MatrixMarket matrix coordinate real general\n";
        let lines = "1 2 0.5\n2 1 -3\n2 2 7e5\n";
        let symmetric = head.replace("general", "symmetric");
        let cases = [
            (format!("{head}2 2 3\n{lines}"), Some(3)),
            (format!("{head}2 2 3\n{}", lines.trim_end()), Some(3)),
            (format!("{head}2 2 3\n{lines}\n% the end\n\n"), Some(3)),
            (format!("{head}2 2 0\n"), Some(0)),
            // These need two passes.
            (format!("{head}2 2 3\n1 1 1\n\n{lines}"), None),
            (format!("{head}2 2 4\n{lines}"), None),
            (format!("{head}2 2 2\n{lines}"), None),
            (format!("{head}2 2 3\n{}", lines.replace("2 1", "3 1")), None),
            (format!("{symmetric}2 2 3\n{lines}"), None),
        ];
        for (text, wanted) in cases {
            for block_size in [1, 7, 20, 1 << 20] {
                assert_eq!(at_once(&text, block_size), wanted, "{block_size} of {text}");
            }
        }
    }
}
