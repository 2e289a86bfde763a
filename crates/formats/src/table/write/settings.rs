//! The options of tables that are written, by their words.

use super::options::{BatchForm, BatchWriteOptions, LineEnd, Packing, Quoting};
use crate::compressed::Format;
use crate::table::options::choices::HeaderLine;
use crate::table::options::settings::{listed, settings, table, value, word};
use crate::table::value::Decimals;

settings! { BatchWriteOptions,
    /// The form of the file.
    form = table!(form: BatchForm), "by the name of the file";
    /// Whether the output is compressed, and how.
    packing = table!(packing: Packing), "`auto`: by the name of the file";
    /// The level of compression.
    level = table!(level: i32), "that of the format";
    /// The delimiter of fields.
    delimiter = table!(delimiter: u8), "`,`; `tab` in a `.tsv`";
    /// Which fields are quoted: those that have to be, all, or none, where one that has to be is an error.
    quoting = table!(quoting: Quoting), "`minimal`";
    /// The end of a line: `\n` or `\r\n`.
    line_end = table!(line_end: LineEnd), "`lf`";
    /// The word for a missing value.
    null_word = table!(null_word: String), "an empty field; `NA` in a table of one column";
    /// Whether the first line has the names of the columns.
    header = table!(header: HeaderLine), "`yes`";
    /// Digits after the decimal point.
    decimals = table!(decimals: Decimals), "`shortest`: as many as give the same number again";
    /// The names of the columns.
    names = table!(names: Vec<String>), "those of the table";
    /// Bytes of text that a worker formats at a time, or of values in a batch of an Arrow file.
    block_size = table!(block_size: u64), "`0`: by the form";
}

value!(BatchForm);
value!(Quoting);
value!(LineEnd);
value!(Packing, format!("`auto`, `none`, {}", listed(Format::WORDS)), |text| match text {
    "auto" => Some(Self::ByName),
    "none" => Some(Self::Plain),
    text => word(Format::WORDS, text).map(Self::Format),
});
