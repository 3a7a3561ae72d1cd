//! How much memory inference may take.

use pyo3::prelude::*;

/// Sets the limit in bytes.
#[pyfunction]
pub(crate) fn set_memory_limit(limit: u64) {
    unjitter::memory::set_memory_limit(limit);
}

/// The limit in bytes.
#[pyfunction]
pub(crate) fn memory_limit() -> u64 {
    unjitter::memory::memory_limit()
}
