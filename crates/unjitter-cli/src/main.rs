//! The program `unjitter`. Its code is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    unjitter_cli::main()
}
