//! Choices by the same words as on the command line.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the value of `text` among `words`.
///
/// # Errors
///
/// `ValueError`, with all words.
pub(crate) fn word<T: Copy>(name: &str, text: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|(known, _)| *known == text);
    found.map(|&(_, choice)| choice).ok_or_else(|| {
        let all: Vec<String> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
        PyValueError::new_err(format!("{name}={text:?}: not one of {}", all.join(", ")))
    })
}
