"""Sessions that do not fit into one memory, or lie on many machines.

A :class:`Dataset` has its sessions in partitions: files (:mod:`unjitter.parquet`), or frames of
Dask (:mod:`unjitter.dask`) or Spark (:mod:`unjitter.spark`). A detector takes it like a list of
sessions. Engines do one thing only: ask every partition a question (:mod:`._questions`).
"""

from ._dataset import Dataset, Scores
from ._layout import Layout

__all__ = ["Dataset", "Layout", "Scores"]
