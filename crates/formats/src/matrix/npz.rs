//! SciPy's `.npz`: compressed rows as five NumPy arrays in an archive.
//!
//! ```text
//! zip   indices.npy   the column of each entry       indptr.npy   the start of each row
//!       data.npy      the value of each entry        shape.npy    rows, columns     format.npy  csr
//! ```
//!
//! Reads files of `scipy.sparse.save_npz`, compressed or not. Writes files for
//! `scipy.sparse.load_npz`: not compressed, 32-bit ids if all fit, ones for entries without values.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use swath::Array;
use swath::append::{Append, AppendOptions};
use swath::{OutputOptions, ReadOptions, Reader, Source};
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::input::{self, OpenedText};
use crate::matrix::id::Id;
use crate::matrix::kinds::Symmetry;
use crate::matrix::sparse::{AnyCsr, Csr};
use crate::matrix::value::Values;
use crate::setters::setters;
use crate::table::npy::{self, NpyHeader};

/// The most bytes that one compressed byte decompresses to.
const MOST_EXPANSION: u64 = 1032;
/// Limit for the header of an array, in bytes.
const MOST_HEADER: usize = 1 << 16;
/// Number of values converted at a time.
const STEP: usize = 1 << 16;

/// Reads compressed rows that `scipy.sparse.save_npz` or [`write()`] wrote.
///
/// ```
/// use swath_formats::matrix::{self, AnyCsr, npz};
///
/// # let folder = tempfile::tempdir()?;
/// # let (edges, path) = (folder.path().join("graph.el"), folder.path().join("graph.npz"));
/// # std::fs::write(&edges, "0 2\n1 0\n")?;
/// # npz::write(&path, &matrix::read_rows(&edges)?)?;
/// let AnyCsr::U32(graph) = npz::read(&path)? else { unreachable!("ids fit 32 bits") };
/// assert_eq!(graph.row(0), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::UnknownFormat`] for another archive, [`FormatReason::Unsupported`] for other
/// layouts and types, [`FormatReason::Malformed`] for arrays that contradict each other, an id out
/// of range, or a row that ends before it begins; if the file cannot be read; if there is not
/// enough memory.
pub fn read(source: impl Into<Source>) -> Result<AnyCsr> {
    NpzOptions::new().read(source)
}

/// Writes compressed rows for `scipy.sparse.load_npz`. The file is complete under its name, or
/// absent. Returns its length in bytes.
///
/// ```
/// use swath_formats::matrix::{self, npz};
///
/// # let folder = tempfile::tempdir()?;
/// # let (edges, path) = (folder.path().join("graph.el"), folder.path().join("graph.npz"));
/// std::fs::write(&edges, "0 2\n1 0\n")?;
/// let bytes = npz::write(&path, &matrix::read_rows(&edges)?)?;
/// assert_eq!(bytes, std::fs::metadata(&path)?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::Unsupported`] if the matrix stores only one half: read it with
/// [`SymmetricHalf::Expanded`](super::SymmetricHalf::Expanded). Whatever writing reports.
pub fn write(path: impl AsRef<Path>, matrix: &AnyCsr) -> Result<u64> {
    NpzOptions::new().write(path, matrix)
}

/// How to read and write `.npz`. Every setter returns the options; none can fail.
#[derive(Clone, Debug, Default)]
pub struct NpzOptions {
    read: ReadOptions,
    output: OutputOptions,
}

impl NpzOptions {
    /// Defaults: everything chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the file. It is always read as a whole.
        with_read(read: ReadOptions);

        /// How to write the file.
        with_output(output: OutputOptions);
    }

    /// Like [`read`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<AnyCsr> {
        rows_of(Archive::open(&input::open(source.into(), &self.read)?, &self.read)?)
    }

    /// Like [`write()`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`].
    pub fn write(&self, path: impl AsRef<Path>, matrix: &AnyCsr) -> Result<u64> {
        match matrix {
            AnyCsr::U32(matrix) => write_rows(matrix, path.as_ref(), &self.output),
            AnyCsr::U64(matrix) => write_rows(matrix, path.as_ref(), &self.output),
        }
    }
}

type Zip<'z> = ZipWriter<StreamWriter<Fused<&'z mut Append>>>;

/// Accepts and discards everything once a write has failed. Dropping an archive finishes it, and
/// would print a message if that failed as well.
struct Fused<W> {
    out: W,
    has_failed: bool,
}

impl<W: Write> Fused<W> {
    fn of(out: W) -> Self {
        Self { out, has_failed: false }
    }

    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        self.has_failed |=
            result.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::Interrupted);
        result
    }
}

impl<W: Write> Write for Fused<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.note(flushed)
    }
}

fn write_rows<I: Id>(matrix: &Csr<I>, path: &Path, output: &OutputOptions) -> Result<u64> {
    if matrix.symmetry != Symmetry::General {
        let detail =
            "the matrix stores one half of a symmetric matrix, which .npz cannot represent";
        return Err(Error::writing(path, FormatReason::Unsupported, detail)
            .hint("read the matrix with its other half expanded"));
    }
    let mut out = AppendOptions::new().with_output(output.clone()).create(path)?;
    let mut zip = ZipWriter::new_stream(Fused::of(&mut out));
    let put = put_all(matrix, &mut zip);
    let put = put.and_then(|()| zip.finish().map(drop).map_err(unwrapped));
    put.map_err(|error| Error::from_writing(error, path))?;
    Ok(out.commit()?.bytes)
}

/// Extracts the write error from the archive's own.
fn unwrapped(error: ZipError) -> std::io::Error {
    match error {
        ZipError::Io(error) => error,
        error => error.into(),
    }
}

fn put_all<I: Id>(matrix: &Csr<I>, zip: &mut Zip<'_>) -> std::io::Result<()> {
    let entries = matrix.entry_count();
    let most = matrix.row_count.max(matrix.column_count).max(entries as u64);
    let is_small = i32::try_from(most).is_ok();
    let ids = if is_small { "<i4" } else { "<i8" };
    let size = if is_small { 4 } else { 8 };
    begin(zip, "indices", ids, &[entries], size)?;
    put_numbers(zip, size, &matrix.columns)?;
    begin(zip, "indptr", ids, &[matrix.offsets.len()], size)?;
    put_numbers(zip, size, &matrix.offsets)?;
    begin(zip, "format", "|S3", &[], 3)?;
    zip.write_all(b"csr")?;
    begin(zip, "shape", "<i8", &[2], 8)?;
    put_numbers(zip, 8, &[matrix.row_count, matrix.column_count])?;
    match &matrix.values {
        Values::None => {
            begin(zip, "data", "<f8", &[entries], 8)?;
            let ones = vec![1.0_f64; STEP];
            for at in (0..entries).step_by(STEP) {
                let some = &ones[..STEP.min(entries - at)];
                zip.write_all(bytemuck::cast_slice(some))?;
            }
            Ok(())
        }
        Values::I64(values) => put(zip, "<i8", values),
        Values::U64(values) => put(zip, "<u8", values),
        Values::F32(values) => put(zip, "<f4", values),
        Values::F64(values) => put(zip, "<f8", values),
        Values::Complex(values) => put(zip, "<c16", values),
    }
}

fn put<T: Pod>(zip: &mut Zip<'_>, descr: &str, values: &[T]) -> std::io::Result<()> {
    begin(zip, "data", descr, &[values.len()], size_of::<T>())?;
    let bytes = if values.is_empty() { &[] } else { bytemuck::cast_slice(values) };
    zip.write_all(bytes)
}

/// Begins one array of the archive.
fn begin(
    zip: &mut Zip<'_>,
    name: &str,
    descr: &str,
    shape: &[usize],
    item: usize,
) -> std::io::Result<()> {
    const LARGE: u64 = u32::MAX as u64 - (1 << 16);
    let len = shape.iter().product::<usize>() as u64 * item as u64;
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(len >= LARGE);
    zip.start_file(format!("{name}.npy"), options).map_err(unwrapped)?;
    zip.write_all(&npy::header_of(descr, shape))
}

/// Writes numbers, already known to fit, with 4 or 8 bytes each; converts them only if they have
/// another size.
fn put_numbers<I: Id>(zip: &mut Zip<'_>, size: usize, values: &[I]) -> std::io::Result<()> {
    let (mut narrow, mut wide) = (Vec::<u32>::new(), Vec::<u64>::new());
    for some in values.chunks(STEP) {
        let bytes: &[u8] = if size == size_of::<I>() {
            bytemuck::cast_slice(some)
        } else if size == size_of::<u32>() {
            narrow.clear();
            narrow.extend(some.iter().map(|id| u32::try_from(id.to_u64()).unwrap_or(u32::MAX)));
            bytemuck::cast_slice(&narrow)
        } else {
            wide.clear();
            wide.extend(some.iter().map(|id| id.to_u64()));
            bytemuck::cast_slice(&wide)
        };
        zip.write_all(bytes)?;
    }
    Ok(())
}

fn rows_of(mut archive: Archive) -> Result<AnyCsr> {
    let format = archive.take("format")?;
    if *format.bytes != *b"csr" {
        let is = format.bytes.escape_ascii().to_string();
        return Err(archive
            .refused(FormatReason::Unsupported, format!("the layout is `{is}`, not `csr`"))
            .hint("save it as compressed rows: `tocsr()`"));
    }
    let shape = archive.numbers("shape")?;
    let &[row_count, column_count] = &shape[..] else {
        return Err(
            archive.refused(FormatReason::Malformed, "the shape is not two-dimensional")
        );
    };
    let offsets = archive.numbers("indptr")?;
    let indices = archive.numbers("indices")?;
    archive.check(row_count, &offsets, &indices, column_count)?;
    let values = archive.values(indices.len())?;
    let symmetry = Symmetry::General;
    if u32::try_from(row_count.max(column_count)).is_err() {
        let columns = indices;
        return Ok(AnyCsr::U64(Csr {
            row_count,
            column_count,
            symmetry,
            offsets,
            columns,
            values,
        }));
    }
    let mut columns = Array::<u32>::zeroed(indices.len())?;
    for (narrow, &wide) in columns.iter_mut().zip(indices.iter()) {
        // Below the number of columns, as checked before.
        *narrow = u32::try_from(wide).unwrap_or(u32::MAX);
    }
    Ok(AnyCsr::U32(Csr { row_count, column_count, symmetry, offsets, columns, values }))
}

struct Archive {
    path: PathBuf,
    zip: ZipArchive<Reader>,
}

/// One array of the archive.
struct Stored {
    descr: String,
    dimensions: usize,
    len: usize,
    bytes: Array<u8>,
}

impl Archive {
    fn open(opened: &OpenedText, options: &ReadOptions) -> Result<Self> {
        let path = opened.path();
        let file = options.reader(&opened.input)?;
        let zip = match ZipArchive::new(file) {
            Ok(zip) => zip,
            Err(error) => {
                let head = ReadOptions::new().with_len(opened.len.min(foreign::HEAD));
                let head = head.read(&opened.input)?.buffer;
                if !head.starts_with(b"PK") {
                    return Err(foreign::not(path, "an .npz file", &head));
                }
                let detail = format!("this is not an .npz file: {error}");
                return Err(Error::reading(path, FormatReason::UnknownFormat, detail));
            }
        };
        Ok(Self { path: path.to_owned(), zip })
    }

    fn refused(&self, reason: FormatReason, detail: impl Into<String>) -> Error {
        Error::reading(&self.path, reason, detail)
    }

    /// Reads one array. Allocates only for a size that this many compressed bytes can have.
    fn take(&mut self, name: &str) -> Result<Stored> {
        let path = &self.path;
        let refused = |reason, detail: String| {
            Error::reading(path, reason, format!("{name}.npy: {detail}"))
        };
        let damaged = |error: std::io::Error| refused(FormatReason::Corrupt, error.to_string());
        let mut file = self.zip.by_name(&format!("{name}.npy")).map_err(|error| {
            refused(
                FormatReason::UnknownFormat,
                format!("{error}: this is not a matrix saved by SciPy"),
            )
        })?;
        let (packed, plain) = (file.compressed_size(), file.size());
        if plain > packed.saturating_mul(MOST_EXPANSION).saturating_add(MOST_EXPANSION) {
            let detail = format!("{packed} compressed bytes cannot hold {plain}");
            return Err(refused(FormatReason::Corrupt, detail));
        }
        let mut head = vec![0; MOST_HEADER.min(usize::try_from(plain).unwrap_or(MOST_HEADER))];
        file.read_exact(&mut head).map_err(damaged)?;
        let header = NpyHeader::parse(&head)
            .map_err(|(reason, detail)| refused(reason, detail.into()))?;
        let begins = usize::try_from(header.data).unwrap_or(usize::MAX).min(head.len());
        let len = usize::try_from(plain).unwrap_or(usize::MAX) - begins;
        let mut bytes = Array::<u8>::zeroed(len)?;
        let there = head.len() - begins;
        bytes[..there].copy_from_slice(&head[begins..]);
        file.read_exact(&mut bytes[there..]).map_err(damaged)?;
        // The checksum is compared only at the end.
        if file.read(&mut [0]).map_err(damaged)? != 0 {
            return Err(refused(FormatReason::Corrupt, "longer than its header says".into()));
        }
        let count = header.shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let Some(count) = count.filter(|&count| (len == 0) == (count == 0)) else {
            return Err(refused(
                FormatReason::Malformed,
                format!("the shape is {:?}", header.shape),
            ));
        };
        let dimensions = header.shape.len();
        Ok(Stored { descr: header.descr, dimensions, len: count, bytes })
    }

    /// Reads an array of one dimension.
    fn row(&mut self, name: &str) -> Result<Stored> {
        let stored = self.take(name)?;
        if stored.dimensions == 1 {
            return Ok(stored);
        }
        let detail = format!("{name}.npy: {} dimensions instead of one", stored.dimensions);
        Err(self.refused(FormatReason::Malformed, detail))
    }

    /// Reads an array of counts or ids.
    fn numbers(&mut self, name: &str) -> Result<Array<u64>> {
        let stored = self.row(name)?;
        let numbers = match stored.descr.as_str() {
            "<i4" => wider::<i32, u64>(&stored, |id| u64::try_from(id).ok())?,
            "<i8" => wider::<i64, u64>(&stored, |id| u64::try_from(id).ok())?,
            "<u4" => wider::<u32, u64>(&stored, |id| Some(u64::from(id)))?,
            "<u8" => wider::<u64, u64>(&stored, Some)?,
            other => {
                let detail = format!("{name}.npy: ids of type `{other}` are not supported");
                let error = self.refused(FormatReason::Unsupported, detail);
                return Err(error.hint("convert them to `int32` or `int64` with `astype`"));
            }
        };
        numbers.ok_or_else(|| {
            let detail =
                format!("{name}.npy: a negative number, or not as long as its header says");
            self.refused(FormatReason::Malformed, detail)
        })
    }

    fn values(&mut self, entries: usize) -> Result<Values> {
        let stored = self.row("data")?;
        if stored.len != entries {
            let detail = format!("{} values for {entries} entries", stored.len);
            return Err(self.refused(FormatReason::Malformed, detail));
        }
        let values = match stored.descr.as_str() {
            "<f8" => same(&stored)?.map(Values::F64),
            "<f4" => same(&stored)?.map(Values::F32),
            "<i8" => same(&stored)?.map(Values::I64),
            "<u8" => same(&stored)?.map(Values::U64),
            "<c16" => same(&stored)?.map(Values::Complex),
            "<c8" => {
                wider(&stored, |it: [f32; 2]| Some(it.map(f64::from)))?.map(Values::Complex)
            }
            "<i4" => wider::<i32, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            "<u4" => wider::<u32, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            "<i2" => wider::<i16, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            "<u2" => wider::<u16, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            "|i1" => wider::<i8, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            "|u1" | "|b1" => wider::<u8, i64>(&stored, |it| Some(it.into()))?.map(Values::I64),
            other => {
                let detail = format!("data.npy: values of type `{other}` are not supported");
                let error = self.refused(FormatReason::Unsupported, detail);
                let hint = "convert them with `matrix.astype` to a type that holds them all";
                return Err(error.hint(hint));
            }
        };
        values.ok_or_else(|| {
            self.refused(FormatReason::Malformed, "data.npy: not as long as its header says")
        })
    }

    /// Checks that the arrays agree with each other.
    fn check(&self, rows: u64, offsets: &[u64], indices: &[u64], columns: u64) -> Result<()> {
        let wrong = |detail: String| Err(self.refused(FormatReason::Malformed, detail));
        if offsets.len() as u64 != rows.saturating_add(1) {
            return wrong(format!("{} row offsets for {rows} rows", offsets.len()));
        }
        if let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return wrong(format!("row {row} ends before it begins"));
        }
        if offsets.first() != Some(&0) || offsets.last() != Some(&(indices.len() as u64)) {
            return wrong(format!("the rows do not add up to {} entries", indices.len()));
        }
        match indices.iter().find(|&&column| column >= columns) {
            Some(column) => wrong(format!("column {column} of {columns} is out of range")),
            None => Ok(()),
        }
    }
}

/// Whether the array has the length of its header, in values of type `T`. Memory is allocated only
/// then.
fn is_whole<T>(stored: &Stored) -> bool {
    stored.len.checked_mul(size_of::<T>()) == Some(stored.bytes.len())
}

/// Returns `None` unless the array has the length of its header.
fn same<T: Pod>(stored: &Stored) -> Result<Option<Array<T>>> {
    if !is_whole::<T>(stored) {
        return Ok(None);
    }
    let mut values = Array::<T>::zeroed(stored.len)?;
    if !stored.bytes.is_empty() {
        bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(&stored.bytes);
    }
    Ok(Some(values))
}

/// Returns `None` unless the array has the length of its header and all values fit.
fn wider<T: Pod, W: Pod>(
    stored: &Stored,
    wide: impl Fn(T) -> Option<W>,
) -> Result<Option<Array<W>>> {
    if !is_whole::<T>(stored) {
        return Ok(None);
    }
    let mut values = Array::<W>::zeroed(stored.len)?;
    for (value, item) in values.iter_mut().zip(stored.bytes.chunks_exact(size_of::<T>())) {
        let Some(found) = wide(bytemuck::pod_read_unaligned(item)) else { return Ok(None) };
        *value = found;
    }
    Ok(Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_wraps_is_not_believed() {
        let mut bytes = Array::<u8>::zeroed(8).expect("memory");
        bytes.fill(1);
        let mut stored = Stored { descr: String::new(), dimensions: 1, len: 2, bytes };
        assert!(is_whole::<u32>(&stored) && !is_whole::<u64>(&stored));
        let most = |stored: &Stored| wider::<i32, i64>(stored, |it| Some(it.into()));
        assert_eq!(most(&stored).expect("memory").map(|it| it.len()), Some(2));
        // Times four wraps around to eight.
        stored.len = (1 << 62) + 2;
        assert!(most(&stored).expect("nothing is made").is_none());
        assert!(same::<u32>(&stored).expect("nothing is made").is_none());
    }

    /// Has room for a few bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 < bytes.len() {
                let error = swath::read("/nonexistent/file").expect_err("not there");
                return Err(error.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_archive_without_room_says_why_once_and_is_given_up_quietly() {
        for room in [0, 20, 40, 1400, 1440, 1480] {
            let mut full = Full(room);
            let mut zip = ZipWriter::new_stream(Fused::of(&mut full));
            let options =
                SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            let put = zip.start_file("a", options).map_err(unwrapped);
            let mut put = put.and_then(|()| zip.write_all(&[7; 1400]));
            if put.is_err() {
                // The error is not reported twice.
                zip.finish().expect("as if there were room");
            } else {
                put = zip.finish().map(drop).map_err(unwrapped);
            }
            let error = Error::from_writing(put.expect_err("no room"), Path::new("a.npz"));
            let told = error.to_string();
            assert_eq!(error.library().and_then(swath::Error::raw_os_error), Some(2), "{told}");
            assert_eq!(error.what_to_try(), "check the path");
        }
    }
}
