//! Where columns of fixed width are.

use swath_formats::table::FixedColumn;

use crate::failure::{Failure, Result};
use crate::options::SWATH_TO_END;
use crate::setter::{change, put};
use crate::status::Status;
use crate::table::options::TableOptions;

/// Adds a column of SWATH_TABLE_FORM_FIXED, `characters` wide, after those that were added before, without a
/// gap. Text after the last one is an error of the call that reads. Widths and positions exclude each
/// other. Default: columns are found.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_add_width(
    options: Option<&mut TableOptions>,
    characters: usize,
) -> Status {
    put(options, |options| options.widths.push(characters))
}

/// Adds a column of SWATH_TABLE_FORM_FIXED: the characters of each line from `start` on, counted from 0,
/// and before `end`. SWATH_TO_END is the end of the line, of the last column only. Columns are added in
/// order; between them, and after the last one, may be text that is not read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_add_position(
    options: Option<&mut TableOptions>,
    start: u64,
    end: u64,
) -> Status {
    change(options, |options| {
        let end = if end == SWATH_TO_END { None } else { Some(place(end)?) };
        options.positions.push(FixedColumn { start: place(start)?, end });
        Ok(())
    })
}

fn place(place: u64) -> Result<usize> {
    usize::try_from(place).map_err(|_| Failure::invalid("no line has that many characters"))
}
