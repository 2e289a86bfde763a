//! Values with handles that stay valid until the value is removed.

use super::Handle;

/// Slots in a vector. An empty slot is reused with the next generation.
#[derive(Debug)]
pub(super) struct Arena<T> {
    slots: Vec<ArenaSlot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct ArenaSlot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Arena<T> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Stores `value`, in amortised O(1).
    pub(super) fn insert(&mut self, value: T) -> Handle {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.value = Some(value);
            return Handle { index, generation: slot.generation };
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than u32::MAX items");
        assert!(index < u32::MAX, "fewer than u32::MAX items");
        self.slots.push(ArenaSlot { generation: 0, value: Some(value) });
        Handle { index, generation: 0 }
    }

    /// Removes a value, in O(1).
    pub(super) fn remove(&mut self, handle: Handle) -> Option<T> {
        let slot = self.slots.get_mut(handle.index as usize)?;
        if slot.generation != handle.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(handle.index);
        Some(value)
    }

    pub(super) fn get(&self, handle: Handle) -> Option<&T> {
        let slot = self.slots.get(handle.index as usize)?;
        slot.value.as_ref().filter(|_| slot.generation == handle.generation)
    }

    pub(super) fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let slot = self.slots.get_mut(handle.index as usize)?;
        slot.value.as_mut().filter(|_| slot.generation == handle.generation)
    }

    /// Returns the handle of the value in slot `index`, which must not be empty.
    pub(super) fn handle(&self, index: u32) -> Handle {
        Handle { index, generation: self.slots[index as usize].generation }
    }
}

/// Finds a value by the index of its slot, for structures that know that it exists.
impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        self.slots[index as usize].value.as_ref().expect("a structure knows its own items")
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.slots[index as usize].value.as_mut().expect("a structure knows its own items")
    }
}
