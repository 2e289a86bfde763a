//! The keys that are columns.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to treat a key that is not a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Others {
    /// Ignore it.
    Pass,
    /// Fail: the keys of all records are columns.
    Refuse,
}

/// The values that are accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::table) struct ValueRules {
    /// Whether `NaN`, `Infinity` and `-Infinity` are numbers.
    pub(in crate::table) has_nan: bool,
    /// Whether a duplicate key in a nested object is an error.
    pub(in crate::table) has_unique_keys: bool,
}

/// The keys that are columns.
#[derive(Debug)]
pub(in crate::table) struct Keys {
    indices: HashMap<Vec<u8>, u32>,
    pub(super) others: Others,
    pub(super) values: ValueRules,
    has_refused: AtomicBool,
}

impl Keys {
    pub(in crate::table) fn new(names: &[String], others: Others) -> Self {
        let keys = names.iter().map(|name| name.clone().into_bytes());
        let has_refused = AtomicBool::new(false);
        let (indices, values) = (keys.zip(0..).collect(), ValueRules::default());
        Self { indices, others, values, has_refused }
    }

    /// Returns the keys with these rules for values.
    pub(in crate::table) fn with_values(self, values: ValueRules) -> Self {
        Self { values, ..self }
    }

    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Records that an unknown key was refused.
    pub(in crate::table) fn refuse(&self) {
        // Relaxed: it is read after the workers have ended.
        self.has_refused.store(true, Ordering::Relaxed);
    }

    /// Whether an unknown key was refused.
    pub(in crate::table) fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::Relaxed)
    }

    /// Returns the column of a key.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.indices.get(key).copied()
    }
}
