//! What is moved, and what stays as it was, in the formats that no other package is a witness of here.

use unjitter::stamps::{ReadOptions, StampFile, TierName};

use super::{
    AGGREGATED, BORIS, Folder, RAVEN, STATES, example, examples, moved, moved_with_ends, read,
    rendered,
};

#[test]
fn stamps_written_are_read_back() {
    let folder = Folder::new();
    for (name, content) in examples().into_iter().take(10) {
        let file = read(&folder.write(name, &content)).unwrap();
        let (found, want) = (file.found(), example());
        assert_eq!(found.times, want.times, "{name}");
        let lasting = if name == "a.atr" { vec![0.0; 4] } else { want.durations };
        assert_eq!(found.durations, lasting, "{name}");
        if name != "a.atr" {
            assert_eq!(found.labels, want.labels, "{name}");
        }
    }
}

#[test]
fn unmoved_is_the_same_byte_for_byte_and_there_and_back_too() {
    let folder = Folder::new();
    for (name, content) in examples() {
        let file = read(&folder.write(name, &content)).unwrap();
        let (times, every) = (&file.found().times, vec![true; file.found().len()]);
        assert_eq!(rendered(&file, times, &every).unwrap(), content, "{name}");
    }
}

#[test]
fn selections_of_raven_move_in_all_their_views_with_their_ends() {
    let folder = Folder::new();
    let head =
        "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tFile Offset (s)\tPeak\tSpecies\n";
    let file = read(&folder.write(
        "a.txt",
        head.to_owned()
            + "1\tWaveform 1\t1\t1.5\t2.5\t0.5\t7\twren\n1\tSpectrogram 1\t1\t1.5\t2.5\t0.5\t8\twren\n"
            + "2\tSpectrogram 1\t1\t4\t4.25\t3\t9\tcrow\n",
    ))
    .unwrap();
    let found = file.found();
    assert_eq!((&found.times[..], &found.durations[..]), (&[1.5, 4.0][..], &[1.0, 0.25][..]));
    assert_eq!(found.labels, ["wren", "crow"]);
    assert_eq!(
        moved(&file, &[5.0, 4.0]),
        head.to_owned()
            + "2\tSpectrogram 1\t1\t4\t4.25\t3\t9\tcrow\n1\tWaveform 1\t1\t5\t6\t4\t7\twren\n"
            + "1\tSpectrogram 1\t1\t5\t6\t4\t8\twren\n"
    );
    let less = rendered(&file, &found.times, &[false, true]).unwrap();
    assert_eq!(
        String::from_utf8(less).unwrap(),
        head.to_owned() + "2\tSpectrogram 1\t1\t4\t4.25\t3\t9\tcrow\n"
    );
}

#[test]
fn sound_events_move_with_their_offsets() {
    let folder = Folder::new();
    let text = "filename\tonset\toffset\tevent_label\nb.wav\t1.0\t2.5\tdog\na.wav\t0.5\t0.75\tcat\nc.wav\t\t\t\n";
    let file = read(&folder.write("a.tsv", text)).unwrap();
    let found = file.found();
    assert_eq!((&found.times[..], &found.durations[..]), (&[1.0, 0.5][..], &[1.5, 0.25][..]));
    assert_eq!(found.facts[found.recording.unwrap()].values, ["b.wav", "a.wav"]);
    let want = text.replace("1.0\t2.5", "1.25\t2.75");
    assert_eq!(moved(&file, &[1.25, 0.5]), want);
}

#[test]
fn speakers_move_and_all_other_lines_stay() {
    let folder = Folder::new();
    let text = ";; made by hand\nSPKR-INFO one 1 <NA> <NA> <NA> unknown Ann <NA> <NA>\n\
                SPEAKER one 1 12.34 2.500 <NA> <NA> Ann 0.9 <NA>\r\nSPEAKER  one 1 20 1 <NA> <NA> Bo <NA> <NA>";
    let file = read(&folder.write("a.rttm", text)).unwrap();
    let found = file.found();
    assert_eq!(found.times, [12.34, 20.0]);
    assert_eq!(found.durations, [2.5, 1.0]);
    assert_eq!(found.labels, ["Ann", "Bo"]);
    assert_eq!(found.facts[0].values, ["one", "one"]);
    assert_eq!(moved(&file, &[12.5, 20.0]), text.replace("12.34", "12.500"));
    for line in ["SPEAKER one 1 now 2", "SPEAKER one 1 1 -2", "SPEAKER one"] {
        let error = read(&folder.write("b.rttm", line)).unwrap_err().to_string();
        assert!(
            error.contains("line 1: found '") && error.contains("expected type, file"),
            "{error}"
        );
    }
}

#[test]
fn events_of_boris_move_within_their_observation() {
    let folder = Folder::new();
    let file = read(&folder.write("a.boris", BORIS)).unwrap();
    let found = file.found();
    assert_eq!(
        (&found.times[..], &found.labels[..]),
        (&[1.5, 2.25][..], &["peck".to_owned(), "fly".to_owned()][..])
    );
    let facts: Vec<_> =
        found.facts.iter().map(|fact| (fact.name.as_str(), fact.values[0].as_str())).collect();
    let want = [
        ("Observation id", "walk 1"),
        ("Subject", "Ann"),
        ("Modifiers", "hard"),
        ("Comment", "sure"),
    ];
    assert_eq!(facts, want);
    let lines =
        "[1.500, \"Ann\", \"peck\", \"hard\", \"sure\", 7],\n    [2.25, \"\", \"fly\", \"\", \"\"]";
    let swapped =
        "[2.25, \"\", \"fly\", \"\", \"\"],\n    [3.5, \"Ann\", \"peck\", \"hard\", \"sure\", 7]";
    assert_eq!(moved(&file, &[3.5, 2.25]), BORIS.replace(lines, swapped));
    let less = rendered(&file, &found.times, &[false, true]).unwrap();
    let alone = "[2.25, \"\", \"fly\", \"\", \"\"]";
    assert_eq!(String::from_utf8(less).unwrap(), BORIS.replace(lines, alone));
    let broken = BORIS.replace("2.25", "\"soon\"");
    let error = read(&folder.write("b.boris", broken)).unwrap_err().to_string();
    assert!(error.contains("line 5: found '[\"soon\""), "{error}");
}

#[test]
fn tables_of_boris_have_states_with_durations() {
    let folder = Folder::new();
    let text = AGGREGATED;
    let file = read(&folder.write("a.csv", text)).unwrap();
    let found = file.found();
    assert_eq!((&found.times[..], &found.durations[..]), (&[1.5, 2.0][..], &[2.5, 0.0][..]));
    assert_eq!(found.labels, ["sit, down", "peck"]);
    assert_eq!(found.facts[found.recording.unwrap()].values, ["one", "one"]);
    assert_eq!(moved(&file, &[1.25, 2.0]), text.replace("1.5,4", "1.25,3.75"));
}

#[test]
fn states_of_boris_last_from_start_to_stop_of_the_same_subject() {
    let folder = Folder::new();
    let file = read(&folder.write("a.boris", STATES)).unwrap();
    let found = file.found();
    assert_eq!(found.times, [1.0, 2.0, 2.5, 4.0]);
    assert_eq!(found.durations, [2.0, 2.5, 0.0, 2.25]);
    assert_eq!(found.labels, ["sit", "sit", "fly", "sit"]);
    assert_eq!(found.facts[1].values, ["Ann", "Bo", "Ann", "Ann"]);
    assert_eq!(found.facts[3].values, ["tired", "", "", ""]);
    // Bo's state moves with both events, which pass others.
    let (first, last) =
        ("[2.0, \"Bo\", \"sit\", \"\", \"\"]", "[4.5, \"Bo\", \"sit\", \"\", \"\"]");
    let rest =
        STATES.replace(&format!("{first},\n    "), "").replace(&format!("{last},\n    "), "");
    let (moved_first, moved_last) = (first.replace("2.0", "0.5"), last.replace("4.5", "3"));
    let want = rest
        .replace("[1.0,", &format!("{moved_first},\n    [1.0,"))
        .replace("[4.0,", &format!("{moved_last},\n    [4.0,"));
    assert_eq!(moved(&file, &[1.0, 0.5, 2.5, 4.0]), want);
    let text = moved_with_ends(&file, &[1.0, 2.0, 2.5, 4.0], &[2.25, 4.5, 2.5, 7.0]).unwrap();
    let again = read(&folder.write("b.boris", &text)).unwrap();
    assert_eq!(again.found().times, found.times);
    assert_eq!(again.found().durations, [1.25, 2.5, 0.0, 3.0]);
    let less = rendered(&file, &found.times, &[false, true, true, true]).unwrap();
    let less = read(&folder.write("c.boris", less)).unwrap();
    assert_eq!(less.found().times, [2.0, 2.5, 4.0]);
    let error = rendered(&file, &[3.5, 2.0, 2.5, 4.0], &[true; 4]).unwrap_err().to_string();
    assert!(error.contains("states 'sit' from 3.5 and 4 s would overlap"), "{error}");
    let error = moved_with_ends(&file, &found.times, &[3.0, 4.5, 2.75, 6.25]).unwrap_err();
    assert!(error.to_string().contains("a point event cannot last, to 2.75 s"), "{error}");
    let open = STATES.replace("[6.25, \"Ann\"", "[6.25, \"Cy\"");
    let error = read(&folder.write("d.boris", open)).unwrap_err().to_string();
    assert!(
        error.contains("line 6: found '[4.0, \"Ann\"") && error.contains("a start and a stop"),
        "{error}"
    );
}

#[test]
fn samples_of_raven_move_along_or_the_move_is_refused() {
    let folder = Folder::new();
    let file = read(&folder.write("a.txt", RAVEN)).unwrap();
    assert_eq!(file.found().times, [12.5, 70.0]);
    let want = RAVEN
        .replace("12.500000000\t13.250000000", "13\t13.75")
        .replace("12.500000000\t600000\t636000", "13\t624000\t660000");
    assert_eq!(moved(&file, &[13.0, 70.0]), want);
    let longer = want.replace("13\t13.75", "13\t14").replace("660000", "672000");
    assert_eq!(moved_with_ends(&file, &[13.0, 70.0], &[14.0, 71.0]).unwrap(), longer);
    let error = rendered(&file, &[12.5, 59.75], &[true; 2]).unwrap_err().to_string();
    assert!(error.contains("would begin before its sound") && error.contains("-12000"), "{error}");
    // Neither two rates nor none at all.
    let mixed = RAVEN.replace("480000\t528000", "441000\t485100");
    let lone = "Begin Time (s)\tBeg File Samp (samples)\n12.5\t600000\n70\t480000\n";
    let short =
        "Begin Time (s)\tFile Offset (s)\tBeg File Samp (samples)\n12.5\t0.1\t5000\n70\t0.0\t1\n";
    for text in [mixed.as_str(), lone, short] {
        let file = read(&folder.write("b.selections.txt", text)).unwrap();
        assert_eq!(moved(&file, &[12.5, 70.0]), text);
        let error = rendered(&file, &[13.0, 70.0], &[true; 2]).unwrap_err().to_string();
        assert!(error.contains("do not tell how many samples a second has"), "{error}");
    }
}

#[test]
fn both_ends_of_stamps_move_in_every_format_that_has_them() {
    let folder = Folder::new();
    let (times, ends) = ([0.25, 1.5, 29.0, 3990.0], [1.25, 2.0, 31.5, 3990.5]);
    for (name, content) in examples().into_iter().take(10) {
        let file = read(&folder.write(name, &content)).unwrap();
        if name == "a.atr" {
            let error = moved_with_ends(&file, &times, &ends).unwrap_err().to_string();
            assert!(error.contains("move their beginnings alone"), "{error}");
            continue;
        }
        assert!(file.holds_ends(), "{name}");
        let text = moved_with_ends(&file, &times, &ends).unwrap();
        let path = folder.write(&format!("b{}", &name[1..]), text);
        let again = read(&path).unwrap();
        assert_eq!(again.found().times, times, "{name}");
        assert_eq!(again.found().durations, [1.0, 0.5, 2.5, 0.5], "{name}");
        assert_eq!(again.found().labels, file.found().labels, "{name}");
        // Ends that stay where they are change nothing.
        let file = read(&folder.write(name, &content)).unwrap();
        let found = file.found();
        let ends: Vec<f64> = found.times.iter().zip(&found.durations).map(|(t, d)| t + d).collect();
        assert_eq!(moved_with_ends(&file, &found.times, &ends).unwrap().into_bytes(), content);
        let error = moved_with_ends(&file, &times, &[0.0; 4]).unwrap_err().to_string();
        assert!(error.contains("expected none before 0.25 s"), "{name}: {error}");
    }
}

#[test]
fn what_has_no_end_is_given_none() {
    let folder = Folder::new();
    for (name, text, want) in [
        ("a.csv", "time,label\n1,x\n", "(csv) have no end that can be moved"),
        ("b.csv", "time,duration\n1,\n2,3\n", "tells no end, so none can be moved to 1.5 s"),
        ("a.rttm", "SPEAKER one 1 1", "it has no field for a duration"),
    ] {
        let file = read(&folder.write(name, text)).unwrap();
        let times = &file.found().times;
        let ends: Vec<f64> = times.iter().map(|time| time + 0.5).collect();
        let error = moved_with_ends(&file, times, &ends).unwrap_err().to_string();
        assert!(error.contains(want), "{name}: {error}");
    }
    // What ends as before is as it was written, though 0.1 + 0.2 - 0.1 is not 0.2.
    let file = read(&folder.write("c.csv", "time,duration\n0.1,0.20\n")).unwrap();
    assert_eq!(moved_with_ends(&file, &[0.1], &[0.1 + 0.2]).unwrap(), "time,duration\n0.1,0.20\n");
    let (name, grid) = examples().into_iter().find(|(name, _)| *name == "a.TextGrid").unwrap();
    let file = read(&folder.write(name, grid)).unwrap();
    let times = &file.found().times;
    let error = moved_with_ends(&file, times, times).unwrap_err().to_string();
    assert!(error.contains("'N' would last no time at 0.5 s"), "{error}");
    let file = read(&folder.write("a.txt", "1\told\n")).unwrap();
    assert_eq!(moved_with_ends(&file, &[2.0], &[3.5]).unwrap(), "2.000000\t3.500000\told\n");
}

/// Two tiers; a1 and a2 share a slot, and a3 has slots of its own.
const EAF: &str = "<?xml version=\"1.0\"?>\n<ANNOTATION_DOCUMENT AUTHOR=\"\">\n\
    <HEADER TIME_UNITS=\"milliseconds\"/>\n<TIME_ORDER>\n\
    <TIME_SLOT TIME_SLOT_ID=\"ts1\" TIME_VALUE=\"500\"/>\n<TIME_SLOT TIME_SLOT_ID=\"ts2\" TIME_VALUE=\"1500\"/>\n\
    <TIME_SLOT TIME_SLOT_ID=\"ts3\" TIME_VALUE=\"2500\"/>\n<TIME_SLOT TIME_VALUE=\"3000\" TIME_SLOT_ID='ts4' />\n\
    <TIME_SLOT TIME_SLOT_ID=\"ts5\" TIME_VALUE=\"4000\"/>\n</TIME_ORDER>\n<TIER TIER_ID=\"coughs\" PARTICIPANT=\"P1\">\n\
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a1\" TIME_SLOT_REF1=\"ts1\" TIME_SLOT_REF2=\"ts2\">\
    <ANNOTATION_VALUE>wet &amp; <!-- no --> long</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n\
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a2\" TIME_SLOT_REF1=\"ts2\" TIME_SLOT_REF2=\"ts3\">\
    <ANNOTATION_VALUE/></ALIGNABLE_ANNOTATION></ANNOTATION>\n</TIER>\n<TIER TIER_ID=\"other\">\n\
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a3\" TIME_SLOT_REF1=\"ts4\" TIME_SLOT_REF2=\"ts5\">\
    <ANNOTATION_VALUE>x</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n</TIER>\n\
    <TIER TIER_ID=\"child\"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID=\"a4\" ANNOTATION_REF=\"a3\">\
    <ANNOTATION_VALUE>y</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>\n</ANNOTATION_DOCUMENT>\n";

#[test]
fn annotations_of_elan_move_by_their_slots() {
    let folder = Folder::new();
    let file = read(&folder.write("a.eaf", EAF)).unwrap();
    let found = file.found();
    assert_eq!(
        (&found.times[..], &found.durations[..]),
        (&[0.5, 1.5, 3.0][..], &[1.0, 1.0, 1.0][..])
    );
    assert_eq!(found.labels, ["wet &  long", "", "x"]);
    assert_eq!(found.facts[0].values, ["coughs", "coughs", "other"]);
    assert_eq!(found.facts[1].values, ["P1", "P1", ""]);
    // Own slots move in place; slots of order stay in order of time.
    let want = EAF
        .replace("<TIME_SLOT TIME_VALUE=\"3000\" TIME_SLOT_ID='ts4' />\n", "")
        .replace("<TIME_SLOT TIME_SLOT_ID=\"ts5\" TIME_VALUE=\"4000\"/>\n", "")
        .replace(
            "<TIME_SLOT TIME_SLOT_ID=\"ts1\"",
            "<TIME_SLOT TIME_VALUE=\"100\" TIME_SLOT_ID='ts4' />\n<TIME_SLOT TIME_SLOT_ID=\"ts1\"",
        )
        .replace(
            "<TIME_SLOT TIME_SLOT_ID=\"ts2\"",
            "<TIME_SLOT TIME_SLOT_ID=\"ts5\" TIME_VALUE=\"1100\"/>\n<TIME_SLOT TIME_SLOT_ID=\"ts2\"",
        );
    assert_eq!(moved(&file, &[0.5, 1.5, 0.1]), want);
    // A slot that another annotation keeps is left, and a new one made.
    let text = moved(&file, &[0.5, 1.75, 3.0]);
    assert!(text.contains("TIME_SLOT_ID=\"ts2\" TIME_VALUE=\"1500\""), "{text}");
    assert!(text.contains("TIME_SLOT_REF1=\"ts6\" TIME_SLOT_REF2=\"ts3\""), "{text}");
    let again = read(&folder.write("b.eaf", &text)).unwrap();
    assert_eq!(again.found().times, [0.5, 1.75, 3.0]);
    assert_eq!(again.found().durations, [1.0, 1.0, 1.0]);
    let text = moved_with_ends(&file, &[0.5, 1.75, 3.0], &[1.75, 2.0, 3.25]).unwrap();
    let again = read(&folder.write("b.eaf", &text)).unwrap();
    assert_eq!(again.found().times, [0.5, 1.75, 3.0]);
    assert_eq!(again.found().durations, [1.25, 0.25, 0.25]);
    let error = rendered(&file, &[0.5, 1.25, 3.0], &[true; 3]).unwrap_err().to_string();
    assert!(
        error.contains("annotations from 0.5 to 1.5 s and from 1.25 s would overlap"),
        "{error}"
    );
    let less = rendered(&file, &found.times, &[false, true, true]).unwrap();
    let less = read(&folder.write("c.eaf", less)).unwrap();
    assert_eq!(less.found().labels, ["", "x"]);
    let error = rendered(&file, &found.times, &[true, true, false]).unwrap_err().to_string();
    assert!(error.contains("that others refer to cannot be taken out"), "{error}");
    let error = rendered(&file, &[-1.0, 1.5, 3.0], &[true; 3]).unwrap_err().to_string();
    assert!(error.contains("times of ELAN are 0 to"), "{error}");
}

#[test]
fn a_tier_of_elan_is_chosen_by_name_or_number() {
    let folder = Folder::new();
    let path = folder.write("a.eaf", EAF);
    let with = |tier| {
        let options = ReadOptions { tier: Some(tier), ..ReadOptions::default() };
        StampFile::read(&path, None, &options)
    };
    assert_eq!(with(TierName::Named("other".to_owned())).unwrap().found().labels, ["x"]);
    assert_eq!(with(TierName::Numbered(1)).unwrap().found().len(), 2);
    let error = with(TierName::Numbered(9)).unwrap_err().to_string();
    assert!(
        error.contains("found the tiers 'coughs', 'other', 'child'; expected a tier 9"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_in_elan_is_told_with_its_line() {
    let folder = Folder::new();
    for (from, to, want) in [
        ("ANNOTATION_DOCUMENT", "DOCUMENT", "line 2: found '<DOCUMENT"),
        ("\"milliseconds\"", "\"frames\"", "expected times in milliseconds"),
        ("\"1500\"", "\"soon\"", "line 6: found '<TIME_SLOT"),
        ("REF1=\"ts1\"", "REF1=\"ts9\"", "line 12: found '<ALIGNABLE_ANNOTATION"),
        ("TIME_VALUE=\"500\"", "TIME_VALUE=\"1501\"", "expected an end not before its start"),
        ("</TIER>", "", "expected a document of ELAN"),
    ] {
        let error = read(&folder.write("a.eaf", EAF.replace(from, to))).unwrap_err().to_string();
        assert!(error.contains(want), "{to}: {error}");
    }
}
