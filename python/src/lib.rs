//! The compiled half of the Python package: arrays in, arrays out.
//!
//! Nothing is computed here; every function turns its arguments into what the library takes, lets go
//! of the interpreter, calls the library and turns the answer back. The Python half has the classes,
//! the defaults and the words. Settings travel as JSON, in the form that model files have.

mod convert;
mod dataset;
mod fit;
mod fitted;
mod metrics;
mod posterior;
mod session;
mod watch;

use pyo3::pymodule;

/// The compiled half of unjitter.
#[pymodule]
mod _core {
    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::dataset::read_dataset;
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::fitted::Fitted;
    #[pymodule_export]
    use super::metrics::{confusion, detect_events};
    #[pymodule_export]
    use super::posterior::{Posterior, posterior};
}
