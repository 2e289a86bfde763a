//! The types of the columns of a table, decided once for all of its parts.

use swath::Source;

use super::array::refuse_stand_in;
use super::columns::ColumnKind;
use super::head;
use super::infer::{Inference, has_misfit, likely, settle};
use super::options::TableOptions;
use crate::error::Result;

/// The names and types of the columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableSchema {
    /// The names in the header, if there is one.
    pub names: Option<Vec<String>>,
    /// The type of each column that is read, in the order of the result.
    pub kinds: Vec<ColumnKind>,
}

/// Returns the names and types of the columns of the table in `source`: those that
/// [`read_columns`](super::read_columns) would give them.
///
/// Reads and parses the table, and keeps nothing of it. Types depend on every field, so the types of
/// a part may differ from those of the whole table. Pass them to
/// [`with_kinds`](TableOptions::with_kinds) to read all parts with the same types.
///
/// ```
/// use swath_formats::table::{self, ColumnKind};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "n,x\n1,2\n3,0.5\n")?;
/// let schema = table::schema(&path)?;
/// assert_eq!(schema.names.as_deref(), Some(&["n".to_owned(), "x".to_owned()][..]));
/// assert_eq!(schema.kinds, [ColumnKind::I64, ColumnKind::F64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableOptions::schema`].
pub fn schema(source: impl Into<Source>) -> Result<TableSchema> {
    TableOptions::new().schema(source)
}

impl TableOptions {
    /// Returns the names and types of the columns that these options select, of the rows that they
    /// select. A few rows are enough if you know that the others are alike:
    ///
    /// ```
    /// use swath::Extent;
    /// use swath_formats::table::TableOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y\n1,2.5\n3,4\n")?;
    /// let first = TableOptions::new().with_starting_in(Extent::between(0, 1 << 20));
    /// let kinds = first.schema(&path)?.kinds;
    /// let options = TableOptions::new().with_kinds(kinds.into_iter().enumerate());
    /// let part = options.with_starting_in(Extent::between(8, 12)).read_columns(&path)?;
    /// assert_eq!(part.columns[1].values(), swath_formats::table::Values::F64(&[4.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`read_columns`](Self::read_columns).
    pub fn schema(&self, source: impl Into<Source>) -> Result<TableSchema> {
        self.schema_from(source.into())
    }

    fn schema_from(&self, source: Source) -> Result<TableSchema> {
        let (input, head) = head::open(source, self)?;
        refuse_stand_in(&input, self)?;
        let mut kinds = likely(&input, &head)?;
        let inference = Inference {
            input: &input,
            options: self,
            head: &head,
            counts: Vec::new(),
            rows: usize::MAX,
        };
        let found = inference.look(&kinds)?;
        settle(&mut kinds, &found, &head);
        if has_misfit(&kinds, &found) {
            return Err(inference.find_fault(&kinds, true)?);
        }
        if let Some(picked) = &head.picked {
            kinds = picked.arrange(&kinds);
        }
        Ok(TableSchema { names: head.names(), kinds })
    }
}
