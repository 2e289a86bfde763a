//! A set of nodes, in the kernel's representation.

use std::io::{self, ErrorKind};

/// Bits of one word.
const WORD: usize = libc::c_ulong::BITS as usize;
/// The most nodes that a kernel can be built for.
const NODES: usize = 1024;

/// One bit for each node. A kernel with fewer nodes requires the rest to be 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeMask([libc::c_ulong; NODES / WORD]);

impl NodeMask {
    pub(super) const EMPTY: Self = Self([0; NODES / WORD]);

    /// Returns the mask of `nodes`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a number is higher than those of any kernel.
    pub(crate) fn of(nodes: &[usize]) -> io::Result<Self> {
        let mut mask = Self::EMPTY;
        for node in nodes {
            let word = mask.0.get_mut(node / WORD);
            *word.ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))? |=
                1 << (node % WORD);
        }
        Ok(mask)
    }

    /// Returns the nodes of the mask, ascending.
    pub(super) fn nodes(&self) -> Vec<usize> {
        let is_set = |node: &usize| self.0[node / WORD] >> (node % WORD) & 1 == 1;
        (0..NODES).filter(is_set).collect()
    }

    pub(crate) fn as_ptr(&self) -> *const libc::c_ulong {
        self.0.as_ptr()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::c_ulong {
        self.0.as_mut_ptr()
    }

    /// Returns the length to pass with the mask: the kernel reads one bit less than this number.
    pub(crate) fn bits() -> libc::c_ulong {
        NODES as libc::c_ulong + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_nodes_that_it_was_made_of_in_any_word() {
        for nodes in [&[][..], &[0], &[63, 64], &[0, 1, 65, 1023]] {
            assert_eq!(NodeMask::of(nodes).expect("below 1024").nodes(), nodes);
        }
        assert_eq!(NodeMask::of(&[64]).expect("below 1024").0[..2], [0, 1]);
        for node in [1024, usize::MAX] {
            let error = NodeMask::of(&[0, node]).expect_err("no kernel has it");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    }
}
