//! Random numbers.

/// Numbers that look random and depend only on the seed.
pub(super) struct Dice(Box<dyn FnMut() -> u64>);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Box::new(crate::splitmix(seed)))
    }

    /// Draws a number below `count`.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        (self.0)() % count.max(1)
    }

    /// Draws an index below `count`.
    pub(super) fn index(&mut self, count: usize) -> usize {
        let index = self.below(count.try_into().expect("counts fit 64 bits"));
        index.try_into().expect("below the count")
    }

    /// Returns true once in this many times.
    pub(super) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Draws one of these.
    pub(super) fn pick<'a, T>(&mut self, any: &'a [T]) -> &'a T {
        &any[self.index(any.len())]
    }

    /// Draws any 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        (self.0)()
    }
}
