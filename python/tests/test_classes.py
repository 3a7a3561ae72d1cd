"""Events of several classes."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

from unjitter import (
    EventDetector,
    Session,
    baselines,
    metrics,
    read_dataset,
    sessions_from_frames,
    sync,
)

NAMES = ("cough", "sneeze")


def drawn(count: int, *, seed: int = 0) -> list[Session]:
    """Sessions in which one press in ten is recorded as the other class."""
    random = np.random.default_rng(seed)
    sessions = []
    for k in range(count):
        truth = np.full(200, None, dtype=object)
        for at in range(5, 195, 12):
            truth[at + random.integers(5)] = NAMES[random.integers(2)]
        features = random.normal(size=(200, 3))
        for column, name in enumerate(NAMES):
            features[truth == name, column] += 4.0
        events = np.flatnonzero(truth != np.array(None))
        pressed = events + 0.4 + 0.5 * random.normal(size=len(events))
        swapped = {"cough": "sneeze", "sneeze": "cough"}
        recorded = [swapped[truth[at]] if random.random() < 0.1 else truth[at] for at in events]
        labels = [0 if name is None else name for name in truth]
        sessions.append(
            Session(features, range(200), pressed, labels, name=f"s{k}", classes=recorded)
        )
    return sessions


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    return drawn(8)


@pytest.fixture(scope="module")
def detector(sessions: list[Session]) -> EventDetector:
    return EventDetector(restarts=1).fit(sessions[:6])


def test_each_class_has_a_probability(sessions, detector):
    assert list(detector.classes_) == [None, *NAMES]
    p = detector.predict_proba(sessions[7])
    assert p.shape == (200, 3)
    # Sums of three numbers of order one.
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(detector.predict_proba(sessions[7].X), p, atol=1e-12)
    found = detector.predict(sessions[7])
    assert set(found) == {None, *NAMES}


def test_confusion_and_scores_are_those_of_the_simulation(sessions, detector):
    assert detector.confusion_.shape == (2, 2)
    # Some 48 events of a class: a standard error of 0.04, and the prior's half an event in ten.
    np.testing.assert_allclose(detector.confusion_, [[0.9, 0.1], [0.1, 0.9]], atol=0.12)
    scores = detector.class_scores(sessions[6:], backend="numpy")
    assert list(scores["class"]) == [*NAMES, "macro", "micro"]
    assert detector.score(sessions[6:]) == pytest.approx(scores["f1"][2])
    # Features tell events by four standard deviations.
    assert scores["f1"][2] > 0.8
    truth = [own for session in sessions[6:] for own in session.label_classes]
    assert list(scores["events"][:2]) == [truth.count(name) for name in NAMES]


def test_aligned_stamps_have_their_likeliest_class(sessions, detector):
    right = recorded = 0
    for session in sessions:
        aligned = detector.align(session, backend="numpy")
        truth = np.array(session.label_classes, dtype=object)
        told = zip(aligned["instance"], aligned["aligned_class"])
        right += sum(truth[i] == name for i, name in told)
        given = session._as_given(session.classes)
        recorded += sum(truth[i] == name for i, name in zip(aligned["instance"], given))
        assert np.all(aligned["p_class"] + aligned["p_spurious"] <= 1.0 + 1e-12)
    # One press in ten is recorded wrongly, and features tell nearly all of them.
    assert right > recorded + 5
    instances = detector.align_instances(session, backend="numpy")
    both = instances["p_cough"] + instances["p_sneeze"]
    np.testing.assert_allclose(both, instances["p_positive"], atol=1e-9)


def test_a_model_file_keeps_classes(sessions, detector, tmp_path):
    detector.save(tmp_path / "model.json")
    again = EventDetector.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.confusion_, detector.confusion_)
    same = detector.predict_proba(sessions[0])
    np.testing.assert_array_equal(again.predict_proba(sessions[0]), same)


def test_what_knows_one_class_says_so(sessions, detector):
    for ask in (detector.diagnose, detector.plan):
        with pytest.raises(ValueError, match="several classes"):
            ask(sessions)
    with pytest.raises(ValueError, match="several classes"):
        detector.to_onnx()


def test_classes_are_one_for_each_event():
    with pytest.raises(ValueError, match=r"classes has shape \(1,\), expected \(2,\)"):
        Session([[0.0], [1.0]], [0.0, 1.0], [0.2, 0.9], classes=["cough"])
    with pytest.raises(ValueError, match="class 1 is missing"):
        Session([[0.0], [1.0]], [0.0, 1.0], [0.2, 0.9], classes=["cough", None])


def test_an_unknown_class_is_refused(sessions, detector):
    other = sessions[0].replace(classes=["yawn"] * len(sessions[0].events))
    with pytest.raises(ValueError, match="class yawn is not among those of the model"):
        detector.align(other)


def test_classes_stay_with_their_stamps():
    session = Session([[0.0], [1.0]], [0.0, 1.0], [0.9, 0.2], [0, "b"], classes=["b", "a"])
    assert list(session.classes) == ["a", "b"]
    assert session.label_classes == (None, "b")
    again = session.replace(name="again")
    assert list(again.classes) == ["a", "b"]
    assert again.label_classes == (None, "b")
    assert session.replace(events=[0.5]).classes is None


def tables(sessions: list[Session]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same sessions as tables, with the class in the column "kind"."""
    instances = pd.concat(
        pd.DataFrame(one.X, columns=list("abc")).assign(
            session=one.name,
            time=one.times,
            label=[name or 0 for name in one.label_classes],
        )
        for one in sessions
    )
    events = pd.concat(
        pd.DataFrame({"session": one.name, "time": one.events, "kind": one.classes})
        for one in sessions
    )
    return instances, events.reset_index(drop=True)


def test_tables_tell_classes(sessions, tmp_path):
    instances, events = tables(sessions[:2])
    instances.to_csv(tmp_path / "instances.csv", index=False)
    events.to_csv(tmp_path / "events.csv", index=False)
    from_disk = read_dataset(tmp_path, classes="kind")
    # As text, as a table from disk has labels.
    instances["label"] = instances["label"].astype(str)
    for read in (sessions_from_frames(instances, events, classes="kind"), from_disk):
        for own, want in zip(read, sessions):
            assert list(own.classes) == list(want.classes)
            assert own.label_classes == want.label_classes
            np.testing.assert_array_equal(own.labels, want.labels)
    for read in (
        lambda: sessions_from_frames(instances, events, classes="sort"),
        lambda: read_dataset(tmp_path, classes="sort"),
    ):
        with pytest.raises(ValueError, match="no column .sort."):
            read()
    events.loc[3, "kind"] = None
    with pytest.raises(ValueError, match="session s0: class 3 is missing"):
        sessions_from_frames(instances, events, classes="kind")


def test_epoch_seconds_keep_classes(sessions, tmp_path):
    instances, events = tables(sessions[:1])
    instances["time"] += 1.7e9
    events["time"] += 1.7e9
    instances.to_csv(tmp_path / "instances.csv", index=False)
    events.to_csv(tmp_path / "events.csv", index=False)
    [own] = read_dataset(tmp_path, classes="kind")
    assert list(own.classes) == list(sessions[0].classes)
    assert own.times[0] == pytest.approx(1.7e9)


def test_results_for_frames_keep_the_class_that_was_recorded(sessions, detector):
    instances, events = tables(sessions[6:])
    read = sessions_from_frames(instances, events, classes="kind")
    table = detector.align(read)
    assert list(table["kind"]) == list(events["kind"])
    clashing = sessions_from_frames(instances, events.assign(p_class=0.5), classes="kind")
    with pytest.raises(ValueError, match="events has a column 'p_class', which the aligned"):
        detector.align(clashing)


@pytest.mark.parametrize("labels", ["independent", "chain"])
def test_detected_events_are_of_the_likeliest_class_where_any_reaches_the_threshold(labels):
    """Features of two classes that look alike: each by itself is often less likely than not."""
    random = np.random.default_rng(5)
    alike = []
    for k in range(6):
        truth = np.full(150, None, dtype=object)
        for at in range(6, 140, 12):
            truth[at : at + (1 if labels == "independent" else 4)] = NAMES[random.integers(2)]
        is_event = truth != np.array(None)
        X = random.normal(size=(150, 2)) + np.outer(is_event, [4.0, 0.0])
        X[:, 1] += np.where(truth == "cough", 0.3, 0.0)
        begins = np.flatnonzero(is_event & ~np.roll(is_event, 1))
        pressed = begins + 0.6 * random.normal(size=len(begins))
        given = [name or 0 for name in truth]
        alike.append(Session(X, range(150), pressed, given, classes=truth[begins], name=f"a{k}"))
    detector = EventDetector(labels=labels, restarts=0, use_labels=True, n_jobs=2).fit(alike)
    least = 0
    for session in alike:
        p = detector.predict_proba(session)[:, 1:]
        told = detector.predict(session)
        found = detector.detect_events(session, backend="numpy")
        least += sum(p[p.sum(axis=1) >= detector.threshold_].max(axis=1) < detector.threshold_)
        inside = np.full(len(session), None, dtype=object)
        for start, end, name in zip(found["start"], found["end"], found["class"]):
            inside[(session.times >= start) & (session.times <= end)] = name
        assert list(inside) == list(told)
        np.testing.assert_array_equal(detector.detect(session), found["start"])
    # A threshold for each class would have missed these.
    assert least > 0


def test_events_that_stamps_belong_to_have_a_class(sessions, detector):
    found = detector.align_events(sessions[6], backend="numpy")
    instances = detector.align_instances(sessions[6], backend="numpy")
    at = found["instance"]
    is_cough = instances["p_cough"][at] > instances["p_sneeze"][at]
    assert list(found["class"]) == [NAMES[0] if own else NAMES[1] for own in is_cough]
    assert set(found["class"]) == set(NAMES)
    one_class = EventDetector(restarts=0).fit(
        [one.replace(classes=None, labels=None) for one in sessions[:3]]
    )
    assert "class" not in one_class.align_events(sessions[0].replace(classes=None)).columns


def test_names_of_other_columns_are_no_classes(sessions):
    for name in ("missed", "positive", "detector"):
        clashing = sessions[0].replace(classes=[name] * len(sessions[0].events))
        with pytest.raises(ValueError, match=f"class '{name}' has a name that tables use"):
            EventDetector(restarts=0).fit([clashing, sessions[1]])


def test_false_alarms_of_sessions_without_events_count(sessions, detector):
    quiet = sessions[6].replace(labels=[0] * len(sessions[6]))
    both = detector.class_scores([sessions[7], quiet], backend="numpy")
    alone = detector.class_scores(sessions[7], backend="numpy")
    assert both["precision"][3] < 0.7 * alone["precision"][3]
    assert both["recall"][3] == alone["recall"][3]
    unnamed = sessions[6].replace(labels=[0, 1] * (len(sessions[6]) // 2))
    same = detector.class_scores([sessions[7], unnamed], backend="numpy")
    np.testing.assert_array_equal(same["f1"], alone["f1"])


def test_scores_by_class_are_those_of_scikit_learn(sessions, detector):
    table = detector.class_scores(sessions, backend="numpy")
    truth = [str(own) for one in sessions for own in one.label_classes]
    found = [str(own) for one in sessions for own in detector.predict(one)]
    for average, row in ((None, slice(2)), ("macro", 2), ("micro", 3)):
        want = sklearn.metrics.f1_score(truth, found, labels=list(NAMES), average=average)
        # A mean of two ratios.
        np.testing.assert_allclose(table["f1"][row], want, rtol=1e-12)


def test_a_single_class_has_scores_and_none_has_not(sessions):
    def only(one: Session) -> Session:
        own = one.classes == "cough"
        labels = ["cough" if name == "cough" else 0 for name in one.label_classes]
        return one.replace(events=one.events[own], classes=one.classes[own], labels=labels)

    coughs = [only(one) for one in sessions]
    detector = EventDetector(restarts=0).fit(coughs[:6])
    scores = detector.class_scores(coughs[6:], backend="numpy")
    assert list(scores["class"]) == ["cough", "macro", "micro"]
    assert scores["f1"][0] == scores["f1"][1] == pytest.approx(detector.score(coughs[6:]))
    plain = [one.replace(classes=None, labels=one.labels) for one in sessions]
    with pytest.raises(ValueError, match="has learned no classes"):
        EventDetector(restarts=0).fit(plain[:3]).class_scores(sessions)


def test_scorers_judge_events_of_any_class_unless_their_name_says_otherwise(sessions, detector):
    held_out = sessions[6:]
    labels = np.concatenate([one.labels for one in held_out])
    p = 1.0 - np.concatenate(detector.predict_proba(held_out))[:, 0]
    # Sums of two shares and a complement: a rounding or two.
    want = metrics.average_precision(labels, p)
    assert metrics.average_precision_scorer(detector, held_out) == pytest.approx(want, rel=1e-9)
    want = -metrics.brier_score(labels, p)
    assert metrics.brier_scorer(detector, held_out) == pytest.approx(want, rel=1e-9)
    assert metrics.f1_scorer(detector, held_out) == metrics.f1(labels, p, detector.threshold_)
    assert metrics.class_f1_scorer(detector, held_out) == detector.score(held_out)
    assert detector.score(held_out) < metrics.f1_scorer(detector, held_out)
    pytest.importorskip("matplotlib")
    from unjitter.plot._labelled import scored

    for drawn_as, want in zip(scored(detector, held_out), (labels, p)):
        np.testing.assert_allclose(drawn_as, want, rtol=1e-9)
    event_f1 = metrics.event_f1_scorer(tolerance=0.5)(detector, held_out)
    assert event_f1 == pytest.approx(metrics.f1_scorer(detector, held_out))
    assert 0.5 < metrics.event_average_precision_scorer(0.5)(detector, held_out) <= 1.0
    nothing = detector.threshold_, detector.set_params(threshold=1.0)
    assert metrics.f1_scorer(detector, held_out) == 0.0
    detector.set_params(threshold=nothing[0])
    naive = baselines.Naive().fit(sessions[:2])
    with pytest.raises(ValueError, match="Naive knows no classes"):
        metrics.class_f1_scorer(naive, held_out)


def test_noise_and_rates_differ_by_class(sessions):
    late = [
        one.replace(
            events=one.events + np.where(one.classes == "cough", 1.0, 0.0), classes=one.classes
        )
        for one in sessions[:6]
    ]
    detector = EventDetector(varies={"delay": "class"}, restarts=0).fit(late)
    groups = detector.groups(backend="numpy")
    assert list(groups["by"]) == ["class", "class"]
    by_name = dict(zip(groups["group"], groups["value"]))
    # Some 48 stamps of each scatter by half: four standard errors of a difference.
    assert by_name["cough"] - by_name["sneeze"] == pytest.approx(1.0, abs=4 * 0.5 * (2 / 48) ** 0.5)
    with pytest.raises(ValueError, match="classes of events share a clock"):
        EventDetector(varies={"offset": "class"}, restarts=0).fit(late)
    with pytest.raises(ValueError, match="clock is 'class', expected"):
        EventDetector(clock="class", restarts=0).fit(late)


def test_clocks_that_are_put_right_keep_classes(sessions, detector):
    late = sessions[6].replace(events=sessions[6].events[::-1] + 30.0)
    late = late.replace(classes=sessions[6].classes[::-1])
    synced = sync(late, detector, by="session", range=60.0, drift=0.0)
    assert synced.clocks[0].verdict == "found"
    moved = synced.apply(late)
    assert list(moved.classes) == list(sessions[6].classes)
    assert list(detector.align(moved)["aligned_class"]) == list(
        detector.align(moved.replace(classes=late._as_given(late.classes)))["aligned_class"]
    )


def test_the_notebook_tells_what_is_confused(sessions, detector):
    html = detector._repr_html_()
    assert "events of cough are recorded as" in html
    assert "of the other instances" not in html
    assert "cough" in sessions[0]._repr_html_()
