//! Files: output can be read back to the bit, and input is checked.

mod annotators;
mod chunks;
mod clock;
mod dataset;
mod decimal;
mod disk;
mod ends;
mod events;
mod extended;
mod header;
mod instances;
mod metadata;
mod model_file;
mod moments;
mod observed;
mod odd_times;
mod order;
mod pretty;
mod saved_mode;
mod sessions;
mod signals;
mod source;
mod stamp_files;
mod stamp_tables;
mod suggest;
mod table;
mod time_of_day;
mod whole_lines;

pub use chunks::{Chunk, InstanceChunks};
pub use clock::{Clock, TimeUnit};
pub use dataset::{Columns, Dataset, DatasetFiles, EventFiles, tables_in};
pub use disk::{
    Content, WholeFile, discard_unfinished, replace, replace_all, takes_bytes_directly,
};
pub use events::{EventsTable, ReadStamp};
pub use instances::{InstancesTable, ReadSession};
pub use metadata::check_metadata;
pub use signals::{Channels, RawSignal, read_signals};
pub use source::{STANDARD_INPUT, compress};
pub use stamp_files::{MovedStamps, packed_for, write_stamps};
pub use stamp_tables::{FromFiles, StampOptions, stamp_files_in};
pub use suggest::suggest;
pub(crate) use table::shown;
pub use table::{Row, Table, TableText};
