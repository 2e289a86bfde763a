//! Random edits and searches, compared with a plain `Vec`.

use super::*;

/// Numbers of items to reach, one after the other: none, one, and around the sizes at which nodes split
/// and merge and arrays grow and shrink.
const SIZES: &[usize] = &[
    0, 1, 2, 1, 0, 3, 8, 7, 9, 0, 17, 31, 33, 64, 66, 8, 33, 100, 3, 260, 1100, 40, 600, 0, 5,
];

/// Up to this many items, all are compared; of more, about this many.
const THOROUGHLY: usize = 128;

/// Runs all seeds; returns the first difference, with the seed and the step to repeat it.
pub(super) fn run<O: Order>(look: impl Fn(&O)) -> Result<(), String> {
    (1..=6).try_for_each(|seed| {
        Battery::<O>::new(seed)
            .run(&look)
            .map_err(|(step, difference)| format!("seed {seed}, step {step}: {difference}"))
    })
}

struct Battery<O> {
    order: O,
    model: Vec<(Handle, Item)>,
    /// Handles of items that were deleted.
    gone: Vec<Handle>,
    random: SplitMix64,
    step: usize,
}

impl<O: Order> Battery<O> {
    fn new(seed: u64) -> Self {
        let (model, gone) = (Vec::new(), Vec::new());
        Self { order: O::new(), model, gone, random: SplitMix64::new(seed), step: 0 }
    }

    fn run(&mut self, look: &impl Fn(&O)) -> Result<(), (usize, String)> {
        self.steps(look).map_err(|difference| (self.step, difference))
    }

    fn steps(&mut self, look: &impl Fn(&O)) -> Result<(), String> {
        for &size in SIZES {
            // A third of all phases edit one spot, where structures are under the most stress.
            let spot = (self.random.below(3) == 0).then(|| self.rank());
            while self.model.len() != size {
                self.step += 1;
                let grows = self.model.len() < size;
                match self.random.below(16) {
                    0 => self.update()?,
                    1 => self.refused()?,
                    2 => self.edit(!grows, spot)?,
                    _ => self.edit(grows, spot)?,
                }
                if self.model.len() < 40 || self.step.is_multiple_of(199) {
                    self.look(look)?;
                }
            }
            self.look(look)?;
            if self.random.below(4) == 0 {
                self.start_anew()?;
            }
        }
        Ok(())
    }

    fn look(&mut self, look: &impl Fn(&O)) -> Result<(), String> {
        look(&self.order);
        compare(&self.order, &self.model, &mut self.random, THOROUGHLY)
    }

    fn rank(&mut self) -> usize {
        self.random.below(self.model.len().max(1))
    }

    fn edit(&mut self, grow: bool, spot: Option<usize>) -> Result<(), String> {
        let any = self.rank();
        let rank = spot.unwrap_or(any).min(self.model.len().saturating_sub(1));
        match (grow, self.model.is_empty()) {
            (true, _) => self.insert(rank),
            (false, false) => self.delete(rank),
            (false, true) => Ok(()),
        }
    }

    fn insert(&mut self, rank: usize) -> Result<(), String> {
        let item = random_item(&mut self.random);
        let way = if self.model.is_empty() { 3 } else { self.random.below(4) };
        let (rank, handle) = match way {
            0 => (rank, self.order.insert_at(rank, item)),
            1 | 2 => (rank + 1, self.order.insert_after(self.model[rank].0, item)),
            _ if self.random.below(2) == 0 => {
                (self.model.len(), self.order.insert_at(self.model.len(), item))
            }
            _ => (self.model.len(), Some(self.order.push(item))),
        };
        let handle = handle.ok_or("an insertion was refused")?;
        if self.model.iter().any(|it| it.0 == handle) || self.gone.contains(&handle) {
            return Err(format!("{handle:?} was given twice"));
        }
        self.model.insert(rank, (handle, item));
        Ok(())
    }

    fn delete(&mut self, rank: usize) -> Result<(), String> {
        let (handle, item) = self.model.remove(rank);
        self.gone.push(handle);
        same("delete", self.order.delete(handle), Some(item))
    }

    fn update(&mut self) -> Result<(), String> {
        let (rank, item) = (self.rank(), random_item(&mut self.random));
        let Some((handle, kept)) = self.model.get_mut(rank) else { return Ok(()) };
        let old = std::mem::replace(kept, item);
        same("update", self.order.update(*handle, item), Some(old))
    }

    /// Tries handles of deleted items, and ranks beyond the end.
    fn refused(&mut self) -> Result<(), String> {
        let item = random_item(&mut self.random);
        same("insert_at", self.order.insert_at(self.model.len() + 1, item), None)?;
        if self.gone.is_empty() {
            return Ok(());
        }
        let handle = self.gone[self.random.below(self.gone.len())];
        same("insert_after", self.order.insert_after(handle, item), None)?;
        same("delete", self.order.delete(handle), None)?;
        same("update", self.order.update(handle, item), None)?;
        same("get", self.order.get(handle), None)?;
        same("place", self.order.place(handle), None)?;
        same("next", self.order.next(handle), None)?;
        same("previous", self.order.previous(handle), None)
    }

    /// Makes a new structure of the present items at once.
    fn start_anew(&mut self) -> Result<(), String> {
        self.order = O::from_items(self.model.iter().map(|it| it.1));
        self.gone.clear();
        let handles: Vec<_> = self.order.iter().map(|it| it.0).collect();
        same("from_items", handles.len(), self.model.len())?;
        for (kept, handle) in self.model.iter_mut().zip(handles) {
            kept.0 = handle;
        }
        Ok(())
    }
}

#[track_caller]
fn passes<O: Inspect>() {
    run::<O>(O::inspect).expect("the structure does what a Vec does");
}

#[test]
fn a_flat_index_keeps_the_order() {
    passes::<Flat>();
}

#[test]
fn a_linked_list_keeps_the_order() {
    passes::<LinkedList>();
}

#[test]
fn a_skip_list_keeps_the_order() {
    passes::<SkipList>();
}

#[test]
fn a_b_tree_keeps_the_order() {
    passes::<BTree>();
}

#[test]
fn a_packed_array_keeps_the_order() {
    passes::<Packed>();
}

/// Tests enough items for trees of three levels and for several doublings.
fn holds_many<O: Inspect>(count: usize) {
    let mut random = SplitMix64::new(7);
    let items: Vec<_> = (0..count).map(|_| random_item(&mut random)).collect();
    let mut order = O::from_items(items.iter().copied());
    let handles: Vec<_> = order.iter().map(|it| it.0).collect();
    let mut model: Vec<_> = handles.into_iter().zip(items).collect();
    order.inspect();
    compare(&order, &model, &mut random, 500).expect("seed 7");
    for _ in 0..100 {
        let (rank, item) = (random.below(model.len()), random_item(&mut random));
        let handle = order.insert_after(model[rank].0, item).expect("it is there");
        model.insert(rank + 1, (handle, item));
        let (handle, item) = model.remove(random.below(model.len()));
        assert_eq!(order.delete(handle), Some(item));
    }
    order.inspect();
    compare(&order, &model, &mut random, 500).expect("seed 7");
}

#[test]
fn large_structures_keep_the_order_too() {
    holds_many::<Flat>(20_000);
    holds_many::<LinkedList>(5_000);
    holds_many::<SkipList>(100_000);
    holds_many::<BTree>(100_000);
    holds_many::<Packed>(100_000);
}

fn refuses_too_many_bytes<O: Order + std::panic::UnwindSafe>() {
    let item = |len| Item { segment: 0, offset: 0, len };
    let mut full = O::from_items([item(u64::MAX - 1), item(1)]);
    assert_eq!(full.seek(u64::MAX - 1).map(|it| it.within), Some(0));
    assert_eq!(full.seek(u64::MAX), None);
    let last = full.at_rank(1).expect("two items");
    full.update(last, item(0)).expect("it is there");
    full.push(item(1));
    assert!(std::panic::catch_unwind(move || full.push(item(1))).is_err());
}

#[test]
fn a_total_beyond_64_bits_panics_instead_of_wrapping() {
    refuses_too_many_bytes::<Flat>();
    refuses_too_many_bytes::<LinkedList>();
    refuses_too_many_bytes::<SkipList>();
    refuses_too_many_bytes::<BTree>();
    refuses_too_many_bytes::<Packed>();
}
