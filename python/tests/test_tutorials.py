"""Tutorials run from top to bottom, and are kept without what they print."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

TUTORIALS = sorted((Path(__file__).parent.parent / "tutorials").glob("*.ipynb"))


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_tutorials():
    assert [path.stem for path in TUTORIALS] == ["from_csv_to_detector", "torch_gru"]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_no_outputs_are_kept(path):
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, cell.id


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_cells_are_named(path):
    ids = [cell.id for cell in read(path).cells]
    assert len(set(ids)) == len(ids)
    # Names that people gave: programs write eight hexadecimal digits, new ones each time.
    assert all(not set(name) <= set("0123456789abcdef") for name in ids)


def results(notebook):
    """The last result of every cell as text, by the cell's name."""
    return {
        cell.id: output["data"].get("text/plain", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    }


def figures(notebook):
    """Names of the cells that drew something."""
    return [
        cell.id
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


def test_from_csv_to_detector_runs(tmp_path):
    (path,) = [path for path in TUTORIALS if path.stem == "from_csv_to_detector"]
    notebook = read(path)
    resources = {"metadata": {"path": tmp_path}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()

    assert figures(notebook) == ["delays", "alignment", "plot-learners", "precision-recall"]
    shown = results(notebook)
    means = dict(line.split() for line in shown["compare"].splitlines()[:3])
    # The claim of the text: nearly as good as labels aligned by hand, far better than naive.
    assert float(means["EventDetector"]) > float(means["Naive"]) + 0.2
    assert float(means["EventDetector"]) > float(means["HandAligned"]) - 0.1
    assert shown["save-and-load"] in ("True", "np.True_")
    difference = float(shown["onnx-export"].removeprefix("np.float64(").rstrip(")"))
    assert difference < 1e-12  # sums of 30 terms, in another order
    errors = [
        output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") == "stderr"
    ]
    assert errors == []
