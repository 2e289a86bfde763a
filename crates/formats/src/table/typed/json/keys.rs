//! The keys that are columns.

use std::collections::HashMap;

/// What becomes of a key that is not a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table::typed) enum Others {
    /// It is passed over.
    Pass,
    /// It is an error: the keys of all records are columns.
    Refuse,
}

/// The keys that are columns.
#[derive(Clone, Debug)]
pub(in crate::table::typed) struct Keys {
    indices: HashMap<Vec<u8>, u32>,
    pub(super) others: Others,
}

impl Keys {
    pub(in crate::table::typed) fn new(names: &[String], others: Others) -> Self {
        let keys = names.iter().map(|name| name.clone().into_bytes());
        Self { indices: keys.zip(0..).collect(), others }
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns the column of a key.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.indices.get(key).copied()
    }
}
