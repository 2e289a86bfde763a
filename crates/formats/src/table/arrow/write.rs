//! Writes record batches as an Arrow file or stream.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Schema};

/// Arrow's two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Container {
    /// Has an index at the end.
    File,
    /// Read from front to back.
    Stream,
}

/// Writes batches to `W`.
pub(in crate::table) enum ArrowWriter<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> ArrowWriter<W> {
    pub(in crate::table) fn new(
        container: Container,
        out: W,
        schema: &Schema,
    ) -> Result<Self, ArrowError> {
        Ok(match container {
            Container::File => Self::File(FileWriter::try_new(out, schema)?),
            Container::Stream => Self::Stream(StreamWriter::try_new(out, schema)?),
        })
    }

    pub(in crate::table) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        }
    }

    pub(in crate::table) fn finish(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.finish(),
            Self::Stream(writer) => writer.finish(),
        }
    }

    /// Returns the output.
    pub(in crate::table) fn out(&mut self) -> &mut W {
        match self {
            Self::File(writer) => writer.get_mut(),
            Self::Stream(writer) => writer.get_mut(),
        }
    }
}
