"""Quality of a detector: by instance, by event, and the significance of differences.

Instances
---------
Functions of ``(y_true, y_score)`` take labels and probabilities as scikit-learn's do. Both may also
be lists: sessions with labels, and their ``predict_proba``. Then all instances are pooled;
instances with an unknown label, and sessions without labels, are left out.

Events
------
Functions of ``(true, detected)`` take times of one session, or lists with the times of many. An
event and a detection match if they are no further apart than `tolerance`, a number or a pair
``(before, after)``: how early and how late a detection may be. :func:`bout_metrics` takes bouts,
which have a start and an end.

Scorers
-------
What ends in ``scorer`` goes into ``GridSearchCV(scoring=...)`` and ``cross_validate``. Where events
are of several classes, all but :func:`class_f1_scorer` and :func:`log_evidence_scorer` ask only for
events of any class.

scikit-learn's own, by names such as ``scoring="f1"``, compare one prediction per sample with `y`. A
sample is a session here, with a label for each instance, so none of them fits: without `y` they
fail before they ask a detector anything ("missing 1 required positional argument: 'y_true'"), which
scikit-learn makes a score of NaN.

======================================  ========================================================
instead of scikit-learn's               take
======================================  ========================================================
``"f1"``                                :func:`f1_scorer`, which is also ``EventDetector.score``
``"f1_macro"``                          :func:`class_f1_scorer`, ``score`` with several classes
``"average_precision"``, ``"roc_auc"``  :func:`average_precision_scorer`
``"neg_brier_score"``                   :func:`brier_scorer`
``"neg_log_loss"``                      :func:`log_loss_scorer`
no labels                               :func:`log_evidence_scorer`
======================================  ========================================================
"""

from ._bouts import BoutMetrics, bout_metrics
from ._events import (
    Detections,
    EventMetrics,
    TimingErrors,
    detect_events,
    event_average_precision,
    event_metrics,
    match_events,
    mean_event_average_precision,
)
from ._instances import (
    BestF1,
    Confusion,
    PrecisionRecallCurve,
    ReliabilityCurve,
    Scores,
    average_precision,
    best_f1,
    brier_score,
    confusion,
    expected_calibration_error,
    f1,
    log_loss,
    precision,
    precision_recall_curve,
    precision_recall_f1,
    recall,
    reliability_curve,
)
from ._scorers import (
    average_precision_scorer,
    bout_f1_scorer,
    brier_scorer,
    class_f1_scorer,
    event_average_precision_scorer,
    event_f1_scorer,
    f1_scorer,
    log_evidence_scorer,
    log_loss_scorer,
)
from ._significance import (
    Interval,
    MeanInterval,
    PairedTest,
    bonferroni,
    bootstrap_interval,
    mean_interval,
    paired_t_test,
)

__all__ = [
    "BestF1",
    "BoutMetrics",
    "Confusion",
    "Detections",
    "EventMetrics",
    "Interval",
    "MeanInterval",
    "PairedTest",
    "PrecisionRecallCurve",
    "ReliabilityCurve",
    "Scores",
    "TimingErrors",
    "average_precision",
    "average_precision_scorer",
    "best_f1",
    "bonferroni",
    "bootstrap_interval",
    "bout_f1_scorer",
    "bout_metrics",
    "brier_score",
    "brier_scorer",
    "class_f1_scorer",
    "confusion",
    "detect_events",
    "event_average_precision",
    "event_average_precision_scorer",
    "event_f1_scorer",
    "event_metrics",
    "expected_calibration_error",
    "f1",
    "f1_scorer",
    "log_evidence_scorer",
    "log_loss",
    "log_loss_scorer",
    "match_events",
    "mean_event_average_precision",
    "mean_interval",
    "paired_t_test",
    "precision",
    "precision_recall_curve",
    "precision_recall_f1",
    "recall",
    "reliability_curve",
]
