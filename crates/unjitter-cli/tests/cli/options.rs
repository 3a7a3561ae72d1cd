//! Arbitrary options: the program always ends with one of its exit codes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use unjitter::math::Random;

use crate::folder::{Folder, small};

/// Values outside some option's range, and some inside.
const VALUES: [&str; 26] = [
    "",
    "-",
    ",",
    "=",
    "a=b",
    "x=1,2",
    "noise.delay=0",
    "0",
    "1",
    "-1",
    "0.5",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "2",
    "255",
    "1e999",
    "18446744073709551615",
    "x",
    "when",
    "label",
    "gone.csv",
    "instances.csv",
    "events.csv",
    "\u{202e}\u{1b}[2J",
];
/// How often every option of every verb is tried.
const TRIES: usize = 3;
/// Longer work is legal, and is ended.
const LIMIT: Duration = Duration::from_millis(1500);

/// The long options that the manual of a verb names, without those that would write elsewhere.
fn options(folder: &Folder, verb: &str) -> Vec<String> {
    let help = folder.ok(&[verb, "--help"]);
    let words = help.split_whitespace().filter(|word| word.starts_with("--"));
    let names = words.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned());
    let elsewhere = ["--help", "--instances", "--events", "--output", "--config", "--threads"];
    let mut names: Vec<String> = names.filter(|name| !elsewhere.contains(&&name[..])).collect();
    names.sort();
    names.dedup();
    names
}

/// A verb on the small data that is complete except for mistakes in the further arguments.
fn words<'a>(verb: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    match verb {
        "featurize" => [&[verb, "instances.csv", "--force", "-o", "f.csv"], further].concat(),
        "simulate" => [&[verb, "--sessions=1", "-o", "made", "--force"], further].concat(),
        "inspect" => small(verb, further),
        // Outputs of an earlier run do not get in the way.
        _ => small(verb, &[&["--force"], further].concat()),
    }
}

/// The exit code; none if it was ended.
fn code(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    let mut command = folder.command(arguments);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = running.try_wait().unwrap() {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    None
}

#[test]
fn any_options_end_in_an_exit_code() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &["--restarts", "0"]));
    let before = [folder.read("instances.csv"), folder.read("events.csv")];
    let verbs = [
        "fit",
        "align",
        "sync",
        "predict",
        "evaluate",
        "report",
        "inspect",
        "featurize",
        "simulate",
    ];
    let mut random = Random::new(11);
    let mut codes = Vec::new();
    for verb in verbs {
        let known = options(&folder, verb);
        for option in known.iter().cycle().take(TRIES * known.len()) {
            let mut pick = |most: usize| (random.uniform() * most as f64) as usize;
            let mut spell = |option: &str| match VALUES.get(pick(VALUES.len() + 2)) {
                Some(value) => format!("{option}={value}"),
                None => option.to_owned(),
            };
            let spelt = [spell(option), spell(&known[codes.len() % known.len()])];
            let count = 1 + codes.len() % 2;
            let further: Vec<&str> = spelt.iter().take(count).map(String::as_str).collect();
            let arguments = words(verb, &further);
            let found = code(&folder, &arguments);
            assert!(matches!(found, None | Some(0..=4)), "{arguments:?} ended with {found:?}");
            codes.push(found);
        }
    }
    assert!(codes.len() > 200, "{} runs", codes.len());
    for expected in [0, 2, 3] {
        assert!(codes.contains(&Some(expected)), "no run ended with {expected}: {codes:?}");
    }
    // With any options, the data are unchanged.
    assert_eq!([folder.read("instances.csv"), folder.read("events.csv")], before);
}
