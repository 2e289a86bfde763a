//! One file to read: its header, and its lines in blocks, as often as needed.

use std::path::Path;

use swath::{Block, ReadOptions, Records, Source};

use crate::error::{Error, FormatReason, Result};
use crate::input::{InputText, plain_name};
use crate::matrix::header::{self, MatrixHeader, Stop};
use crate::matrix::kinds::{Field, Layout, Symmetry};
use crate::matrix::options::{
    Base, Ids, MatrixFormat, MatrixOptions, SymmetricHalf, ValueKind,
};
use crate::share::workers;
use crate::text::TextFault;

/// The reason why a file was not read.
#[derive(Debug)]
pub(super) enum Failure {
    Fault(TextFault),
    /// An id needs more than 32 bits, and the options allow that.
    Wide(TextFault),
    /// The second pass over a file found something different from the first.
    Changed,
    Error(Error),
}

impl From<TextFault> for Failure {
    fn from(fault: TextFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<swath::Error> for Failure {
    fn from(error: swath::Error) -> Self {
        Self::Error(error.into())
    }
}

/// The position of a pass among those over the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatrixPass {
    /// A pass that another one follows.
    First,
    /// The pass whose progress is reported.
    Last,
}

/// A file, and the options for reading it.
pub(super) struct MatrixJob<'p> {
    pub(super) input: InputText,
    pub(super) options: &'p MatrixOptions,
    pub(super) header: MatrixHeader,
    /// Length of the text in bytes.
    pub(super) len: u64,
    /// Never [`ValueKind::Auto`].
    pub(super) values: ValueKind,
    pub(super) block_size: u64,
}

impl<'p> MatrixJob<'p> {
    /// Reads the header, and rejects impossible sizes.
    pub(super) fn begin(source: Source, options: &'p MatrixOptions) -> Result<Self> {
        let input = InputText::open(source, &options.read.clone().without_progress())?;
        let len = input.len();
        let mut header = header_of(&input, options)?;
        if options.starting_in.is_some() {
            // The header does not tell how many entries begin in this part.
            header.entry_count = None;
            if header.layout == Layout::Array {
                let detail = "the values of a dense matrix do not show their position";
                return Err(Error::reading(input.path(), FormatReason::Unsupported, detail)
                    .hint("read the whole file"));
            }
        }
        let values = value_kind(input.path(), &header, options)?;
        let block_size = if options.block_size == 0 { 512 << 10 } else { options.block_size };
        let job = Self { input, options, header, len, values, block_size };
        job.check_plausible().map_err(|fault| fault.into_error(&job.input))?;
        Ok(job)
    }

    /// Rejects a number of entries that the file is too short for.
    fn check_plausible(&self) -> std::result::Result<(), TextFault> {
        let Some(entries) = self.header.entry_count else { return Ok(()) };
        // The shortest possible line, including its newline.
        let shortest = match (self.header.layout, self.header.field) {
            (Layout::Array, Field::Complex) => 4,
            (Layout::Array, _) => 2,
            (_, Field::Pattern) => 4,
            (_, Field::Complex) => 8,
            _ => 6,
        };
        // The last line may lack a newline.
        let room = (self.len.saturating_sub(self.header.body_offset) + 1) / shortest;
        if entries <= room {
            return Ok(());
        }
        // If there are enough lines, one is malformed; the error for that line is more useful.
        if self.count_lines().is_some_and(|lines| lines >= entries) {
            return Ok(());
        }
        let detail = format!(
            "the header declares {entries} entries, but the file has room for {room} at most"
        );
        let at = self.header.body_offset.saturating_sub(1);
        Err(TextFault { offset: at, reason: FormatReason::Truncated, detail })
    }

    /// Returns the number of lines after the header, if it can be counted.
    fn count_lines(&self) -> Option<u64> {
        let body = self.header.body_offset;
        let read = self.options.read.clone().without_progress();
        let read = read.without_extent().with_offset(body);
        let newlines = read.count(self.input.source(), b'\n').ok()?.value;
        // The last line may lack a newline.
        Some(newlines + 1)
    }

    /// Whether mirror images are added.
    pub(super) fn expands(&self) -> bool {
        self.header.symmetry != Symmetry::General
            && self.options.symmetric_half == SymmetricHalf::Expanded
    }

    /// Returns the symmetry of the result: the entries that it leaves out.
    pub(super) fn symmetry(&self) -> Symmetry {
        if self.expands() { Symmetry::General } else { self.header.symmetry }
    }

    /// Returns the first id of the file.
    pub(super) fn base(&self) -> u32 {
        match self.options.base {
            Base::Zero => 0,
            Base::One => 1,
            Base::Auto => u32::from(self.header.first_id > 0),
        }
    }

    pub(super) fn workers(&self) -> usize {
        workers(self.options.read.workers())
    }

    /// Returns the library's error if the call was cancelled.
    pub(super) fn check_cancelled(&self) -> std::result::Result<(), Failure> {
        if self.options.read.is_cancelled() {
            let read = self.options.read.clone().without_progress().without_extent();
            read.with_len(self.len.min(1)).read(self.input.source())?;
        }
        Ok(())
    }

    /// Calls `map` for every block of lines after the header, and returns the results in the order
    /// of the file.
    pub(super) fn map_blocks<R: Send>(
        &self,
        pass: MatrixPass,
        map: impl Fn(Block<'_>) -> std::result::Result<R, Failure> + Sync,
    ) -> std::result::Result<Vec<R>, Failure> {
        self.blocks(pass).map_blocks(map)
    }

    /// Returns the blocks of lines after the header.
    pub(super) fn blocks(&self, pass: MatrixPass) -> Records<'static> {
        let body = self.header.body_offset;
        let mut read = self.options.read.clone().with_offset(body).with_len(self.len - body);
        if !matches!(pass, MatrixPass::Last) {
            read = read.without_progress();
        }
        // A record of each block is kept, so their number is limited.
        let block_size = self.block_size.max(self.len / 8192);
        let records = read.records(self.input.source()).with_block_size(block_size);
        match self.options.starting_in {
            Some(extent) => records.with_starting_in(extent),
            None => records,
        }
    }

    /// Reads with the value type that the header implies. If an integer does not fit the usual
    /// type, reads once more with unsigned ones.
    pub(super) fn read<R>(mut self, read: impl Fn(&Self) -> Result<R>) -> Result<R> {
        let first = read(&self);
        // The other half of a skew-symmetric matrix has the opposite sign.
        let is_open = self.options.values == ValueKind::Auto
            && self.values == ValueKind::I64
            && self.header.symmetry != Symmetry::SkewSymmetric;
        let Some(error) = first.as_ref().err().filter(|_| is_open) else { return first };
        // A sum that overflows has no place in the text.
        if error.reason() != FormatReason::TooLarge || error.offset().is_none() {
            return first;
        }
        self.values = ValueKind::U64;
        match read(&self) {
            // Only a later fault is more useful.
            Err(second) if second.offset() <= error.offset() => first,
            second => second,
        }
    }

    /// Reads with the requested type of ids, or with the narrowest that suffices.
    pub(super) fn with_ids<R>(
        &self,
        narrow: impl FnOnce(&Self) -> std::result::Result<R, Failure>,
        wide: impl FnOnce(&Self) -> std::result::Result<R, Failure>,
    ) -> Result<R> {
        let most = self.header.row_count.max(self.header.column_count);
        let fits = most.is_none_or(|most| most <= 1 << 32);
        let result = match self.options.ids {
            Ids::U64 => wide(self),
            Ids::U32 if !fits => {
                let at = self.header.body_offset.saturating_sub(1);
                Err(TextFault::too_large(at, "ids need more than 32 bits").into())
            }
            Ids::Auto if !fits => wide(self),
            Ids::U32 => narrow(self),
            Ids::Auto => match narrow(self) {
                Err(Failure::Wide(_)) => wide(self),
                result => result,
            },
        };
        result.map_err(|failure| self.error(failure))
    }

    fn error(&self, failure: Failure) -> Error {
        match failure {
            Failure::Fault(fault) | Failure::Wide(fault) => fault.into_error(&self.input),
            Failure::Changed => {
                let detail = "the file changed while it was read";
                Error::reading(self.input.path(), FormatReason::Invalid, detail)
                    .hint("read it again")
            }
            Failure::Error(error) => error,
        }
    }
}

/// Reads enough of the beginning to contain the header.
fn header_of(input: &InputText, options: &MatrixOptions) -> Result<MatrixHeader> {
    let len = input.len();
    let is_market = plain_name(input.path()).extension().is_some_and(|extension| {
        ["mtx", "mm"].iter().any(|name| extension.eq_ignore_ascii_case(name))
    });
    let format = match options.format {
        MatrixFormat::Auto if is_market => MatrixFormat::MatrixMarket,
        format => format,
    };
    let mut wanted = 64 << 10;
    loop {
        let read = ReadOptions::new().with_len(len.min(wanted)).with_workers(1);
        let bytes = read.read(input.source())?.buffer;
        match header::parse(&bytes, wanted >= len, format, options) {
            Ok(header) => return Ok(header),
            Err(Stop::Fault(fault)) => return Err(fault.into_error(input)),
            Err(Stop::More) => wanted *= 8,
        }
    }
}

/// Returns the requested type of values, if the file can provide it.
fn value_kind(
    path: &Path,
    header: &MatrixHeader,
    options: &MatrixOptions,
) -> Result<ValueKind> {
    match (options.values, header.field) {
        (ValueKind::Auto, Field::Pattern) => Ok(ValueKind::None),
        (ValueKind::Auto, Field::Integer) => Ok(ValueKind::I64),
        // The other half is negative.
        (ValueKind::Auto, Field::Unsigned) if header.symmetry == Symmetry::SkewSymmetric => {
            Ok(ValueKind::I64)
        }
        (ValueKind::Auto, Field::Unsigned) => Ok(ValueKind::U64),
        (ValueKind::Auto, Field::Real) => Ok(ValueKind::F64),
        (ValueKind::Auto, Field::Complex) => Ok(ValueKind::Complex),
        (ValueKind::I64 | ValueKind::U64 | ValueKind::F32 | ValueKind::F64, Field::Complex) => {
            let detail = "its values are complex, but the options request real ones";
            Err(Error::reading(path, FormatReason::Unsupported, detail))
        }
        (values, _) => Ok(values),
    }
}
