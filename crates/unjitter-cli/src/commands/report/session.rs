//! One session on the page: what was pressed and where it belongs, and which events there are, by class.

use unjitter::evaluation::{ClassDetection, EventOptions, detect_class_events};
use unjitter::labels::Labels;
use unjitter::{Aligned, AlignedInstance, AlignedStamp, Session};

use super::{Content, THRESHOLD};
use crate::report::{
    ClassView, EndView, EventView, SessionView, SignalView, StampClass, StampView,
};

/// A session.
pub(super) fn view(content: &Content<'_>, k: usize) -> SessionView {
    let Content { fitted, data, aligned, signals, .. } = *content;
    let (recording, aligned) = (&data.recordings[k], &aligned[k]);
    let session = &recording.session;
    let of = |value: fn(&AlignedInstance) -> f64| -> Vec<f64> {
        aligned.instances.iter().map(value).collect()
    };
    let p_detector = of(|one| one.p_detector);
    let labelled = data.classes[k].as_deref().filter(|_| aligned.classes.is_some());
    let classes = classes(aligned, labelled.unwrap_or_default());
    let labels = fitted.model().labels;
    let options = EventOptions { threshold: fitted.threshold(), labels, ..EventOptions::default() };
    let detected = match &aligned.classes {
        None => events(session, &p_detector, 1, &options),
        Some(own) => events(session, &own.detector.concat(), own.names.len(), &options),
    };
    let truth = EventOptions { labels, ..EventOptions::default() };
    let true_events = match (labelled, &recording.truth) {
        (Some(labelled), _) => {
            let own =
                labelled.iter().flat_map(|own| classes.iter().map(move |one| one.name == *own));
            Some(events(session, &certain(own), classes.len(), &truth))
        }
        (None, Some(labelled)) if labels == Labels::Chain => {
            Some(events(session, &certain(labelled.iter().copied()), 1, &truth))
        }
        _ => None,
    };
    let signal = signals.iter().find(|signal| signal.session == session.name());
    SessionView {
        name: session.name().to_owned(),
        subject: session.subject().map(str::to_owned),
        start: data.clocks[k].start(),
        signal: signal.map(|signal| SignalView {
            times: signal.channels[0].times().to_vec(),
            values: signal.channels[0].values().to_vec(),
        }),
        times: session.times().to_vec(),
        p_positive: of(|one| one.p_positive),
        p_missed: of(|one| one.p_missed),
        p_detector,
        truth: recording.truth.clone(),
        stamps: (0..aligned.stamps.len()).map(|l| stamp(session, aligned, &classes, l)).collect(),
        detected,
        missed: missed(content, k),
        true_events,
        classes,
    }
}

/// Events that were probably missed.
pub(super) fn missed(content: &Content<'_>, k: usize) -> Vec<EventView> {
    let aligned = &content.aligned[k];
    let class = |first: usize, last: usize| {
        let own = aligned.classes.as_ref()?;
        let name = own.of_event(first..last + 1);
        own.names.iter().position(|class| class == name)
    };
    match &aligned.runs {
        Some(_) => aligned
            .missed_runs(THRESHOLD)
            .map(|run| EventView {
                begin: run.begin,
                end: run.end,
                class: class(run.first, run.last),
            })
            .collect(),
        None => (0..aligned.instances.len())
            .filter(|&i| aligned.instances[i].p_missed > THRESHOLD)
            .map(|i| EventView { class: class(i, i), ..EventView::at(aligned.instances[i].time) })
            .collect(),
    }
}

/// The classes of the model, and those that only labels name, of which nothing was learned.
fn classes(aligned: &Aligned, labelled: &[String]) -> Vec<ClassView> {
    let Some(own) = &aligned.classes else { return Vec::new() };
    let of = |all: &[Vec<f64>], k: usize| all.iter().map(|one| one[k]).collect();
    let class = |(k, name): (usize, &String)| ClassView {
        name: name.clone(),
        p_detector: of(&own.detector, k),
        p_positive: of(&own.instances, k),
    };
    let mut classes: Vec<ClassView> = own.names.iter().enumerate().map(class).collect();
    for name in labelled.iter().filter(|name| !name.is_empty()) {
        if classes.iter().all(|known| known.name != *name) {
            classes.push(ClassView { name: name.clone(), ..ClassView::default() });
        }
    }
    classes
}

/// What is told by such probabilities, by instance and class; nothing where there are none.
fn events(
    session: &Session<'_>,
    probabilities: &[f64],
    classes: usize,
    options: &EventOptions,
) -> Vec<EventView> {
    let found = detect_class_events(session.times(), probabilities, classes, options);
    let view = |own: &ClassDetection| EventView {
        begin: own.event.time,
        end: own.event.end,
        class: (classes > 1).then_some(own.class),
    };
    found.iter().flatten().map(view).collect()
}

/// Labels as probabilities.
fn certain(labels: impl Iterator<Item = bool>) -> Vec<f64> {
    labels.map(|label| f64::from(u8::from(label))).collect()
}

fn stamp(session: &Session<'_>, aligned: &Aligned, classes: &[ClassView], l: usize) -> StampView {
    let AlignedStamp { stamp, time, low, high, instance_time, p_instance, p_spurious, .. } =
        aligned.stamps[l];
    let end = aligned.ends.get(l).copied().flatten().map(|end| EndView {
        stamp: end.stamp,
        time: end.time,
        low: end.low,
        high: end.high,
        instance_time: end.instance_time,
        p_spurious: end.p_spurious,
    });
    let number = |name: &str| classes.iter().position(|own| own.name == name);
    let class = aligned.classes.as_ref().and_then(|own| {
        let (likeliest, p) = own.of_stamp(l);
        Some(StampClass {
            recorded: number(session.class_of(l)?)?,
            likeliest: number(likeliest)?,
            p,
        })
    });
    StampView { stamp, time, low, high, instance_time, p_instance, p_spurious, end, class }
}
