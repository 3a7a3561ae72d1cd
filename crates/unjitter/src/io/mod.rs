//! Files: what is written can be read back to the bit, and what is read is checked.

mod disk;
mod extended;
mod header;
mod metadata;
mod model_file;
mod pretty;
mod strict;
