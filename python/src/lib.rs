//! Swath for Python: translates, and makes no decisions.
//!
//! ```text
//! input      sources of Python → Source                  how      keywords → options, progress
//! memory     bytes and numbers as buffers               output   keywords → options of a writer
//! bytes      the caller's, held                         work     without the lock, ended by Ctrl-C
//! search     the searches of `bytes`                    callback calls from threads of Swath
//! error      errors → exceptions of swath._errors       park     threads that outlive the interpreter
//! read, …    a file for each group of verbs
//! ```
//!
//! Code that needs numpy, scipy or torch is Python, in `swath/`, and imports them when it is called.

// Invariants:
// - The interpreter's lock is released in `work.rs` only, and nothing calls into an interpreter
//   that is ending (`callback.rs`); neither takes a lock that a fork could leave locked.
// - Borrowed memory is not released while a call writes to it, even if an exception is raised
//   during the call.
// - The caller's memory as a source (`input.rs`) is held until its last reader is gone. It is then
//   released with the lock held or, if the interpreter is ending, not at all.
// - Objects with threads or files of their process are `Own` (`own.rs`): a forked child neither uses
//   nor destroys them.
// - Queues that wait for Python are bounded by their bytes (`queue.rs`).

mod append;
mod bytes;
mod callback;
mod draft;
mod error;
mod finishing;
mod how;
mod ingest;
mod input;
mod job;
mod matrix;
mod memory;
mod output;
mod own;
mod park;
mod prioritised;
mod queue;
mod read;
mod records;
mod rows;
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
        use pyo3::types::PyModuleMethods;

        swath::machine::silence_caught_panics();
        // Named apart from the part of a stream.
        module.add("JobPart", module.py().get_type::<crate::job::part::JobPart>())?;
        module.add("JobInput", module.py().get_type::<crate::input::OpenInput>())?;
        crate::callback::register(module)
    }

    #[pymodule_export]
    use crate::append::{Append, Place, append};
    #[pymodule_export]
    use crate::draft::{Draft, DraftWriter, create_shared, open_shared};
    #[pymodule_export]
    use crate::ingest::{Files, Part, Stream, ingest, ingest_stream};
    #[pymodule_export]
    use crate::input::file_format;
    #[pymodule_export]
    use crate::job::done::Done;
    #[pymodule_export]
    use crate::job::part::Piece;
    #[pymodule_export]
    use crate::job::report::{Committed, Status, Swept};
    #[pymodule_export]
    use crate::job::writer::SegmentWriter;
    #[pymodule_export]
    use crate::job::{Plan, divide_inputs, open_job, plan_job, restore_plan, sweep_jobs};
    #[pymodule_export]
    use crate::matrix::{read_matrix, write_matrix};
    #[pymodule_export]
    use crate::memory::Buffer;
    #[pymodule_export]
    use crate::memory::pickle::restore_buffer;
    #[pymodule_export]
    use crate::output::PythonOutput;
    #[pymodule_export]
    use crate::prioritised::{Prioritised, read_prioritised};
    #[pymodule_export]
    use crate::read::{hash, read, sum, write_parts};
    #[pymodule_export]
    use crate::records::scan_records;
    #[pymodule_export]
    use crate::rows::merge_rows;
    #[pymodule_export]
    use crate::table::{
        Given, Table, TableStream, encoding_word, make_column, make_texts, read_array,
        read_arrow, read_batches, read_types, restore_table, stream_table, table_settings,
        table_texts, take_table, write_array, write_tables,
    };
    #[pymodule_export]
    use crate::tensors::{Tensors, load_tensors, save_tensors, stream_tensors};
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "how Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
