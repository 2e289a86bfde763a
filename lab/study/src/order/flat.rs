//! A flat index: all items in one array, with the sums of their lengths beside it.
//!
//! Swath maintains no order while it writes, and builds this index once afterwards. Every edit recomputes
//! the sums, so edit single items only; add many items at once with [`from_items`](Order::from_items).

use super::arena::Arena;
use super::{BytePlace, Handle, Item, ItemPlace, Order};
use swath::append::ExtentIndex;

/// An array of items and of their starts. See the [module](self).
///
/// Every edit, also a push, is O(n). A search by offset is expected O(1) (see [`ExtentIndex`]); a search
/// by rank is one access to the array.
#[derive(Debug)]
pub struct Flat {
    ranks: Arena<usize>,
    items: Vec<(Handle, Item)>,
    index: ExtentIndex,
}

impl Flat {
    /// Recomputes the sums, and the ranks of the items from `rank` on.
    fn renew(&mut self, rank: usize) {
        for (rank, (handle, _)) in self.items.iter().enumerate().skip(rank) {
            self.ranks[handle.index] = rank;
        }
        self.index = sums(&self.items);
    }

    fn insert(&mut self, rank: usize, item: Item) -> Handle {
        let handle = self.ranks.insert(rank);
        self.items.insert(rank, (handle, item));
        self.renew(rank);
        handle
    }

    fn at(&self, rank: Option<usize>) -> Option<Handle> {
        self.items.get(rank?).map(|it| it.0)
    }

    fn rank(&self, handle: Handle) -> Option<usize> {
        self.ranks.get(handle).copied()
    }
}

fn sums(items: &[(Handle, Item)]) -> ExtentIndex {
    let lens = items.iter().map(|(_, item)| item.len);
    ExtentIndex::build(lens).expect("at most u64::MAX bytes")
}

impl Order for Flat {
    fn new() -> Self {
        Self::from_items([])
    }

    fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let mut ranks = Arena::new();
        let items = items.into_iter().enumerate();
        let items: Vec<_> = items.map(|(rank, item)| (ranks.insert(rank), item)).collect();
        let index = sums(&items);
        Self { ranks, items, index }
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> u64 {
        self.index.total()
    }

    fn push(&mut self, item: Item) -> Handle {
        self.insert(self.len(), item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        let rank = self.rank(handle)? + 1;
        Some(self.insert(rank, item))
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        (rank <= self.len()).then(|| self.insert(rank, item))
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        let rank = self.ranks.remove(handle)?;
        let (_, item) = self.items.remove(rank);
        self.renew(rank);
        Some(item)
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        let rank = self.rank(handle)?;
        let old = std::mem::replace(&mut self.items[rank].1, item);
        self.index = sums(&self.items);
        Some(old)
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        self.rank(handle).map(|rank| self.items[rank].1)
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        self.at(Some(rank))
    }

    #[inline]
    fn seek(&self, offset: u64) -> Option<BytePlace> {
        let (rank, within) = self.index.find(offset)?;
        let (handle, item) = self.items[rank];
        Some(BytePlace { handle, item, within })
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        let rank = self.rank(handle)?;
        Some(ItemPlace { rank, offset: self.index.start(rank)? })
    }

    fn next(&self, handle: Handle) -> Option<Handle> {
        self.at(self.rank(handle)?.checked_add(1))
    }

    fn previous(&self, handle: Handle) -> Option<Handle> {
        self.at(self.rank(handle)?.checked_sub(1))
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use crate::order::tests::Inspect;
    use swath_plan::random::SplitMix64;

    impl Inspect for Flat {
        fn inspect(&self) {
            assert_eq!((self.ranks.len(), self.index.len()), (self.items.len(), self.len()));
            for (rank, (handle, _)) in self.items.iter().enumerate() {
                assert_eq!(self.ranks.get(*handle), Some(&rank));
            }
        }

        fn spoil(&mut self, random: &mut SplitMix64) {
            let mut items = self.items.clone();
            items[random.below(self.len())].1.len += 1;
            self.index = sums(&items);
        }
    }
}
