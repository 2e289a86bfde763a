//! Memory that Python uses through the buffer protocol, without a copy.
//!
//! ```text
//! swath::Buffer, Array<T>, Arc<…> → Buffer: address, shape, format → memoryview, numpy, torch
//! ```
//!
//! Every view keeps the memory alive: it owns a reference to its [`Buffer`], which owns the bytes. To
//! the interpreter, a view is a raw address, so there is unsafe code here.

mod order;
pub(crate) mod pickle;
mod slice;

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use bytes::Bytes;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PySlice, PyString, PyTuple};

use crate::search::{self, At, Between, Needle};
use crate::work::Unlocked;

/// A kind of number, with its format in Python's `struct`.
pub(crate) trait NumberKind: Copy + Send + Sync + 'static {
    /// The format, such as `c"d"`.
    const FORMAT: &'static CStr;
}

macro_rules! items {
    ($($kind:ty = $format:literal),+ $(,)?) => {
        $(impl NumberKind for $kind { const FORMAT: &'static CStr = $format; })+
    };
}

items! {
    u8 = c"B", i8 = c"b", u16 = c"H", i16 = c"h", u32 = c"I", i32 = c"i", u64 = c"Q", i64 = c"q",
    f32 = c"f", f64 = c"d",
}

/// Contiguous bytes or numbers in memory of Swath; a whole file is aligned to 64 bytes or more.
///
/// ``memoryview(buffer)``, ``numpy.asarray(buffer)`` and ``torch.frombuffer(buffer, dtype=...)`` use the same
/// memory. It lives as long as anything uses it, and then returns to a pool. It has one owner, so it is
/// writable, unless it was made with ``readonly=True``.
///
/// A Buffer of bytes finds, counts, splits and decodes as ``bytes`` do. A slice is a Buffer of the same
/// memory. Like a ``bytearray`` it has no hash, because its contents may change. It pickles: with protocol 5
/// and a ``buffer_callback`` without a copy, and so it is read back if ``buffers=`` are given to ``loads``.
///
/// >>> data = swath.read("words.txt")
/// >>> b"two" in data, data[0], bytes(data[:3])
/// (True, 111, b'one')
#[pyclass(frozen, weakref, module = "swath", name = "Buffer")]
pub(crate) struct Buffer {
    place: NonNull<u8>,
    /// Items by dimension; the last one changes fastest.
    shape: Box<[isize]>,
    /// Bytes by dimension.
    strides: Box<[isize]>,
    item_size: isize,
    /// The length in bytes.
    #[pyo3(get, name = "nbytes")]
    bytes: isize,
    format: &'static CStr,
    /// Whether it refuses writers.
    #[pyo3(get)]
    readonly: bool,
    /// Keeps the bytes in place.
    owner: Owner,
}

/// The owner of a buffer's memory.
enum Owner {
    Memory(#[expect(dead_code, reason = "only to be dropped")] Box<dyn Send + Sync>),
    /// The buffer of which this is a slice; it is not a slice itself.
    Whole(Py<Buffer>),
}

// SAFETY: the owner may move to other threads, where the address is the same. The bytes may change
// like those of a `bytearray`: views write to them; the readers are described at `bytes` below.
unsafe impl Send for Buffer {}
// SAFETY: as above; the fields do not change after creation.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Returns the bytes of a file as a buffer; `readonly` refuses writers.
    pub(crate) fn of_bytes(mut bytes: swath::Buffer, readonly: bool) -> PyResult<Self> {
        let (place, len) = (NonNull::from(&mut *bytes).cast(), bytes.len());
        Self::new(place, &[len], 1, u8::FORMAT, readonly, Box::new(bytes))
    }

    /// Returns bytes of a block of records, which are not written to while the buffer lives.
    pub(crate) fn of_block(bytes: Bytes) -> PyResult<Self> {
        let (place, len) = (NonNull::from(&*bytes).cast(), bytes.len());
        Self::new(place, &[len], 1, u8::FORMAT, true, Box::new(bytes))
    }

    /// Returns shared numbers, given as bytes, which are never written to.
    pub(crate) fn of_bytes_as<T: NumberKind>(bytes: Bytes) -> PyResult<Self> {
        let (place, len) = (NonNull::from(&*bytes).cast(), bytes.len() / size_of::<T>());
        Self::new(
            place,
            &[len],
            size_of::<T>(),
            T::FORMAT,
            true,
            Box::new(Unlocked::new(bytes)),
        )
    }

    /// Returns numbers of an Arrow column, which are never written to.
    pub(crate) fn of_arrow<T: NumberKind>(numbers: arrow_buffer::Buffer) -> PyResult<Self> {
        let bytes = numbers.as_slice();
        let (place, len) = (NonNull::from(bytes).cast(), bytes.len() / size_of::<T>());
        let owner = Box::new(Unlocked::new(numbers));
        Self::new(place, &[len], size_of::<T>(), T::FORMAT, true, owner)
    }

    /// Returns numbers of one or more dimensions, the last one changing fastest.
    ///
    /// The memory of `values` must not move when `values` does: its address is taken once.
    pub(crate) fn of_values<T: NumberKind, V>(
        mut values: V,
        shape: Option<&[usize]>,
    ) -> PyResult<Self>
    where
        V: Stable<T> + Send + Sync + 'static,
    {
        let slice = values.items();
        let (place, len) = (NonNull::from(&mut *slice).cast(), slice.len());
        let whole = [len];
        let shape = shape.unwrap_or(&whole);
        Self::new(place, shape, size_of::<T>(), T::FORMAT, false, Box::new(values))
    }

    fn new(
        place: NonNull<u8>,
        shape: &[usize],
        item_size: usize,
        format: &'static CStr,
        readonly: bool,
        owner: Box<dyn Send + Sync>,
    ) -> PyResult<Self> {
        let too_large = |_| PyBufferError::new_err("more bytes than Python can count");
        let item_size = isize::try_from(item_size).map_err(too_large)?;
        let shape: Box<[isize]> = shape
            .iter()
            .map(|&len| isize::try_from(len).map_err(too_large))
            .collect::<Result<_, _>>()?;
        let mut strides = vec![item_size; shape.len()];
        let mut bytes = item_size;
        for (stride, len) in strides.iter_mut().zip(&shape).rev() {
            *stride = bytes;
            bytes *= len;
        }
        let strides = strides.into_boxed_slice();
        let owner = Owner::Memory(owner);
        Ok(Self { place, shape, strides, item_size, bytes, format, readonly, owner })
    }

    /// Returns the result of a method of `bytes`, called on a copy.
    fn of_copy<'py, A: PyCallArgs<'py>>(
        slf: &Bound<'py, Self>,
        method: &str,
        arguments: A,
    ) -> PyResult<Bound<'py, PyAny>> {
        PyBytes::new(slf.py(), &slf.get().contents()?).call_method1(method, arguments)
    }

    /// Returns shared bytes, which are never written to.
    ///
    /// The result of `bytes` must stay unchanged as long as `owner` lives.
    pub(crate) fn shared<O: Send + Sync + 'static>(
        owner: &Arc<O>,
        bytes: impl for<'o> FnOnce(&'o O) -> &'o [u8],
    ) -> PyResult<Self> {
        Self::part(owner, bytes(owner))
    }

    /// Shares the memory of many pieces.
    pub(crate) fn all_shared<O: Send + Sync + 'static>(
        owner: &Arc<O>,
        pieces: impl for<'o> FnOnce(&'o O) -> Vec<&'o [u8]>,
    ) -> PyResult<Vec<Self>> {
        pieces(owner).into_iter().map(|piece| Self::part(owner, piece)).collect()
    }

    fn part<O: Send + Sync + 'static>(owner: &Arc<O>, bytes: &[u8]) -> PyResult<Self> {
        let (place, len) = (NonNull::from(bytes).cast(), bytes.len());
        Self::new(place, &[len], 1, u8::FORMAT, true, Box::new(Arc::clone(owner)))
    }

    /// Returns a view of the whole buffer.
    pub(crate) fn into_view(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyMemoryView::from(Bound::new(py, self)?.as_any())?.into_any())
    }
}

/// Returns a position in Python's form: -1 for none.
fn place(found: Option<usize>) -> PyResult<isize> {
    Ok(found.map_or(Ok(-1), isize::try_from)?)
}

fn there(found: isize) -> PyResult<isize> {
    match found {
        -1 => Err(PyValueError::new_err("the bytes do not occur")),
        found => Ok(found),
    }
}

/// A collection whose items keep their address when it is moved.
pub(crate) trait Stable<T> {
    /// Returns all items.
    fn items(&mut self) -> &mut [T];
}

impl<T: NumberKind + bytemuck::Pod> Stable<T> for swath::Array<T> {
    fn items(&mut self) -> &mut [T] {
        self
    }
}

impl<T: NumberKind> Stable<T> for Vec<T> {
    fn items(&mut self) -> &mut [T] {
        self
    }
}

#[pymethods]
impl Buffer {
    /// Returns a copy of all bytes.
    ///
    /// >>> swath.read("words.txt").tobytes()[:3]
    /// b'one'
    fn tobytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let copy = PyMemoryView::from(slf.as_any())?.call_method0("tobytes")?;
        Ok(copy.cast_into::<PyBytes>()?)
    }

    fn __len__(&self) -> usize {
        self.shape.first().map_or(0, |len| len.unsigned_abs())
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match index.cast::<PySlice>() {
            Ok(slice) => Ok(Bound::new(slf.py(), Self::slice(slf, slice)?)?.into_any()),
            Err(_) => PyMemoryView::from(slf.as_any())?.get_item(index),
        }
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let this = slf.get();
        if !this.is_bytes() {
            return PyMemoryView::from(slf.as_any())?.contains(value);
        }
        let found = search::find(&this.contents()?, &value.extract()?, &Between(None, None));
        Ok(found.is_some())
    }

    /// Returns where ``sub``, bytes or one byte, occurs first; -1 if it does not.
    ///
    /// >>> swath.read("words.txt").find(b"two")
    /// 4
    #[pyo3(signature = (sub, start=None, end=None, /))]
    fn find(&self, sub: Needle, start: Option<At>, end: Option<At>) -> PyResult<isize> {
        place(search::find(&self.contents()?, &sub, &Between(start, end)))
    }

    /// Returns where ``sub``, bytes or one byte, occurs last; -1 if it does not.
    ///
    /// >>> swath.read("words.txt").rfind(b"o")
    /// 15
    #[pyo3(signature = (sub, start=None, end=None, /))]
    fn rfind(&self, sub: Needle, start: Option<At>, end: Option<At>) -> PyResult<isize> {
        place(search::find_last(&self.contents()?, &sub, &Between(start, end)))
    }

    /// As ``find``, but raises ``ValueError`` if ``sub`` does not occur.
    ///
    /// >>> swath.read("words.txt").index(b"two")
    /// 4
    #[pyo3(signature = (sub, start=None, end=None, /))]
    fn index(&self, sub: Needle, start: Option<At>, end: Option<At>) -> PyResult<isize> {
        there(self.find(sub, start, end)?)
    }

    /// As ``rfind``, but raises ``ValueError`` if ``sub`` does not occur.
    ///
    /// >>> swath.read("words.txt").rindex(b"two")
    /// 4
    #[pyo3(signature = (sub, start=None, end=None, /))]
    fn rindex(&self, sub: Needle, start: Option<At>, end: Option<At>) -> PyResult<isize> {
        there(self.rfind(sub, start, end)?)
    }

    /// Returns how often ``sub``, bytes or one byte, occurs.
    ///
    /// >>> swath.read("words.txt").count(b" ")
    /// 3
    #[pyo3(signature = (sub, start=None, end=None, /))]
    fn count(&self, sub: Needle, start: Option<At>, end: Option<At>) -> PyResult<usize> {
        Ok(search::count(&self.contents()?, &sub, &Between(start, end)))
    }

    /// Returns whether it begins with ``prefix``, or with one of a tuple of them.
    ///
    /// >>> swath.read("words.txt").startswith(b"one")
    /// True
    #[pyo3(signature = (prefix, start=None, end=None, /))]
    fn startswith(
        &self,
        prefix: &Bound<'_, PyAny>,
        start: Option<At>,
        end: Option<At>,
    ) -> PyResult<bool> {
        let between = Between(start, end);
        search::is_edge(&self.contents()?, prefix, &between, |part, edge| {
            part.starts_with(edge)
        })
    }

    /// Returns whether it ends with ``suffix``, or with one of a tuple of them.
    ///
    /// >>> swath.read("words.txt").endswith((b"five\n", b"six\n"))
    /// True
    #[pyo3(signature = (suffix, start=None, end=None, /))]
    fn endswith(
        &self,
        suffix: &Bound<'_, PyAny>,
        start: Option<At>,
        end: Option<At>,
    ) -> PyResult<bool> {
        let between = Between(start, end);
        search::is_edge(&self.contents()?, suffix, &between, |part, edge| part.ends_with(edge))
    }

    /// Returns the bytes as text.
    ///
    /// >>> swath.read("words.txt").decode()
    /// 'one two three\nfour five\n'
    #[pyo3(signature = (encoding="utf-8", errors="strict"))]
    fn decode<'py>(
        slf: &Bound<'py, Self>,
        encoding: &str,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().is_bytes() && slf.get().is_c_contiguous() {
            return slf.py().get_type::<PyString>().call1((slf, encoding, errors));
        }
        Self::of_copy(slf, "decode", (encoding, errors))
    }

    /// Returns the parts between ``sep``, or between white space, as ``bytes``.
    ///
    /// >>> swath.read("words.txt").split()
    /// [b'one', b'two', b'three', b'four', b'five']
    #[pyo3(signature = (sep=None, maxsplit=-1), text_signature = "($self, sep=None, maxsplit=-1)")]
    fn split<'py>(
        slf: &Bound<'py, Self>,
        sep: Option<Bound<'py, PyAny>>,
        maxsplit: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_copy(slf, "split", (sep, maxsplit))
    }

    /// As ``split``, from the end.
    ///
    /// >>> swath.read("words.txt").rsplit(maxsplit=1)[1]
    /// b'five'
    #[pyo3(signature = (sep=None, maxsplit=-1), text_signature = "($self, sep=None, maxsplit=-1)")]
    fn rsplit<'py>(
        slf: &Bound<'py, Self>,
        sep: Option<Bound<'py, PyAny>>,
        maxsplit: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_copy(slf, "rsplit", (sep, maxsplit))
    }

    /// Returns the lines, as ``bytes``.
    ///
    /// >>> swath.read("words.txt").splitlines()
    /// [b'one two three', b'four five']
    #[pyo3(signature = (keepends=None), text_signature = "($self, keepends=False)")]
    fn splitlines<'py>(
        slf: &Bound<'py, Self>,
        keepends: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keepends = keepends.is_some_and(|it| it.is_truthy().unwrap_or(true));
        Self::of_copy(slf, "splitlines", (keepends,))
    }

    /// Returns the part before the first ``sep``, ``sep``, and the part after it, as ``bytes``.
    ///
    /// >>> swath.read("words.txt").partition(b" two ")[0]
    /// b'one'
    #[pyo3(signature = (sep, /))]
    fn partition<'py>(
        slf: &Bound<'py, Self>,
        sep: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_copy(slf, "partition", (sep,))
    }

    /// Returns the part before the last ``sep``, ``sep``, and the part after it, as ``bytes``.
    ///
    /// >>> swath.read("words.txt").rpartition(b" ")[2]
    /// b'five\n'
    #[pyo3(signature = (sep, /))]
    fn rpartition<'py>(
        slf: &Bound<'py, Self>,
        sep: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_copy(slf, "rpartition", (sep,))
    }

    fn __setitem__(
        slf: &Bound<'_, Self>,
        index: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if slf.get().readonly {
            return Err(PyTypeError::new_err(
                "this Buffer was made with readonly=True; try: copy it with bytearray(buffer)",
            ));
        }
        PyMemoryView::from(slf.as_any())?.set_item(index, value)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        PyMemoryView::from(slf.as_any())?.eq(other)
    }

    /// For pickle: with protocol 5 as a ``pickle.PickleBuffer``, which a pickler with a ``buffer_callback``
    /// passes on without a copy.
    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        protocol: i32,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        pickle::reduced(slf, protocol)
    }

    /// For ``copy.copy``: other memory with the same contents.
    fn __copy__(slf: &Bound<'_, Self>) -> PyResult<Self> {
        pickle::copied(slf)
    }

    /// For ``copy.deepcopy``.
    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        pickle::copied(slf)
    }

    fn __repr__(&self) -> String {
        let kind = if self.readonly { "readonly " } else { "" };
        format!("<swath.Buffer of {} {kind}bytes>", self.bytes)
    }

    /// Fills in a view.
    ///
    /// # Safety
    ///
    /// Only the interpreter calls it, with a view that may be filled in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: by the caller's promise there is one, or it is null.
        let Some(view) = (unsafe { view.as_mut() }) else {
            return Err(PyBufferError::new_err("there is no view to fill in"));
        };
        view.obj = ptr::null_mut();
        slf.get().fill_in(view, flags)?;
        // The interpreter only reads the data to which the view points, and the object keeps it alive.
        view.obj = slf.into_any().into_ptr();
        Ok(())
    }
}
