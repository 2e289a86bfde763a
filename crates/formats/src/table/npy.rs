//! NumPy's `.npy`: one dense array, its shape in a header, its values as in memory.
//!
//! ```text
//! \x93NUMPY 1 0 len {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }   …\n | values
//! ```
//!
//! Supports little-endian numbers in C order. Reads versions 1 to 3 of the header; writes version
//! 1, padded to a multiple of 64 so that the values are aligned in a mapping.

use std::path::Path;

use swath::{Array, OutputOptions, ReadOptions, Source, WriteOptions};

use super::value::Value;
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::input::{self, OpenedText};
use crate::setters::setters;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Limit for a header in bytes. NumPy itself rejects longer ones.
const MOST_HEADER: u64 = 64 << 10;
/// Bytes per write.
const STEP: usize = 8 << 20;
/// The supported types.
const KNOWN: [&str; 10] =
    ["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1"];
/// The longest dimension of an array without values. The length of the file does not limit it.
const MOST_EMPTY: usize = 1 << 16;

/// A dense array.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Dense<T: Value> {
    /// The size of each dimension; empty for a single number.
    pub shape: Vec<usize>,
    /// All values; the last dimension varies fastest.
    pub values: Array<T>,
}

impl<T: Value> Dense<T> {
    /// Combines a shape and values. Writing fails unless their number matches the shape.
    ///
    /// ```
    /// use swath_formats::table::{self, npy};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "1,2\n3,4\n")?;
    /// let array = npy::Dense::new(vec![2, 2], table::read_array::<f64>(&path)?.values);
    /// assert_eq!(array.values[array.shape[1]], 3.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(shape: Vec<usize>, values: Array<T>) -> Self {
        Self { shape, values }
    }
}

/// Reads the array in `source`. Its numbers must be of type `T`.
///
/// ```
/// use swath_formats::table::npy;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("m.npy");
/// npy::write(&path, &[2, 3], &[1, 2, 3, 4, 5, 6_i32])?;
/// let array = npy::read::<i32>(&path)?;
/// assert_eq!((&array.shape[..], &array.values[..]), (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::UnknownFormat`] for a file that is not `.npy`; [`FormatReason::Malformed`] for a
/// damaged header; [`FormatReason::Unsupported`] for other types, big-endian numbers and Fortran
/// order; [`FormatReason::Truncated`] unless the file ends where its values do;
/// [`FormatReason::TooLarge`] for more than 65,536 empty rows or columns; whatever reading reports.
pub fn read<T: Value>(source: impl Into<Source>) -> Result<Dense<T>> {
    NpyOptions::new().read(source)
}

/// Returns the type and the shape of the array in `source`.
///
/// ```
/// use swath_formats::table::npy;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("m.npy");
/// npy::write(&path, &[2], &[1.0, 2.0])?;
/// let info = npy::info(&path)?;
/// assert_eq!((info.descr.as_str(), &info.shape[..]), ("<f8", &[2][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read`], except errors in the values.
pub fn info(source: impl Into<Source>) -> Result<NpyInfo> {
    NpyOptions::new().info(source)
}

/// Writes an array with this shape. The file is complete under its name, or absent. Returns its
/// length in bytes.
///
/// ```
/// use swath_formats::table::npy;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("m.npy");
/// assert_eq!(npy::write(&path, &[2, 2], &[1.0, 2.0, 3.0, 4.0])?, 128 + 4 * 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::Invalid`] unless the number of values matches the shape; whatever writing
/// reports.
pub fn write<T: Value>(path: impl AsRef<Path>, shape: &[usize], values: &[T]) -> Result<u64> {
    NpyOptions::new().write(path, shape, values)
}

/// The header of an `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NpyInfo {
    /// The type of the numbers, as NumPy writes it: `<f8` for doubles, `<i4` for 4-byte integers.
    pub descr: String,
    /// The size of each dimension; empty for a single number.
    pub shape: Vec<usize>,
}

/// How to read and write `.npy`. Every setter returns the options; none can fail.
///
/// ```
/// use swath::OutputOptions;
/// use swath_formats::table::npy::NpyOptions;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("m.npy");
/// let options = NpyOptions::new().with_output(OutputOptions::new());
/// options.write(&path, &[2], &[1_u8, 2])?;
/// assert_eq!(options.read::<u8>(&path)?.values[..], [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NpyOptions {
    read: ReadOptions,
    output: OutputOptions,
}

impl NpyOptions {
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
    pub fn read<T: Value>(&self, source: impl Into<Source>) -> Result<Dense<T>> {
        let (opened, header, count) =
            self.begin(source.into(), &descr::<T>(), size_of::<T>())?;
        let mut values = Array::<T>::zeroed(count)?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        let options = self.read.clone().with_offset(header.data).with_len(bytes.len() as u64);
        options.read_into(&opened.input, bytes)?;
        Ok(Dense { shape: header.shape, values })
    }

    /// Reads the header, and returns it with the number of values. Checks the type and the size.
    fn begin(
        &self,
        source: Source,
        wanted: &str,
        size: usize,
    ) -> Result<(OpenedText, NpyHeader, usize)> {
        let opened = input::open(source, &self.read)?;
        let (path, len) = (opened.path(), opened.len);
        let header = NpyHeader::read(&opened)?;
        header.check(path, wanted)?;
        let sizes = header.shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let bytes = sizes.and_then(|count| count.checked_mul(size));
        let there = len.saturating_sub(header.data);
        if bytes.is_none_or(|bytes| bytes as u64 != there) {
            let shape = &header.shape;
            let detail = format!("{there} bytes of values do not match the shape {shape:?}");
            return Err(Error::reading(path, FormatReason::Truncated, detail).at(header.data));
        }
        // A caller may need memory for each row or column.
        if there == 0 && header.shape.iter().any(|&size| size > MOST_EMPTY) {
            let detail = format!("an array without values has the shape {:?}", header.shape);
            return Err(Error::reading(path, FormatReason::TooLarge, detail).at(0));
        }
        Ok((opened, header, sizes.unwrap_or(0)))
    }

    /// Like [`info`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`info`].
    pub fn info(&self, source: impl Into<Source>) -> Result<NpyInfo> {
        let header = NpyHeader::read(&input::open(source.into(), &self.read)?)?;
        Ok(NpyInfo { descr: header.descr, shape: header.shape })
    }

    /// Like [`write()`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`].
    pub fn write<T: Value>(
        &self,
        path: impl AsRef<Path>,
        shape: &[usize],
        values: &[T],
    ) -> Result<u64> {
        let path = path.as_ref();
        let count = shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        if count != Some(values.len()) {
            let detail = format!("{} values do not match the shape {shape:?}", values.len());
            return Err(Error::writing(path, FormatReason::Invalid, detail));
        }
        self.write_bytes(path, &header::<T>(shape), bytemuck::cast_slice(values))
    }

    fn write_bytes(&self, path: &Path, header: &[u8], values: &[u8]) -> Result<u64> {
        let len = (header.len() + values.len()) as u64;
        let out = WriteOptions::new().with_output(self.output.clone()).create(path, len)?;
        out.write_at(header, 0)?;
        let mut at = header.len() as u64;
        for step in values.chunks(STEP) {
            out.write_at(step, at)?;
            at += step.len() as u64;
        }
        out.commit()?;
        Ok(len)
    }
}

/// Returns the header of a file with values of type `T`.
fn header<T: Value>(shape: &[usize]) -> Vec<u8> {
    header_of(&descr::<T>(), shape)
}

/// Returns the header of a file with values of a type, by NumPy's name for it.
pub(crate) fn header_of(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one element has a comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        sizes.join(", ")
    );
    let before = MAGIC.len() + 4;
    let len = (before + text.len() + 1).next_multiple_of(64) - before;
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header.resize(before + len - 1, b' ');
    header.push(b'\n');
    header
}

/// Returns NumPy's name for a type.
fn descr<T: Value>() -> String {
    let kind = &T::NAME[..1];
    let order = if size_of::<T>() == 1 { '|' } else { '<' };
    format!("{order}{kind}{}", size_of::<T>())
}

/// The contents of a file's header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) descr: String,
    is_fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// The start of the values.
    pub(crate) data: u64,
}

impl NpyHeader {
    /// Reads the header.
    fn read(opened: &OpenedText) -> Result<Self> {
        let path = opened.path();
        let first = ReadOptions::new().with_len(opened.len.min(MOST_HEADER));
        let first = first.read(&opened.input)?;
        let header = Self::parse(&first.buffer).map_err(|(reason, detail)| {
            match first.buffer.starts_with(MAGIC) {
                true => Error::reading(path, reason, detail).at(0),
                false => foreign::not(path, "an .npy file", &first.buffer),
            }
        })?;
        Ok(header)
    }

    pub(crate) fn parse(
        bytes: &[u8],
    ) -> std::result::Result<Self, (FormatReason, &'static str)> {
        let no_npy = (FormatReason::UnknownFormat, "this is not an .npy file");
        let damaged = (FormatReason::Malformed, "the header of the .npy file is damaged");
        let rest = bytes.strip_prefix(MAGIC).ok_or(no_npy)?;
        let (before, len) = match rest {
            [1, 0, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
            [2 | 3, 0, a, b, c, d, ..] => (
                12,
                usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX),
            ),
            _ => return Err((FormatReason::UnknownFormat, "the .npy version is unknown")),
        };
        let text = bytes.get(before..).and_then(|rest| rest.get(..len)).ok_or(damaged)?;
        let text = std::str::from_utf8(text).map_err(|_| damaged)?;
        if is_structured(text) {
            return Err((FormatReason::Unsupported, "its values are structures"));
        }
        let header = dictionary(text).ok_or(damaged)?;
        Ok(Self { data: (before + len) as u64, ..header })
    }

    /// Fails unless the values have the layout of a slice of the type `wanted`.
    fn check(&self, path: &Path, wanted: &str) -> Result<()> {
        let unsupported = |detail, hint| {
            Err(Error::reading(path, FormatReason::Unsupported, detail).hint(hint))
        };
        let is_row = self.shape.iter().filter(|&&size| size > 1).count() <= 1;
        if self.is_fortran && !is_row {
            let hint = "save it in C order with `np.save(…, np.ascontiguousarray(a))`";
            return unsupported(String::from("the array is in Fortran order"), hint);
        }
        let is = self.descr.as_str();
        let without_order = |descr: &str| descr.trim_start_matches(['<', '=', '|']).to_owned();
        if without_order(is) != without_order(wanted) {
            let detail = format!("its values are `{is}`, not `{wanted}`");
            let is_double = ["f2", "b1", "f8", "f4"].iter().any(|known| is.ends_with(known));
            let hint = match is.as_bytes() {
                _ if KNOWN.contains(&is) => "read it as the type of its values",
                [b'>', ..] => {
                    "save it as little-endian with `a.astype(a.dtype.newbyteorder('<'))`"
                }
                [.., b'c', _] | [.., b'c', _, _] => "save its parts, `a.real` and `a.imag`",
                _ if is_double => "save it as doubles with `np.save(…, a.astype('f8'))`",
                _ => "save it as numbers of at most 64 bits, if its values fit",
            };
            return unsupported(detail, hint);
        }
        Ok(())
    }
}

/// Parses a Python dictionary with the three keys, in any order.
fn dictionary(text: &str) -> Option<NpyHeader> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, tail) = quoted(rest)?;
        let value = tail.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => {
                let (value, tail) = quoted(value)?;
                descr = Some(value.to_owned());
                tail
            }
            "fortran_order" => {
                let end = value.find(|sign: char| !sign.is_ascii_alphabetic())?;
                is_fortran = match &value[..end] {
                    "True" => Some(true),
                    "False" => Some(false),
                    _ => None,
                };
                &value[end..]
            }
            "shape" => {
                let (inner, tail) = value.strip_prefix('(')?.split_once(')')?;
                shape = sizes(inner);
                tail
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(NpyHeader { descr: descr?, is_fortran: is_fortran?, shape: shape?, data: 0 })
}

/// Whether the type is a list of fields, each with a type.
fn is_structured(text: &str) -> bool {
    let descr = text.split_once("'descr':").map(|(_, rest)| rest.trim_start());
    descr.is_some_and(|descr| descr.starts_with("[("))
}

/// Parses a quoted word; returns it and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// Parses the elements of a tuple.
fn sizes(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|size| size.trim().trim_end_matches('L').parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_written_as_numpy_does() {
        let header = header::<f64>(&[3]);
        assert_eq!(header.len(), 128);
        assert!(header.starts_with(
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }  "
        ));
        assert_eq!(header.last(), Some(&b'\n'));
        assert_eq!(super::header::<u8>(&[2, 3]).len(), 128);
    }

    #[test]
    fn other_numbers_are_refused_with_what_keeps_them_all() {
        for (descr, hint) in [
            ("<c16", "its parts"),
            ("<c8", "its parts"),
            ("<f16", "if its values fit"),
            (">f8", "newbyteorder"),
            ("<f2", "as doubles"),
            ("|b1", "as doubles"),
            ("<i8", "the type of its values"),
        ] {
            let shape = vec![1];
            let header = NpyHeader { descr: descr.into(), is_fortran: false, shape, data: 128 };
            let error = header.check(Path::new("a.npy"), "<f8").expect_err("other numbers");
            assert_eq!(error.reason(), FormatReason::Unsupported);
            assert!(error.what_to_try().contains(hint), "{descr}: {}", error.what_to_try());
        }
        let text = b"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }\n";
        let len = u16::try_from(text.len()).expect("short").to_le_bytes();
        let bytes = [MAGIC, &[1, 0], &len, text].concat();
        let (reason, detail) = NpyHeader::parse(&bytes).expect_err("fields");
        assert_eq!(reason, FormatReason::Unsupported, "{detail}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.npy.gz");
        std::fs::write(&path, b"\x1f\x8b\x08\0\0\0\0\0\0\x03").expect("room");
        let error = info(&path).expect_err("compressed");
        assert!(error.what_to_try().contains("swath decompress"), "{}", error.what_to_try());
    }

    #[test]
    fn headers_are_read_back_and_damaged_ones_refused() {
        for shape in [&[][..], &[0], &[5], &[2, 3], &[1, 2, 3, 4]] {
            let bytes = header::<i16>(shape);
            let parsed = NpyHeader::parse(&bytes).expect("a header");
            assert_eq!((parsed.shape.as_slice(), parsed.data), (shape, bytes.len() as u64));
            for len in 0..bytes.len() {
                NpyHeader::parse(&bytes[..len]).expect_err("cut off");
            }
        }
        for text in [
            "{}",
            "{'descr': '<f8', 'fortran_order': False, }",
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1",
        ] {
            assert_eq!(dictionary(text), None, "{text}");
        }
        let other = "{\"shape\":(2L,),'fortran_order':True,'descr':'>i4'}";
        let shape = vec![2];
        let wanted = NpyHeader { descr: ">i4".into(), is_fortran: true, shape, data: 0 };
        assert_eq!(dictionary(other), Some(wanted));
    }

    #[test]
    fn arrays_of_nothing_are_no_larger_than_they_can_be_meant_to_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.npy");
        for shape in [[0, 65_536], [65_536, 0], [0, 0]] {
            std::fs::write(&path, header::<f64>(&shape)).expect("room");
            assert_eq!(read::<f64>(&path).expect("an array").shape, shape);
        }
        for shape in [[0, 65_537], [100_000_000_000, 0], [0, usize::MAX]] {
            std::fs::write(&path, header::<f64>(&shape)).expect("room");
            let error = read::<f64>(&path).expect_err("out of proportion");
            assert_eq!(error.reason(), FormatReason::TooLarge, "{error}");
        }
    }

    #[test]
    fn other_arrays_are_refused_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.npy");
        let told = |descr: &str, order: &str| {
            let header = String::from_utf8_lossy(&header_of(descr, &[2, 2])[10..]).into_owned();
            let header = header.replace("False", order);
            let len = u16::try_from(header.len()).expect("short").to_le_bytes();
            let head = [MAGIC, &[1, 0], &len, header.as_bytes(), &[0; 32]].concat();
            std::fs::write(&path, head).expect("room");
            read::<f64>(&path).expect_err("others").to_string()
        };
        assert!(told("<f2", "False").contains("astype"));
        assert!(told("|b1", "False").contains("astype"));
        assert!(told("<f8", "True").contains("ascontiguousarray"));
        // No hint suggests a lossy conversion.
        for descr in KNOWN.iter().filter(|&&descr| descr != "<f8") {
            let told = told(descr, "False");
            assert!(
                told.contains("the type of its values") && !told.contains("astype"),
                "{told}"
            );
        }
    }
}
