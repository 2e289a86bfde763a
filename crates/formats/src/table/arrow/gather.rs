//! Columns of numbers from Arrow's record batches: each value exactly, or an error that names the
//! column.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bytemuck::Pod;
use bytes::Bytes;
use swath::Array;

use super::super::columns::{Column, ColumnKind, Columns, Shared, clear};

type Gathered<T> = Result<T, ArrowError>;

impl Columns {
    /// Copies the columns of `batches`, which all have this schema: integers to 64-bit integers,
    /// floats to doubles. Without batches, only checks that the types are supported.
    ///
    /// ```
    /// use swath_formats::table::{self, Columns};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y\n1,2.5\n3,4\n")?;
    /// let table = table::read_columns(&path)?;
    /// let batch = table.to_record_batch()?;
    /// assert_eq!(Columns::from_record_batches(&batch.schema(), &[batch])?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ArrowError::SchemaError`] for a column that is not of plain numbers, and
    /// [`ArrowError::ComputeError`] for an unsigned integer above 2^63 - 1; both name the column.
    /// Also if there is not enough memory.
    pub fn from_record_batches(schema: &Schema, batches: &[RecordBatch]) -> Gathered<Self> {
        let kinds = schema.fields().iter().map(|field| kind_of(field));
        let kinds = kinds.collect::<Gathered<Vec<_>>>()?;
        let mut columns = Vec::new();
        for (index, (kind, field)) in kinds.into_iter().zip(schema.fields()).enumerate() {
            let chunks: Vec<&ArrayRef> =
                batches.iter().map(|batch| batch.column(index)).collect();
            columns.push(match kind {
                ColumnKind::I64 | ColumnKind::U64 => integers(field.name(), &chunks)?,
                ColumnKind::F64 => doubles(&chunks)?,
            });
        }
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { rows, names: Some(names), columns })
    }
}

fn kind_of(field: &Field) -> Gathered<ColumnKind> {
    use DataType as Of;
    let refused = |kind: String| {
        let name = field.name();
        let text =
            format!("column `{name}` is of type {kind}: only plain numbers are supported");
        Err(ArrowError::SchemaError(text))
    };
    if let Some(name) = field.extension_type_name() {
        return refused(name.to_owned());
    }
    match field.data_type() {
        Of::Int8 | Of::Int16 | Of::Int32 | Of::Int64 => Ok(ColumnKind::I64),
        Of::UInt8 | Of::UInt16 | Of::UInt32 | Of::UInt64 => Ok(ColumnKind::I64),
        // In a column without values, all are missing.
        Of::Float16 | Of::Float32 | Of::Float64 | Of::Null => Ok(ColumnKind::F64),
        other => refused(other.to_string()),
    }
}

fn integers(name: &str, chunks: &[&ArrayRef]) -> Gathered<Column> {
    column(ColumnKind::I64, chunks, |chunk, out| match chunk.data_type() {
        DataType::Int8 => fill::<Int8Type, _>(chunk, out, |value| Some(value.into())),
        DataType::Int16 => fill::<Int16Type, _>(chunk, out, |value| Some(value.into())),
        DataType::Int32 => fill::<Int32Type, _>(chunk, out, |value| Some(value.into())),
        DataType::Int64 => fill::<Int64Type, _>(chunk, out, Some),
        DataType::UInt8 => fill::<UInt8Type, _>(chunk, out, |value| Some(value.into())),
        DataType::UInt16 => fill::<UInt16Type, _>(chunk, out, |value| Some(value.into())),
        DataType::UInt32 => fill::<UInt32Type, _>(chunk, out, |value| Some(value.into())),
        _ => fill::<UInt64Type, _>(chunk, out, |value| i64::try_from(value).ok()),
    })?
    .ok_or_else(|| {
        let text =
            format!("column `{name}` has an integer above 2^63 - 1, which does not fit i64");
        ArrowError::ComputeError(text)
    })
}

fn doubles(chunks: &[&ArrayRef]) -> Gathered<Column> {
    let column = column(ColumnKind::F64, chunks, |chunk, out| match chunk.data_type() {
        DataType::Float16 => fill::<Float16Type, _>(chunk, out, |value| Some(value.into())),
        DataType::Float32 => fill::<Float32Type, _>(chunk, out, |value| Some(value.into())),
        DataType::Null => true,
        _ => fill::<Float64Type, f64>(chunk, out, Some),
    })?;
    let column = column.ok_or_else(|| {
        ArrowError::ComputeError("a float did not convert to a double".into())
    })?;
    let is_double = |chunk: &&ArrayRef| *chunk.data_type() == DataType::Float64;
    Ok(Column { are_singles: !chunks.iter().any(is_double), ..column })
}

/// Stores the values that are present; the others stay zero. Returns whether every value was
/// converted.
fn fill<T: ArrowPrimitiveType, W>(
    chunk: &ArrayRef,
    out: &mut [W],
    word: impl Fn(T::Native) -> Option<W>,
) -> bool {
    let chunk = chunk.as_primitive::<T>();
    out.iter_mut().zip(chunk.values()).enumerate().all(|(row, (slot, &value))| {
        if !chunk.is_valid(row) {
            return true;
        }
        word(value).map(|word| *slot = word).is_some()
    })
}

/// Concatenates the chunks; `None` if `fill` rejected one.
fn column<W: Pod + Send>(
    kind: ColumnKind,
    chunks: &[&ArrayRef],
    fill: impl Fn(&ArrayRef, &mut [W]) -> bool,
) -> Gathered<Option<Column>>
where
    Array<W>: Send,
{
    let rows = chunks.iter().map(|chunk| chunk.len()).sum();
    let words = Array::<W>::zeroed(rows);
    let mut words = words.map_err(|error| ArrowError::MemoryError(error.to_string()))?;
    let (mut bits, mut nulls, mut first) = (Vec::new(), 0, 0);
    for chunk in chunks {
        if !fill(chunk, &mut words[first..first + chunk.len()]) {
            return Ok(None);
        }
        if let Some(there) = chunk.logical_nulls() {
            for row in (0..chunk.len()).filter(|&row| there.is_null(row)) {
                clear(&mut bits, first + row, rows);
                nulls += 1;
            }
        }
        first += chunk.len();
    }
    let validity = (nulls > 0).then(|| Bytes::from(bits));
    let values = Bytes::from_owner(Shared(words));
    Ok(Some(Column { kind, values, validity, nulls, are_singles: false }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int8Array, Int64Array, StringArray, UInt64Array};

    use super::*;
    use crate::table::Values;

    fn gathered(batches: &[RecordBatch]) -> Gathered<Columns> {
        Columns::from_record_batches(batches[0].schema_ref(), batches)
    }

    fn batch(name: &str, array: impl arrow_array::Array + 'static) -> RecordBatch {
        let array: ArrayRef = Arc::new(array);
        RecordBatch::try_from_iter([(name, array)]).expect("a batch")
    }

    #[test]
    fn batches_are_put_together_with_what_is_missing() {
        let long: Int8Array = (0..70_i8).map(|row| (row % 9 != 0).then_some(row)).collect();
        let batches =
            [batch("n", long.slice(3, 60)), batch("n", long.slice(0, 0)), batch("n", long)];
        let table = gathered(&batches).expect("integers");
        assert_eq!((table.rows, table.names), (130, Some(vec!["n".to_owned()])));
        let Values::I64(values) = table.columns[0].values() else { panic!("integers") };
        for (row, wanted) in (3..63).chain(0..70).enumerate() {
            let is_there = wanted % 9 != 0;
            assert_eq!(table.columns[0].is_valid(row), is_there, "row {row}");
            assert_eq!(values[row], if is_there { wanted } else { 0 });
        }
    }

    #[test]
    fn what_is_not_kept_is_refused_by_name() {
        let words = gathered(&[batch("word", StringArray::from(vec!["a"]))]).expect_err("text");
        assert!(
            matches!(&words, ArrowError::SchemaError(text) if text.contains("`word` is of type Utf8"))
        );
        let most = [Some(i64::MAX.cast_unsigned()), None];
        let table = gathered(&[batch("n", UInt64Array::from_iter(most))]).expect("it fits");
        assert_eq!(table.columns[0].values(), Values::I64(&[i64::MAX, 0]));
        let beyond = batch("n", UInt64Array::from(vec![1, 1 << 63]));
        let beyond = gathered(&[beyond]).expect_err("too large");
        assert!(matches!(&beyond, ArrowError::ComputeError(text) if text.contains("`n`")));
        let field = Field::new("month", DataType::Int64, true)
            .with_metadata([("ARROW:extension:name".to_owned(), "pandas.period".to_owned())]);
        let months: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let schema = Arc::new(Schema::new(vec![field]));
        let months = RecordBatch::try_new(schema, vec![months]).expect("a batch");
        let error = gathered(&[months]).expect_err("no integers");
        assert!(error.to_string().contains("`month` is of type pandas.period"), "{error}");
    }
}
