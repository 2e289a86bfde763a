//! Safetensors: tensors as bytes in memory, by name. Python builds arrays or tensors from them.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::CancelToken;
use swath::machine::Mutex;
use swath_formats::safetensors::{
    self, Dtype, Entry, Tensor, TensorOptions, TensorOrder, TensorStream, TensorWriteOptions,
};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::{How, Raised};
use crate::input::Shards;
use crate::memory::Buffer;
use crate::output::PythonOutput;
use crate::work::{Takes, Unlocked, detached};

/// Name, dtype, shape, index of the memory, offset in it, number of bytes.
type Row = (String, &'static str, Vec<u64>, usize, usize, usize);

fn row(entry: Entry) -> Row {
    let Entry { info, memory, place, .. } = entry;
    (info.name, info.dtype.word(), info.shape, memory, place.start, place.len())
}

/// Where each tensor is, and the memories: `swath.load_safetensors` makes arrays of them.
#[pyfunction]
#[pyo3(signature = (sources, how, *, order=None, names=None))]
pub(crate) fn load_tensors(
    py: Python<'_>,
    sources: Shards,
    how: &Bound<'_, PyTuple>,
    order: Option<Vec<String>>,
    names: Option<Vec<String>>,
) -> PyResult<(Vec<Row>, Vec<Buffer>)> {
    let how = How::of(how)?;
    let (read, watch) = how.options(py, sources.path())?;
    let (takes, sources) = (sources.takes(), sources.sources(how.verify.as_ref())?);
    let (order, options) = (in_order(order), tensor_options(names).with_read(read));
    let parts = watch.run(py, takes, move || {
        let read = options.read_ordered(sources, &order);
        read.map(safetensors::Tensors::into_parts)
    })?;
    let memories = parts.memories.into_iter().map(|memory| Buffer::of_bytes(memory, false));
    Ok((parts.entries.into_iter().map(row).collect(), memories.collect::<PyResult<_>>()?))
}

fn tensor_options(names: Option<Vec<String>>) -> TensorOptions {
    match names {
        Some(names) => TensorOptions::new().with_names(names),
        None => TensorOptions::new(),
    }
}

fn in_order(names: Option<Vec<String>>) -> TensorOrder {
    names.map_or(TensorOrder::File, TensorOrder::Names)
}

/// Tensors as they arrive, the most urgent first: `swath.stream_safetensors` makes arrays of them.
#[pyclass(frozen, module = "swath", name = "Tensors")]
pub(crate) struct Tensors {
    stream: Mutex<Unlocked<TensorStream>>,
    token: CancelToken,
    raised: Raised,
}

/// Name, dtype, shape, bytes.
type LoadedTensor = (String, &'static str, Vec<u64>, Buffer);

#[pymethods]
impl Tensors {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<LoadedTensor>> {
        self.raised.refuse_in_callback()?;
        let next = py.detach(|| {
            let mut stream = self.stream.lock();
            stream.get_mut().next()
        });
        py.check_signals()?;
        match next {
            // An exception at the last byte came too late to end it, but is raised anyway.
            None => self.raised.take().map_or(Ok(None), Err),
            Some(Err(error)) => {
                let raised = self.raised.take();
                Err(raised.unwrap_or_else(|| Failure::from(error).into_exception(py)))
            }
            Some(Ok(tensor)) => {
                let (name, dtype) = (tensor.name().to_owned(), tensor.dtype().word());
                let shape = tensor.shape().to_vec();
                Ok(Some((name, dtype, shape, Buffer::of_bytes_as::<u8>(tensor.into_bytes())?)))
            }
        }
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Ends the read; tensors that were yielded stay.
    fn close(&self, py: Python<'_>) {
        self.token.cancel();
        if self.raised.is_calling() {
            return;
        }
        py.detach(|| {
            self.stream.lock().get().cancel();
        });
    }
}

/// Starts to read tensors, the most urgent first.
#[pyfunction]
#[pyo3(signature = (sources, how, *, order=None, names=None))]
pub(crate) fn stream_tensors(
    py: Python<'_>,
    sources: Shards,
    how: &Bound<'_, PyTuple>,
    order: Option<Vec<String>>,
    names: Option<Vec<String>>,
) -> PyResult<Tensors> {
    let how = How::of(how)?;
    let (read, watch) = how.options(py, sources.path())?;
    let sources = sources.sources(how.verify.as_ref())?;
    let options = tensor_options(names).with_read(read);
    let stream = detached(py, || options.stream(sources, &in_order(order)))?;
    Ok(Tensors {
        stream: Mutex::new(Unlocked::new(stream)),
        token: watch.token.clone(),
        raised: watch.raised(),
    })
}

/// Writes tensors: `swath.save_safetensors` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (output, tensors, *, metadata=None))]
pub(crate) fn save_tensors(
    py: Python<'_>,
    output: &PythonOutput,
    tensors: Vec<(String, String, Vec<u64>, Borrowed)>,
    metadata: Option<BTreeMap<String, String>>,
) -> PyResult<u64> {
    let dtypes = tensors.iter().map(|(name, dtype, ..)| {
        Dtype::of_word(dtype).ok_or_else(|| {
            PyValueError::new_err(format!("tensor {name:?}: unknown dtype {dtype:?}"))
        })
    });
    let dtypes = dtypes.collect::<PyResult<Vec<_>>>()?;
    let (options, watch) = output.watched(py)?;
    let written = watch.run(py, Takes::Time, || {
        let tensors = tensors.iter().zip(dtypes).map(|((name, _, shape, bytes), dtype)| {
            Tensor { name, dtype, shape, bytes: bytes.bytes() }
        });
        let options = TensorWriteOptions::new().with_output(options);
        options.with_metadata(metadata.unwrap_or_default()).write(&output.path, tensors)
    })?;
    Ok(written.bytes)
}
