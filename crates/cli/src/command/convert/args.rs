//! The flags of `swath convert`, and the library's options for them.

use clap::{Args, ValueHint};

use super::format::{FORMATS, Format, WRITTEN};
use crate::args::{OutputArgs, TableArgs, TableOutArgs, count, input, parse_extent, words};
use crate::input::Input;
use swath::{Extent, ReadOptions};
use swath_formats::matrix::{
    Base, Duplicates, EntryOrder, MatrixFormat, MatrixOptions, MatrixWriteOptions, Strictness,
    SymmetricHalf, ValueKind,
};
use swath_formats::table::{BatchForm, BatchOptions, BatchWriteOptions};

/// `swath convert`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath convert graph.mtx graph.npz           compressed rows, for scipy.sparse.load_npz
  swath convert edges.el graph.mtx
  swath convert --from edges --base 1 edges.txt graph.npz
  swath convert --shape 3x5 entries.csv matrix.mtx
  swath convert table.csv table.npy           row-major doubles
  swath convert table.csv table.arrow         columns with their own types, and nulls
  swath convert --columns id,score customers.csv.gz scores.npy
  swath convert --decimals 6 table.npy table.csv
  swath convert --delimiter ';' --decimal , export.csv people.arrow
  swath convert --dtypes zip=text people.csv people.jsonl.zst
  swath convert 'days/*.csv' --file-column day all.arrow
  swath convert --columns id,at events.jsonl events.csv

  curl -s https://example.org/g.mtx | swath convert --to npz -o graph.npz

Compressed text (.gz .zst .bz2 after the other ending) is decompressed on the way. The endings of the \
names give the formats: .mtx .mm .el .txt .csv .tsv .npy .npz .arrow .arrows .jsonl, and .gz .zst .bz2 \
after .csv .tsv .jsonl .arrow .arrows. Tables may have text, dates and booleans; .npy and matrices hold \
numbers alone. A .tsv, and a .txt that is read, has edges if the other file is a matrix, else a table. A matrix becomes a table with a row for each entry. A table with such a \
header becomes that matrix; any other table becomes a matrix of its values that are not zero.")]
pub struct Convert {
    /// The file to convert; `-` is standard input
    ///
    /// A folder, or a pattern in quotes such as 'days/*.csv', stands for several files with the same columns:
    /// one table, in the order of their names. See --file-column.
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The converted file, a folder for it, or `-` for standard output [default: IN with the ending of
    /// --to; standard output if IN is standard input]
    ///
    /// The file appears in one step, once it is complete.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// The format of IN [default: by its first bytes and the end of its name]
    #[arg(long = "from", value_name = "FORMAT", value_parser = words(FORMATS))]
    pub from_format: Option<Format>,

    /// The format of OUT [default: by the end of its name]
    #[arg(long = "to", value_name = "FORMAT", value_parser = words(WRITTEN))]
    pub to_format: Option<Format>,

    /// Flags for matrices.
    #[command(flatten)]
    pub matrix: MatrixArgs,

    /// Flags for tables that are read.
    #[command(flatten)]
    pub table: Box<TableArgs>,

    /// Flags for tables that are written.
    #[command(flatten)]
    pub table_out: TableOutArgs,

    /// Take only the rows or entries that begin in these bytes of text, the last one to its end
    ///
    /// If extents cover a file without overlap, each row begins in exactly one of them. The header is
    /// always read.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_extent)]
    pub starting_in: Option<Extent>,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Where to write it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Flags for matrices.
#[derive(Debug, Args)]
pub struct MatrixArgs {
    /// The half of a symmetric matrix that is not in the file: add it, or leave it out
    #[arg(long, value_name = "WHAT", value_parser = words(SymmetricHalf::WORDS), default_value = "expand")]
    pub symmetric: SymmetricHalf,

    /// Entries with the same row and column
    #[arg(long, value_name = "WHAT", value_parser = words(Duplicates::WORDS), default_value = "keep")]
    pub duplicates: Duplicates,

    /// Sort entries by row and column
    #[arg(long)]
    pub sort: bool,

    /// The first row and column of edge lists, read or written
    #[arg(long, value_name = "N", value_parser = words(Base::WORDS), default_value = "auto")]
    pub base: Base,

    /// The type of values
    #[arg(long, value_name = "TYPE", value_parser = words(ValueKind::WORDS), default_value = "auto")]
    pub values: ValueKind,

    /// The size of a matrix that is made from edges or a table: 3x5 has 3 rows and 5 columns [default:
    /// from a comment or the metadata of an .arrow file, else large enough for all entries]
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = shape)]
    pub shape: Option<(u64, u64)>,

    /// Refuse common deviations from the format: a banner with one %, comments between entries
    #[arg(long)]
    pub strict: bool,
}

/// Parses rows and columns.
fn shape(word: &str) -> Result<(u64, u64), String> {
    let parts = word.split_once(['x', 'X', '×']);
    let size =
        parts.and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)));
    size.ok_or_else(|| "write rows and columns with an x between them: 3x5".to_owned())
}

impl Convert {
    /// Returns a given flag that has no effect between these formats, and its purpose.
    pub fn idle_flag(&self, from: Format, to: Format) -> Option<(String, &'static str)> {
        let matrix = &self.matrix;
        let is_parsed = matches!(from, Format::Mtx | Format::Edges);
        let is_table = from.is_table_text();
        let becomes_matrix = from == Format::Edges || (!from.is_matrix() && to.is_matrix());
        let has_edges = from == Format::Edges || to == Format::Edges;
        let has_decimals = to.is_separated() || to == Format::Jsonl;
        let (read, written) = (self.table.flag(), self.table_out.flag());
        const PARSED: &str = "matrices and edges that are read from text";
        const TABLES: &str = "tables that are read from text";
        const WRITTEN: &str = "tables that are written as text";
        [
            (read.as_deref().unwrap_or_default(), read.is_some() && !is_table, TABLES),
            (
                written.as_deref().unwrap_or_default(),
                written.is_some() && !to.is_separated(),
                WRITTEN,
            ),
            (
                "--starting-in",
                self.starting_in.is_some() && !is_parsed && !is_table,
                "matrices, edges and tables that are read from text",
            ),
            ("--symmetric", matrix.symmetric != SymmetricHalf::Expanded && !is_parsed, PARSED),
            ("--duplicates", matrix.duplicates != Duplicates::Kept && !is_parsed, PARSED),
            ("--sort", matrix.sort && !is_parsed, PARSED),
            ("--values", matrix.values != ValueKind::Auto && !is_parsed, PARSED),
            ("--strict", matrix.strict && !is_parsed, PARSED),
            (
                "--shape",
                matrix.shape.is_some() && !becomes_matrix,
                "edges and tables that become matrices",
            ),
            ("--base", matrix.base != Base::Auto && !has_edges, "edges"),
            ("--decimals", self.table_out.decimals.is_some() && !has_decimals, WRITTEN),
        ]
        .into_iter()
        .find_map(|(flag, is_idle, what)| is_idle.then(|| (flag.to_owned(), what)))
    }

    /// Returns the library's options for a matrix that is read.
    pub fn matrix_options(&self, format: Format, read: ReadOptions) -> MatrixOptions {
        let args = &self.matrix;
        let (is_edges, strictness) = (format == Format::Edges, args.strict);
        let options = MatrixOptions::new();
        let options = match args.shape {
            Some((rows, columns)) => options.with_shape(rows, columns),
            None => options,
        };
        let options = match self.starting_in {
            Some(extent) => options.with_starting_in(extent),
            None => options,
        };
        options
            .with_read(read.with_workers(self.workers))
            .with_format(if is_edges {
                MatrixFormat::Edges
            } else {
                MatrixFormat::MatrixMarket
            })
            .with_base(if is_edges { args.base } else { Base::Auto })
            .with_symmetric_half(args.symmetric)
            .with_duplicates(args.duplicates)
            .with_order(if args.sort { EntryOrder::Sorted } else { EntryOrder::File })
            .with_values(args.values)
            .with_strictness(if strictness {
                Strictness::Strict
            } else {
                Strictness::Permissive
            })
    }

    /// Returns the library's options for a matrix that is written.
    pub fn matrix_write_options(&self, format: Format) -> MatrixWriteOptions {
        let is_edges = format == Format::Edges;
        MatrixWriteOptions::new()
            .with_format(if is_edges {
                MatrixFormat::Edges
            } else {
                MatrixFormat::MatrixMarket
            })
            .with_base(if is_edges { self.matrix.base } else { Base::Auto })
    }

    /// Returns the library's options for a table that is read.
    pub fn batch_options(&self, format: Format, read: ReadOptions) -> BatchOptions {
        let read = read.with_workers(self.workers);
        let options = self.table.batch_options(format.form().unwrap_or(BatchForm::Csv), read);
        match self.starting_in {
            Some(extent) => options.with_starting_in(extent),
            None => options,
        }
    }

    /// Returns the library's options for a table that is written.
    pub fn batch_write_options(&self) -> BatchWriteOptions {
        self.table_out.write_options()
    }
}
