//! The caller's batches, one after another, or errors in their place.

use std::error::Error as StdError;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use crate::error::{Error, FormatReason, Result};

/// An item of the iterator that [`write_batches`](crate::table::write::write_batches) takes: a
/// batch, a reference to one, or a result with one.
pub trait BatchItem {
    /// Returns the batch, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// If the item is an error.
    fn into_batch(self) -> std::result::Result<RecordBatch, Box<dyn StdError + Send + Sync>>;
}

impl BatchItem for RecordBatch {
    fn into_batch(self) -> std::result::Result<RecordBatch, Box<dyn StdError + Send + Sync>> {
        Ok(self)
    }
}

impl BatchItem for &RecordBatch {
    fn into_batch(self) -> std::result::Result<RecordBatch, Box<dyn StdError + Send + Sync>> {
        Ok(self.clone())
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> BatchItem
    for std::result::Result<RecordBatch, E>
{
    fn into_batch(self) -> std::result::Result<RecordBatch, Box<dyn StdError + Send + Sync>> {
        self.map_err(Into::into)
    }
}

/// The caller's items.
pub(super) type GivenItems<'i> = dyn Iterator<Item = std::result::Result<RecordBatch, Box<dyn StdError + Send + Sync>>>
    + Send
    + 'i;

/// Batches of one schema. Ends after an error.
pub(super) struct Given<'i> {
    items: &'i mut GivenItems<'i>,
    schema: &'i Schema,
    path: &'i Path,
    count: u64,
    /// Rows of all batches taken.
    pub(super) rows: u64,
}

impl<'i> Given<'i> {
    pub(super) fn new(
        items: &'i mut GivenItems<'i>,
        schema: &'i Schema,
        path: &'i Path,
    ) -> Self {
        Self { items, schema, path, count: 0, rows: 0 }
    }

    pub(super) fn path(&self) -> &'i Path {
        self.path
    }

    pub(super) fn schema(&self) -> &'i Schema {
        self.schema
    }

    /// Checks that a batch has the columns of the schema.
    fn checked(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let (is, wanted) = (batch.columns(), self.schema.fields());
        let detail = if is.len() != wanted.len() {
            format!(
                "batch {} has {} columns, and the schema {}",
                self.count,
                is.len(),
                wanted.len()
            )
        } else {
            let differs =
                |(column, field): &(&arrow_array::ArrayRef, &arrow_schema::FieldRef)| {
                    column.data_type() != field.data_type()
                };
            match is.iter().zip(wanted).find(differs) {
                None => return Ok(batch),
                Some((column, field)) => format!(
                    "column `{}` of batch {} is of type {}, and in the schema of type {}",
                    field.name(),
                    self.count,
                    column.data_type(),
                    field.data_type()
                ),
            }
        };
        let error = Error::writing(self.path, FormatReason::Invalid, detail);
        Err(error.hint("pass the schema of the batches"))
    }
}

impl Iterator for Given<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.count += 1;
        Some(match self.items.next()? {
            Ok(batch) => self.checked(batch).inspect(|it| self.rows += it.num_rows() as u64),
            Err(error) => Err(failed(error, self.path)),
        })
    }
}

/// Converts an item's error. One of this library, as from a stream of batches, stays as it is; any
/// other becomes the cause.
fn failed(error: Box<dyn StdError + Send + Sync>, path: &Path) -> Error {
    let error = match error.downcast::<Error>() {
        Ok(ours) => return *ours,
        Err(error) => error,
    };
    match error.downcast::<swath::Error>() {
        Ok(ours) => Error::from(*ours),
        Err(other) => {
            Error::writing(path, FormatReason::Source, "the next batch could not be made")
                .caused_by(other)
        }
    }
}
