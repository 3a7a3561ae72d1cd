"""Chains learned from labels, beside CRFsuite."""

import json
from pathlib import Path

import numpy as np
import pytest

from unjitter import EventDetector, Priors, Session

GOLDEN = Path(__file__).parents[2] / "reference" / "golden" / "runs.json"


# Weak features, of which it says that the detector is unsure.
@pytest.mark.filterwarnings("ignore")
def test_a_chain_with_all_labels_is_the_field_of_crfsuite() -> None:
    told = json.loads(GOLDEN.read_text())["case"]["sessions"]
    sessions = []
    for own in told:
        labels = np.array(own["labels"])
        times = np.arange(len(labels), dtype=float)
        # Stamps tell nothing of labels that are known, but a fit needs some.
        begins = np.diff(labels, prepend=0) == 1
        sessions.append(Session(own["features"], times, times[begins] + 0.2, labels=labels))
    flat = (1.0, 1e-9)
    priors = Priors(intercept_precision=0.0, onset_rate=flat, offset_rate=flat)
    detector = EventDetector(
        labels="chain", use_labels=True, regularisation=0.0, priors=priors, restarts=0
    )
    detector.fit(sessions)
    for session, own in zip(sessions, told, strict=True):
        # Both optimisers stop a little before the same optimum.
        found = detector.predict_proba(session)[:, 1]
        np.testing.assert_allclose(found, own["positive"], rtol=0, atol=1e-5)
