//! Recordings stamped by several people, and by clocks that are off.

use std::fmt::Write as _;

use unjitter::math::Random;

use crate::folder::Folder;

/// Somebody who stamps: a name, seconds late, and the share of events missed.
pub(crate) type Person = (&'static str, f64, f64);

/// One who is prompt and misses little, and one who does not.
pub(crate) const PEOPLE: [Person; 2] = [("ada", 1.0, 0.05), ("ben", 4.0, 0.3)];

/// A folder `data` of sessions of 160 instances, some 3 s apart, one in twelve an event. Everybody stamps every
/// session by its clock, which is ahead by so much.
pub(crate) fn stamped(people: &[Person], offsets: &[f64]) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("data")).unwrap();
    let mut random = Random::new(5);
    let mut instances = String::from("session,time,x,y,label\n");
    let mut events = String::from("note,session,time,annotator\n");
    let mut sessions = String::from("session,subject,device,annotators\n");
    let names: Vec<&str> = people.iter().map(|person| person.0).collect();
    for (k, offset) in offsets.iter().enumerate() {
        let mut time = 0.0;
        for i in 0..160 {
            time += 2.0 + 2.0 * random.uniform();
            let event = random.uniform() < 1.0 / 12.0;
            let (x, y) = (random.normal(), random.normal());
            let (x, y) = if event { (x + 3.0, y - 2.0) } else { (x, y) };
            let _ = writeln!(instances, "s{k},{time:.3},{x:.4},{y:.4},{}", u8::from(event));
            for (name, delay, missed) in people {
                if event && random.uniform() >= *missed {
                    let stamp = time + delay + 0.8 * random.normal() + offset;
                    let _ = writeln!(events, "\"n, {i}\",s{k},{stamp:.3},{name}");
                }
            }
        }
        let _ = writeln!(sessions, "s{k},p{},watch {},{}", k / 2, k % 2, names.join(";"));
    }
    folder.write("data/instances.csv", &instances);
    folder.write("data/events.csv", &events);
    folder.write("data/sessions.csv", &sessions);
    folder
}

/// Two people who stamp six sessions by clocks that are right.
pub(crate) fn by_people() -> Folder {
    stamped(&PEOPLE, &[0.0; 6])
}

/// Moves some sessions of `data` into another folder.
pub(crate) fn move_sessions(folder: &Folder, to: &str, names: &[&str]) {
    std::fs::create_dir(folder.path(to)).unwrap();
    for table in ["instances.csv", "events.csv", "sessions.csv"] {
        let text = folder.read(&format!("data/{table}"));
        let is_moved = |line: &str| {
            let mut cells = line.split(',');
            cells.any(|cell| names.contains(&cell))
        };
        let header = text.lines().next().unwrap();
        let part = |moved: bool| -> String {
            let lines = text.lines().skip(1).filter(|line| is_moved(line) == moved);
            [header].into_iter().chain(lines).map(|line| format!("{line}\n")).collect()
        };
        folder.write(&format!("{to}/{table}"), &part(true));
        folder.write(&format!("data/{table}"), &part(false));
    }
}
