//! The command line of unjitter.

mod palette;

fn main() {}
