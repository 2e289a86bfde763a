//! Structures with one planted bug each, which the battery must catch from outside.

use super::*;
use crate::order::{BytePlace, ItemPlace};
use std::marker::PhantomData;

/// The bug of a mutant, which shows at some edits.
trait Bug {
    /// Whether an edit spoils the structure's data about its items.
    const SPOILS: bool = false;

    fn insert_after<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Handle> {
        order.insert_after(handle, item)
    }

    fn update<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Item> {
        order.update(handle, item)
    }

    fn delete<O: Order>(order: &mut O, handle: Handle) -> Option<Item> {
        order.delete(handle)
    }

    fn found(found: BytePlace) -> BytePlace {
        found
    }

    fn place(place: ItemPlace) -> ItemPlace {
        place
    }
}

/// A structure with a bug that shows at every 64th edit.
struct Mutant<O, B> {
    order: O,
    random: SplitMix64,
    edits: usize,
    bug: PhantomData<B>,
}

impl<O: Inspect, B: Bug> Mutant<O, B> {
    fn of(order: O) -> Self {
        Self { order, random: SplitMix64::new(3), edits: 0, bug: PhantomData }
    }

    /// Counts an edit; returns whether the bug shows in it.
    fn is_wrong(&mut self) -> bool {
        self.edits += 1;
        let is_wrong = self.edits.is_multiple_of(64);
        if B::SPOILS && is_wrong && !self.order.is_empty() {
            self.order.spoil(&mut self.random);
        }
        is_wrong
    }
}

impl<O: Inspect, B: Bug> Order for Mutant<O, B> {
    fn new() -> Self {
        Self::of(O::new())
    }

    fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        Self::of(O::from_items(items))
    }

    fn len(&self) -> usize {
        self.order.len()
    }

    fn bytes(&self) -> u64 {
        self.order.bytes()
    }

    fn push(&mut self, item: Item) -> Handle {
        self.order.push(item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        if self.is_wrong() {
            B::insert_after(&mut self.order, handle, item)
        } else {
            self.order.insert_after(handle, item)
        }
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        self.order.insert_at(rank, item)
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        if self.is_wrong() {
            B::delete(&mut self.order, handle)
        } else {
            self.order.delete(handle)
        }
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        // Rarer than the other edits, so wrong more often.
        self.edits += 32;
        if self.is_wrong() || self.edits.is_multiple_of(3) {
            B::update(&mut self.order, handle, item)
        } else {
            self.order.update(handle, item)
        }
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        self.order.get(handle)
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        self.order.at_rank(rank)
    }

    fn seek(&self, offset: u64) -> Option<BytePlace> {
        self.order.seek(offset).map(B::found)
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        self.order.place(handle).map(B::place)
    }

    fn next(&self, handle: Handle) -> Option<Handle> {
        self.order.next(handle)
    }

    fn previous(&self, handle: Handle) -> Option<Handle> {
        self.order.previous(handle)
    }
}

struct ForgetsASpan;

impl Bug for ForgetsASpan {
    const SPOILS: bool = true;
}

struct InsertsOneTooEarly;

impl Bug for InsertsOneTooEarly {
    fn insert_after<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Handle> {
        let rank = order.place(handle)?.rank;
        order.insert_at(rank, item)
    }
}

struct InsertsOneTooLate;

impl Bug for InsertsOneTooLate {
    fn insert_after<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Handle> {
        order.insert_after(order.next(handle).unwrap_or(handle), item)
    }
}

struct KeepsTheOldLength;

impl Bug for KeepsTheOldLength {
    fn update<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Item> {
        let len = order.get(handle)?.len;
        order.update(handle, Item { len, ..item })
    }
}

struct MovesWhatItUpdates;

impl Bug for MovesWhatItUpdates {
    fn update<O: Order>(order: &mut O, handle: Handle, item: Item) -> Option<Item> {
        order.insert_after(handle, item)?;
        order.delete(handle)
    }
}

struct DeletesTheNext;

impl Bug for DeletesTheNext {
    fn delete<O: Order>(order: &mut O, handle: Handle) -> Option<Item> {
        let item = order.get(handle)?;
        order.delete(order.next(handle).unwrap_or(handle))?;
        Some(item)
    }
}

struct EmptiesInsteadOfDeleting;

impl Bug for EmptiesInsteadOfDeleting {
    fn delete<O: Order>(order: &mut O, handle: Handle) -> Option<Item> {
        order.update(handle, Item::default())
    }
}

struct SeeksBesideTheLastByte;

impl Bug for SeeksBesideTheLastByte {
    fn found(found: BytePlace) -> BytePlace {
        let within = if found.within == 90 { 91 } else { found.within };
        BytePlace { within, ..found }
    }
}

struct CountsFromOneFarBehind;

impl Bug for CountsFromOneFarBehind {
    fn place(place: ItemPlace) -> ItemPlace {
        ItemPlace { rank: place.rank + usize::from(place.rank > 100), ..place }
    }
}

fn catches<O: Inspect, B: Bug>() {
    // A spoilt structure may also fail its own assertions: that counts as caught.
    let mutant = || super::battery::run::<Mutant<O, B>>(|_| ());
    let outcome = std::panic::catch_unwind(mutant);
    let bug = std::any::type_name::<Mutant<O, B>>();
    assert!(!matches!(outcome, Ok(Ok(()))), "{bug} was not caught");
}

#[test]
fn the_battery_catches_a_span_that_was_not_updated_in_each_structure() {
    catches::<Flat, ForgetsASpan>();
    catches::<LinkedList, ForgetsASpan>();
    catches::<SkipList, ForgetsASpan>();
    catches::<BTree, ForgetsASpan>();
    catches::<Packed, ForgetsASpan>();
}

#[test]
fn the_battery_catches_items_in_the_wrong_place() {
    catches::<LinkedList, InsertsOneTooEarly>();
    catches::<LinkedList, InsertsOneTooLate>();
    catches::<LinkedList, MovesWhatItUpdates>();
}

#[test]
fn the_battery_catches_edits_of_something_else() {
    catches::<LinkedList, KeepsTheOldLength>();
    catches::<LinkedList, DeletesTheNext>();
    catches::<LinkedList, EmptiesInsteadOfDeleting>();
}

#[test]
fn the_battery_catches_searches_that_are_wrong_at_an_edge() {
    catches::<LinkedList, SeeksBesideTheLastByte>();
    catches::<LinkedList, CountsFromOneFarBehind>();
}
