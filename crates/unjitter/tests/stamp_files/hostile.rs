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
        let (mut read_well, mut moved_well) = (0, 0);
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
            let earlier: Vec<f64> = found.times.iter().map(|time| time - 0.25).collect();
            if let Ok(moved) = rendered(&file, &earlier, &every) {
                moved_well += 1;
                let again = read(&folder.write(name, &moved)).unwrap_or_else(|error| {
                    panic!("{name}: {error} in {}", String::from_utf8_lossy(&moved))
                });
                assert_eq!(again.found().len(), found.len(), "{name}");
            }
            // Files of signals know that they were changed under them.
            folder.write(name, &damaged);
        }
        assert!(read_well > 10 && moved_well > 10, "{name}: {read_well}, {moved_well}");
    }
}

#[test]
fn damage_beside_a_file_or_in_its_packing_gives_stamps_or_an_error() {
    let folder = Folder::new();
    let mut random = Random::new(17);
    let mut pick = |count: usize| (random.uniform() * count as f64) as usize;
    let beats = &[&b"\x01\x04"[..]; 3].concat();
    let packed = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let header = b"100 2 360/72(5) 650000 10:20:30.5 31/05/2024\n100.dat 212 200\n";
    let sensor = b"1544027300.00, 1544027300.00, 1544027300.00\n32.0, 32.0, 32.0\n1,2,3\n";
    for (damaged, content, name) in [
        ("100.hea", header.to_vec(), "100.atr"),
        ("ACC.csv", sensor.to_vec(), "tags.csv"),
        ("a_events.tsv.gz", packed("onset\tduration\n1\t2\n3\t4\n"), "a_events.tsv.gz"),
        ("a.csv.gz", packed("time,label\n1,a\n2,b\n"), "a.csv.gz"),
    ] {
        folder.write("100.atr", [beats, &b"\0\0"[..]].concat());
        folder.write("tags.csv", "1544027337.11\n");
        let mut read_well = 0;
        for round in 0..content.len() + 400 {
            let mut changed = content.clone();
            if round < content.len() {
                changed.truncate(round);
            } else {
                let at = pick(changed.len());
                changed[at] = if pick(2) == 0 {
                    NOISE[pick(NOISE.len())]
                } else {
                    changed[at] ^ 1 << pick(8)
                };
            }
            folder.write(damaged, changed);
            match read(&folder.path(name)) {
                Ok(file) => {
                    read_well += 1;
                    let every = vec![true; file.found().len()];
                    rendered(&file, &file.found().times, &every).unwrap();
                }
                Err(error) => assert!(error.to_string().len() < 2000, "{name}: {error}"),
            }
        }
        assert!(read_well > 5 && read_well < content.len() + 400, "{name}: {read_well}");
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
    let attributes: String = (0..200_000).map(|k| format!(" a{k}=\"\"")).collect();
    let spaces: String = (0..60).map(|k| format!(" xmlns:a{k}=\"{k}\"")).collect();
    let fields = many(",\"\"", 600_000);
    for (name, content) in [
        ("a.csv", format!("time,x\n1,\"{}", many("\"\"", 1_000_000))),
        ("b.csv", format!("time{}\n1\n", many(",", 100_000))),
        ("c.csv", format!("time\n{}", many("9", 1_000_000))),
        ("d.csv", format!("time\n{}x", many("1\n", 100_000))),
        ("e.csv", format!("time{fields}\n1{fields}\n")),
        ("f.csv", format!("time\n1{fields}\n")),
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
        ("e.eaf", format!("<ANNOTATION_DOCUMENT>{}", many("<a>/>", 1_000_000))),
        (
            "f.eaf",
            format!("<ANNOTATION_DOCUMENT{spaces}>{}", many("<a xmlns:b=\"c\"/>", 1_000_000)),
        ),
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

#[test]
fn what_no_file_of_stamps_has_is_refused_with_its_place() {
    let folder = Folder::new();
    let attributes: String = (0..101).map(|k| format!(" a{k}=\"\"")).collect();
    let deep = format!("<ANNOTATION_DOCUMENT>\n{}", many("<a>/><!-- <a/> -->", 70));
    let spaces = many("<a xmlns:b=\"c\"/>", 101);
    for (name, content, place, expected) in [
        ("a.csv", format!("time{}\n1\n", many(",", 10_000)), "line 1", "at most 10000 columns"),
        ("b.csv", format!("time\n1{}\n", many(",", 10_000)), "line 2", "at most 10000 columns"),
        (
            "a.eaf",
            format!("<ANNOTATION_DOCUMENT>\n<a{attributes}/>"),
            "line 2",
            "at most 100 attributes of an element",
        ),
        ("b.eaf", deep, "line 2", "elements at most 64 deep"),
        ("c.eaf", format!("<ANNOTATION_DOCUMENT>{spaces}"), "line 1", "at most 100 namespaces"),
    ] {
        let error = read(&folder.write(name, content)).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(expected), "{name}: {error}");
    }
    // What ends, or is no element, is not deep.
    let flat = format!(
        "<ANNOTATION_DOCUMENT><!-- {0} --><![CDATA[{0}]]><?a {0}?><a b='/>'>{0}</a></ANNOTATION_DOCUMENT>",
        many("<a c=\"/>\">", 100).replace('<', "&lt;")
    );
    let flat = flat.replace("<!-- &lt;", "<!-- <").replace("CDATA[&lt;", "CDATA[<<a><a>");
    assert_eq!(read(&folder.write("d.eaf", flat)).unwrap().found().len(), 0);
    let tiers = (0..100).map(|k| format!("\"TextTier\" \"{k}\" 0 1 0 ")).collect::<String>();
    let grid = format!("\"ooTextFile\" \"TextGrid\" 0 1 <exists> 100 {tiers}");
    let error = read(&folder.write("a.TextGrid", grid)).unwrap_err().to_string();
    assert!(error.contains("20 '19' (points) and 80 more; expected"), "{error}");
}
