"""Events of several classes."""

import numpy as np
import pytest

from unjitter import EventDetector, Session

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
