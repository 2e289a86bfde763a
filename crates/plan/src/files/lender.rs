//! Decides which worker gets the next slab of a bounded store.

/// The reply to a worker that asks for a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Take a slab that was returned.
    Reuse,
    /// Make a new slab.
    Make,
    /// Ask again when a slab is returned, or when the turn passes to another file.
    Wait,
}

/// Lends a fixed number of slabs, plus a reserve for the file to be delivered next.
///
/// In input order, later files wait for that one with their slabs full: without the reserve it
/// could never be read.
///
/// ```
/// use swath_plan::files::{Grant, Lender};
///
/// let mut lender = Lender::new(1);
/// assert_eq!(lender.ask(5, 0), Grant::Make);
/// assert_eq!(lender.ask(7, 3), Grant::Wait, "all lent, and file 3 is next");
/// assert_eq!(lender.ask(3, 3), Grant::Make, "for file 3 there is a reserve");
/// lender.returned();
/// assert_eq!(lender.ask(7, 3), Grant::Wait, "which is not for file 7");
/// lender.returned();
/// assert_eq!(lender.ask(7, 3), Grant::Reuse);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lender {
    most: usize,
    lent: usize,
    idle: usize,
}

impl Lender {
    /// Slabs beyond the limit for the file whose turn it is: one is read while another is
    /// delivered.
    pub const RESERVE: usize = 2;

    /// Lends `most` slabs, at least one.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), lent: 0, idle: 0 }
    }

    /// Asks for a slab for file `file`, while file `turn` is delivered next. If `turn` is not a
    /// file, no worker gets the reserve.
    pub fn ask(&mut self, file: usize, turn: usize) -> Grant {
        let most = self.most + if file == turn { Self::RESERVE } else { 0 };
        if self.lent >= most {
            return Grant::Wait;
        }
        self.lent += 1;
        if self.idle == 0 {
            return Grant::Make;
        }
        self.idle -= 1;
        Grant::Reuse
    }

    /// Records that a slab could not be made.
    pub fn refused(&mut self) {
        self.lent = self.lent.saturating_sub(1);
    }

    /// Records that a slab was returned.
    pub fn returned(&mut self) {
        self.lent = self.lent.saturating_sub(1);
        self.idle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_the_limit_and_the_reserve_are_lent() {
        let mut lender = Lender::new(4);
        let others = (0..50).filter(|&file| lender.ask(file, 50) != Grant::Wait).count();
        assert_eq!(others, 4);
        let granted = others + (0..50).filter(|_| lender.ask(50, 50) != Grant::Wait).count();
        assert_eq!(granted, 4 + Lender::RESERVE);
        (0..6).for_each(|_| lender.returned());
        assert_eq!(lender.ask(99, 0), Grant::Reuse);
    }

    #[test]
    fn the_file_whose_turn_it_is_gets_one_whatever_the_others_hold() {
        let mut lender = Lender::new(3);
        while lender.ask(9, 2) != Grant::Wait {}
        assert_ne!(lender.ask(2, 2), Grant::Wait);
    }
}
