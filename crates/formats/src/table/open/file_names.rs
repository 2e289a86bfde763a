//! The column that names the file of each row.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, new_null_array};

use super::file::TableFile;
use crate::table::types::ColumnType;

/// The names of all files: one dictionary for all batches, since an Arrow file allows only one.
pub(in crate::table) struct FileNames {
    texts: ArrayRef,
    /// The key of each file.
    keys: Vec<i32>,
}

impl FileNames {
    /// Collects the names; a file that is read twice has one.
    pub(in crate::table) fn of(files: &[TableFile]) -> Self {
        let (mut texts, mut known, mut keys) = (Vec::new(), HashMap::new(), Vec::new());
        for file in files {
            let text = file.path().to_string_lossy().into_owned();
            let next = i32::try_from(known.len()).unwrap_or(i32::MAX);
            keys.push(*known.entry(text.clone()).or_insert_with(|| {
                texts.push(text);
                next
            }));
        }
        Self { texts: Arc::new(StringArray::from(texts)), keys }
    }

    /// Returns the column for rows of one file.
    pub(in crate::table) fn column(&self, file: usize, rows: usize) -> ArrayRef {
        let keys = Int32Array::from(vec![self.keys[file]; rows]);
        match DictionaryArray::try_new(keys, Arc::clone(&self.texts)) {
            Ok(all) => Arc::new(all),
            // There are never more open files than keys.
            Err(_) => new_null_array(&ColumnType::Dictionary.data_type(), rows),
        }
    }
}
