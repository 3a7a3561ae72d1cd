//! Tables from disk: a million numbers and their names and times, in 10⁵ lines.
//!
//! `chunks`: line after line in pieces, as `predict` reads. `instances`: the whole table in memory, as
//! `fit` reads. Each with numbers of 17 digits, of 6 digits, with quoted names, with dates for times,
//! and packed.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use unjitter::io::{Chunk, Clock, Columns, InstanceChunks, InstancesTable, TimeUnit, compress};
use unjitter::math::Random;

const FEATURES: usize = 10;

/// Lines of a table: as many as the docs speak of, or a few if this is only a test.
fn lines() -> usize {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if is_bench { 100_000 } else { 100 }
}

/// How a table is written.
struct Form {
    name: &'static str,
    digits: Option<usize>,
    quoted: bool,
    dates: bool,
    packed: bool,
}

impl Form {
    fn write(&self, folder: &Path) -> PathBuf {
        let clock = Clock::starting_at("2024-05-31T14:03:27", TimeUnit::S).unwrap();
        let mut random = Random::new(5);
        let mut text = "session,time".to_owned();
        (0..FEATURES).for_each(|column| write!(text, ",x{column}").unwrap());
        for k in 0..lines() {
            let quote = if self.quoted { "\"" } else { "" };
            let time = k as f64 / 4.0;
            let time = if self.dates { clock.write(time) } else { time.to_string() };
            write!(text, "\n{quote}session {}{quote},{time}", k / 1000).unwrap();
            for _ in 0..FEATURES {
                match self.digits {
                    Some(digits) => write!(text, ",{:.digits$}", random.normal()).unwrap(),
                    None => write!(text, ",{}", random.normal()).unwrap(),
                }
            }
        }
        let path = folder.join(self.name);
        let bytes = if self.packed { compress(text.as_bytes()) } else { text.into_bytes() };
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn forms(folder: &TempDir) -> Vec<(&'static str, PathBuf)> {
    let plain =
        Form { name: "17 digits", digits: None, quoted: false, dates: false, packed: false };
    let forms = [
        Form { name: "6 digits", digits: Some(6), ..plain },
        Form { name: "quoted", quoted: true, ..plain },
        Form { name: "dates", dates: true, ..plain },
        Form { name: "packed", packed: true, ..plain },
        plain,
    ];
    forms.iter().map(|form| (form.name, form.write(folder.path()))).collect()
}

fn read_chunks(path: &Path) -> f64 {
    let mut chunks = InstanceChunks::open(path, &Columns::default()).unwrap();
    let (mut chunk, mut sum) = (Chunk::default(), 0.0);
    while chunks.next(&mut chunk, 1024).unwrap() {
        sum += chunk.features().sum();
    }
    sum
}

fn tables(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("tables");
    group.sample_size(10).throughput(Throughput::Elements(lines() as u64));
    for (name, path) in forms(&folder) {
        group.bench_function(format!("chunks/{name}"), |bench| {
            bench.iter(|| black_box(read_chunks(&path)));
        });
        group.bench_function(format!("instances/{name}"), |bench| {
            bench.iter(|| black_box(InstancesTable::read(&path, &Columns::default()).unwrap()));
        });
    }
}

criterion_group!(benches, tables);
criterion_main!(benches);
