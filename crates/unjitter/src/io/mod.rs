//! Files: what is written can be read back to the bit, and what is read is checked.

mod clock;
mod dataset;
mod disk;
mod events;
mod extended;
mod header;
mod instances;
mod metadata;
mod model_file;
mod observed;
mod pretty;
mod signals;
mod source;
mod strict;

pub use disk::replace;
