//! Whatever a file holds: stamps or an error that is short, soon.

use std::time::{Duration, Instant};

use unjitter::math::Random;

use super::{Folder, examples, read, rendered};

/// Bytes that mean something in some format.
const NOISE: &[u8] = b"\0\t\n\r\" ,09<>/&[]{}\xff\x14\x15-.e";

#[test]
fn random_damage_gives_stamps_or_an_error() {
    let folder = Folder::new();
    let mut random = Random::new(13);
    let mut pick = |count: usize| (random.uniform() * count as f64) as usize;
    for (name, content) in examples() {
        let mut read_well = 0;
        for _ in 0..400 {
            let mut damaged = content.clone();
            for _ in 0..1 + pick(3) {
                let at = pick(damaged.len() + 1);
                match pick(4) {
                    0 => damaged.truncate(at),
                    1 => damaged
                        .iter_mut()
                        .skip(at)
                        .take(2)
                        .for_each(|byte| *byte = NOISE[pick(NOISE.len())]),
                    2 => damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << pick(8)),
                    _ => {
                        let piece = damaged[at.saturating_sub(20)..at].to_vec();
                        damaged.splice(at..at, piece);
                    }
                }
            }
            let path = folder.write(name, &damaged);
            let file = match read(&path) {
                Ok(file) => file,
                Err(error) => {
                    assert!(error.to_string().len() < 2000, "{name}: {error}");
                    continue;
                }
            };
            read_well += 1;
            // What could be read can be written back as it is.
            let found = file.found();
            let every = vec![true; found.len()];
            assert_eq!(rendered(&file, &found.times, &every).unwrap(), damaged, "{name}");
            let halves: Vec<f64> = found.times.iter().map(|time| 0.5 * time + 0.125).collect();
            if let Ok(moved) = rendered(&file, &halves, &every) {
                let again = read(&folder.write(name, &moved)).unwrap_or_else(|error| {
                    panic!("{name}: {error} in {}", String::from_utf8_lossy(&moved))
                });
                assert_eq!(again.found().len(), found.len(), "{name}");
            }
            // Files of signals know that they were changed under them.
            folder.write(name, &damaged);
        }
        assert!(read_well > 10, "{name}: {read_well}");
    }
}

#[test]
fn every_truncation_gives_stamps_or_an_error() {
    let folder = Folder::new();
    for (name, content) in examples() {
        for size in 0..content.len() {
            let _ = read(&folder.write(name, &content[..size]));
        }
    }
}

/// `count` times a text.
fn many(text: &str, count: usize) -> String {
    text.repeat(count)
}

#[test]
fn large_nonsense_is_refused_soon() {
    let folder = Folder::new();
    let grid = "\"ooTextFile\" \"TextGrid\" 0 1 <exists> ";
    let entities = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\
                    <ANNOTATION_DOCUMENT>&b;</ANNOTATION_DOCUMENT>";
    let attributes: String = (0..20_000).map(|k| format!(" a{k}=\"\"")).collect();
    for (name, content) in [
        ("a.csv", format!("time,x\n1,\"{}", many("\"\"", 1_000_000))),
        ("b.csv", format!("time{}\n1\n", many(",", 100_000))),
        ("c.csv", format!("time\n{}", many("9", 1_000_000))),
        ("d.csv", format!("time\n{}x", many("1\n", 100_000))),
        ("a.txt", many("1\t", 1_000_000)),
        ("b.txt", format!("1\t1\ta\n{}", many("\\\n", 100_000))),
        ("a.TextGrid", format!("{grid}1 \"TextTier\" \"{}", many("\"\"", 1_000_000))),
        ("b.TextGrid", format!("{grid}999999999 {}", many("<", 1_000_000))),
        ("c.TextGrid", grid.to_owned() + &many("9", 1_000_000)),
        ("d.TextGrid", format!("{grid}{}", many("<a ", 300_000))),
        ("a.edf", format!("{:<252}9999{}", "0", many("0", 256 * 9999))),
        ("a.rttm", many("SPEAKER ", 1_000_000)),
        ("a.boris", many("{\"observations\":", 100_000)),
        ("b.boris", format!("{{\"observations\":{{\"a\":{{\"events\":[[{}", many("[", 1_000_000))),
        ("a.eaf", many("<a>", 1_000_000)),
        ("b.eaf", entities.to_owned()),
        ("c.eaf", format!("<ANNOTATION_DOCUMENT{attributes}/>")),
        ("d.eaf", format!("<ANNOTATION_DOCUMENT>{}", many("<a/>", 1_000_000))),
        ("a.selections.txt", format!("Selection\tBegin Time (s)\n{}", many("1\t1\n", 100_000))),
    ] {
        let path = folder.write(name, content);
        let started = Instant::now();
        if let Err(error) = read(&path) {
            assert!(error.to_string().len() < 2000, "{name}: {error}");
        }
        // Takes well below a second; anything worse than linear would take minutes.
        assert!(started.elapsed() < Duration::from_secs(20), "{name}");
    }
    let skips = [&b"\x00\xec"[..], &b"\xff\x7f\xff\xff\x00\xec".repeat(100_000)].concat();
    assert!(read(&folder.write("a.atr", skips)).is_err());
}
