//! Many threads use one skip list.

use super::*;
use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

const THREADS: u64 = 8;

/// The state of one thread, which edits its own items and inserts after common ones.
struct Strand {
    /// The items that the thread knows, in the order that they must have, whatever other threads did.
    model: Vec<(Handle, Item)>,
    random: SplitMix64,
}

impl Strand {
    /// Inserts after, changes or deletes one of the thread's own items. All threads know the common items, so
    /// it only inserts after those.
    fn step(&mut self, list: &SkipList, common: usize, may_delete: bool) {
        let (rank, item) = (self.random.below(self.model.len()), random_item(&mut self.random));
        let (handle, old) = self.model[rank];
        let is_own = old.segment >= COMMON;
        let item = Item { segment: item.segment + COMMON, len: item.len & 0xffff, ..item };
        match self.random.below(16) {
            0 | 1 if is_own => {
                assert_eq!(list.update_shared(handle, item), Some(old));
                self.model[rank].1 = item;
            }
            2..5 if is_own && may_delete => {
                assert_eq!(list.delete_shared(handle), Some(old));
                self.model.remove(rank);
            }
            5 => self.model.push((list.push_shared(item), item)),
            // A place where all threads insert.
            6 => self.insert_behind(list, common, item),
            _ => self.insert_behind(list, rank, item),
        }
    }

    fn insert_behind(&mut self, list: &SkipList, rank: usize, item: Item) {
        let handle = self.model[rank].0;
        let handle =
            list.insert_after_shared(handle, item).expect("no other thread deletes it");
        self.model.insert(rank + 1, (handle, item));
    }
}

/// The first segment number of threads' own items.
const COMMON: u32 = 1 << 20;

/// Runs the threads and returns the state of each.
fn run(list: &SkipList, seed: u64, steps: usize, may_delete: bool) -> Vec<Strand> {
    let mut random = SplitMix64::new(seed);
    let count = random.below(4) * 20 + 1;
    let before: Vec<_> = (0..count)
        .map(|_| {
            let item = random_item(&mut random);
            let item = Item { len: item.len & 0xffff, ..item };
            (list.push_shared(item), item)
        })
        .collect();
    let barrier = Barrier::new(usize::try_from(THREADS).expect("few"));
    thread::scope(|scope| {
        let strands = (0..THREADS).map(|thread| {
            let random = SplitMix64::new(seed * THREADS + thread);
            let mut strand = Strand { model: before.clone(), random };
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for step in 0..steps {
                    // The first item keeps rank 0 in each thread's order.
                    strand.step(list, 0, may_delete);
                    if step % 64 == 0 {
                        thread::yield_now();
                    }
                }
                strand
            })
        });
        let strands: Vec<_> = strands.collect();
        strands.into_iter().map(|strand| strand.join().expect("no panic")).collect()
    })
}

/// Checks that the items that one thread knows are in the order that this thread alone would have made:
/// items of other threads only come between them.
fn check(list: &SkipList, strands: &[Strand], seed: u64) {
    let all: Vec<_> = list.iter().collect();
    let own = |strand: &Strand| strand.model.iter().filter(|it| it.1.segment >= COMMON).count();
    let common = strands[0].model.len() - own(&strands[0]);
    let expected = common + strands.iter().map(own).sum::<usize>();
    assert_eq!(all.len(), expected, "seed {seed}: items were lost or are there twice");
    for (thread, strand) in strands.iter().enumerate() {
        let known: HashSet<_> = strand.model.iter().map(|it| it.0).collect();
        let seen: Vec<_> = all.iter().filter(|it| known.contains(&it.0)).copied().collect();
        assert!(seen == strand.model, "seed {seed}: the order of thread {thread} is broken");
    }
    list.inspect();
    let mut random = SplitMix64::new(seed);
    compare(list, &all, &mut random, 2000).unwrap_or_else(|error| panic!("{seed}: {error}"));
}

#[test]
fn what_many_threads_insert_stands_where_each_of_them_put_it() {
    for seed in 1..=12 {
        let list = SkipList::new();
        let strands = run(&list, seed, 1500, false);
        check(&list, &strands, seed);
    }
}

#[test]
fn threads_may_delete_what_is_their_own() {
    for seed in 1..=12 {
        let list = SkipList::new();
        let strands = run(&list, seed, 1500, true);
        check(&list, &strands, seed);
    }
}

#[test]
fn searches_beside_insertions_neither_hang_nor_find_what_was_never_there() {
    let list = SkipList::new();
    let first = list.push_shared(Item { segment: 0, offset: 0, len: 8 });
    thread::scope(|scope| {
        let writers: Vec<_> = (1..4)
            .map(|segment| {
                let list = &list;
                scope.spawn(move || {
                    let item = Item { segment, offset: 0, len: 8 };
                    (0..4000).try_for_each(|_| list.insert_after_shared(first, item).map(drop))
                })
            })
            .collect();
        let mut random = SplitMix64::new(1);
        while writers.iter().any(|writer| !writer.is_finished()) {
            let offset = random.next_word() % list.bytes();
            if let Some(found) = list.seek(offset) {
                assert_eq!(list.get(found.handle), Some(found.item));
            }
            if let Some(handle) = list.at_rank(random.below(list.len())) {
                assert!(list.place(handle).is_some());
            }
        }
        for writer in writers {
            assert!(writer.join().expect("no panic").is_some(), "nothing is refused");
        }
    });
    assert_eq!((list.len(), list.bytes()), (12_001, 12_001 * 8));
    list.inspect();
}

#[test]
fn one_of_many_deletions_of_an_item_is_granted() {
    let list = SkipList::new();
    let handles: Vec<_> =
        (0..500).map(|offset| list.push_shared(Item { segment: 0, offset, len: 1 })).collect();
    let granted: usize = thread::scope(|scope| {
        let delete = || handles.iter().filter(|&&it| list.delete_shared(it).is_some()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(delete)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!((granted, list.len(), list.bytes()), (500, 0, 0));
    list.inspect();
}
