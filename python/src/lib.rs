//! Swath for Python: translates, and decides nothing.
//!
//! ```text
//! input      paths, descriptors, copies → Source        how      keywords → options, and who watches
//! memory     bytes and numbers as buffers               work     without the lock, ended by Ctrl-C
//! bytes      of the caller's, held                      callback calls from threads of our own
//! search     what `bytes` finds                         arrow    tables of others
//! read, …    a file for each group of verbs             error    errors → exceptions of swath._errors
//! ```
//!
//! What needs numpy, scipy or torch is Python, in `swath/`, and asks for them when it is called.

mod append;
mod arrow;
mod bytes;
mod callback;
mod error;
mod how;
mod ingest;
mod input;
mod matrix;
mod memory;
mod own;
mod prioritised;
mod queue;
mod read;
mod records;
mod search;
mod table;
mod tensors;
mod words;
mod work;

use pyo3::prelude::*;

/// Parallel file I/O. See `swath`.
#[pymodule(gil_used = true)]
mod _swath {
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::callback::register(module)
    }

    #[pymodule_export]
    use crate::append::{Append, Place, append};
    #[pymodule_export]
    use crate::arrow::import_table;
    #[pymodule_export]
    use crate::ingest::{Files, Part, Stream, ingest, ingest_stream};
    #[pymodule_export]
    use crate::matrix::{read_matrix, write_matrix};
    #[pymodule_export]
    use crate::memory::Buffer;
    #[pymodule_export]
    use crate::prioritised::{Prioritised, read_prioritised};
    #[pymodule_export]
    use crate::read::{hash, read, sum, write_parts};
    #[pymodule_export]
    use crate::records::scan_records;
    #[pymodule_export]
    use crate::table::{
        Table, make_column, read_arrow, read_table, write_columns, write_table,
    };
    #[pymodule_export]
    use crate::tensors::{Tensors, load_tensors, save_tensors, stream_tensors};
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "how Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
