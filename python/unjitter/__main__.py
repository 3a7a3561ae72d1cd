"""The command line for Parquet files: ``python -m unjitter fit INSTANCES EVENTS``.

The program ``unjitter`` reads CSV. Parquet is read here, by pyarrow, which users of Parquet have
already, and so do the workers of every engine; in the program it would be a second reader, of 24
further crates. Model files are the same.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from . import EventDetector

ENGINES = ("local", "dask", "spark")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m unjitter",
        description="Learn from Parquet files and apply what was learned.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, does, output in (
        ("fit", "learn a detector", "model.json"),
        ("align", "give every stamp back where it belongs", "aligned"),
        ("predict", "say how probable an event is at each instance", "predicted"),
        ("score", "compare with labels", None),
    ):
        own = verbs.add_parser(verb, help=does, description=does.capitalize() + ".")
        own.add_argument("instances", help="a Parquet file, or a folder of them")
        own.add_argument("events", help="a Parquet file, or a folder of them")
        if verb != "fit":
            own.add_argument("-m", "--model", default="model.json", help="a model file")
        if output is not None:
            own.add_argument("-o", "--output", default=output, help=f"by default {output}")
            own.add_argument("--force", action="store_true", help="replace the output")
        own.add_argument("--engine", choices=ENGINES, default="local", help="who works")
        own.add_argument("--scheduler", help="address of the scheduler of Dask or master of Spark")
        own.add_argument("--staging", help="a folder that all workers of Spark can write")
        own.add_argument("--rows", type=int, default=250_000, help="instances of a partition")
        for column in ("session", "time", "label", "subject", "annotator", "end", "duration"):
            own.add_argument(f"--{column}-column", default=column, metavar="NAME")
        own.add_argument("--features", help="columns of features, with commas; all others if not")
        if verb == "fit":
            own.add_argument("--sample", type=int, default=20_000, help="stamps to search on")
            own.add_argument("--use-labels", action="store_true", help="learn from labels too")
    return parser.parse_args(arguments)


def _dataset(given: argparse.Namespace) -> Any:
    names = None if given.features is None else given.features.split(",")
    columns = {
        "session": given.session_column,
        "time": given.time_column,
        "label": given.label_column,
        "subject": given.subject_column,
        "annotator": given.annotator_column,
        "end": given.end_column or None,
        "duration": given.duration_column,
        "features": names,
    }
    if given.engine == "spark":
        from pyspark.sql import SparkSession

        from . import spark

        if given.staging is None:
            raise ValueError("--engine spark: --staging names a folder that all workers can write")
        builder = SparkSession.builder.appName("unjitter")
        if given.scheduler is not None:
            builder = builder.master(given.scheduler)
        session = builder.getOrCreate()
        tables = [session.read.parquet(path) for path in (given.instances, given.events)]
        return spark.dataset(*tables, staging=given.staging, **columns)
    if given.engine == "dask":
        import distributed

        from . import dask

        client = distributed.Client(given.scheduler)
        return dask.dataset(
            given.instances, given.events, client=client, rows=given.rows, **columns
        )
    from . import parquet

    return parquet.dataset(given.instances, given.events, rows=given.rows, **columns)


def _write(table: Any, path: str) -> None:
    """A folder of Parquet files, by whichever engine."""
    if hasattr(table, "to_parquet"):
        table.to_parquet(path)
    elif hasattr(table, "write") and callable(table.write):
        table.write(path)
    else:
        table.write.parquet(path)


def main(arguments: list[str] | None = None) -> None:
    """Runs a verb."""
    given = _arguments(arguments)
    try:
        output = getattr(given, "output", None)
        if output is not None and os.path.exists(output) and not given.force:
            raise FileExistsError(f"{output} exists already; --force replaces it")
        dataset = _dataset(given)
        if given.verb == "fit":
            detector = EventDetector(
                sample=given.sample, use_labels=given.use_labels, n_jobs=-1, verbose=1
            ).fit(dataset)
            detector.save(given.output)
            print(
                f"learned from {len(dataset.sizes())} sessions in {dataset.passes} passes: stamps "
                f"{detector.delay_:.3g} late, give or take {detector.spread_:.3g}; wrote "
                f"{given.output}"
            )
            return
        detector = EventDetector.load(given.model)
        if given.verb == "score":
            print(f"F1 {detector.score(dataset):.3f}")
            return
        if given.force and os.path.isdir(given.output):
            raise FileExistsError(f"{given.output} is a folder; delete it first")
        _write(getattr(detector, given.verb)(dataset), given.output)
        print(f"wrote {given.output}")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
