//! Unites files with different columns in one table.
//!
//! ```text
//! file 0    b          columns   b a     fields   0 –
//! file 1    a,b                                   1 0
//! ```

use std::collections::HashMap;

use super::file::TableFile;
use super::head::TableHead;
use super::plan::{self, TablePlan};
use super::report::Renamed;
use crate::error::{Error, FormatReason, Result};
use crate::memory::room_for;
use crate::table::options::BatchOptions;
use crate::table::text::faults;
use crate::table::text::shape::{RecordShape, ShapeFields};

/// Memory for a column of a file in the result, besides its values.
const PART: usize = 256;

/// Plans a table of all columns, in the order of first appearance. They become the columns of the
/// first file.
pub(in crate::table) fn plan(
    files: &[TableFile],
    heads: &mut [TableHead],
    options: &BatchOptions,
) -> Result<TablePlan> {
    let nameless = heads.iter().position(|head| head.lines == 0);
    if let Some(file) = nameless.map(|at| &files[at]) {
        let detail = "its first line is data, and columns are united by name";
        let error = Error::reading(file.path(), FormatReason::Invalid, detail);
        return Err(error.hint("set `header` if it has names"));
    }
    let (mut columns, mut names) = (HashMap::new(), Vec::new());
    let (mut renamed, mut shapes) = (Vec::new(), Vec::with_capacity(heads.len()));
    for head in &*heads {
        let before = names.len();
        let mut column = |name| {
            *columns.entry(name).or_insert_with(|| {
                names.push(String::clone(name));
                names.len() - 1
            })
        };
        let of_fields: Vec<usize> = head.names.iter().map(&mut column).collect();
        let new =
            head.renamed.iter().map(|it| Renamed { index: of_fields[it.index], ..it.clone() });
        renamed.extend(new.filter(|it| it.index >= before));
        shapes.push(RecordShape {
            fields: Some(ShapeFields::new(&of_fields)),
            ..plan::shape(options, head)
        });
    }
    if room_for(names.len().saturating_mul(heads.len()).saturating_mul(PART)).is_err() {
        return Err(faults::no_room(files[0].path(), names.len()));
    }
    (heads[0].names, heads[0].renamed) = (names, renamed);
    Ok(TablePlan { shapes, ..TablePlan::new(files[0].path(), options, &heads[0])? })
}
