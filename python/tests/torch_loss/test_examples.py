"""The example and the tutorial run, and do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat

PYTHON = Path(__file__).parents[2]


def test_the_example_beats_naive_labels():
    command = [sys.executable, str(PYTHON / "examples" / "torch_windows.py"), "--quick"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(GRU|CNN) +(\w+) +F1 ([\d.]+)", output, flags=re.MULTILINE)
    f1 = {(network, way): float(score) for network, way, score in found}
    assert len(f1) == 6, output
    for network in ("GRU", "CNN"):
        # 0.95 and 0.96 against 0 and 0 when this was written.
        assert f1[network, "unjitter"] > 0.8, output
        assert f1[network, "naive"] < 0.5, output
    delays = [float(delay) for delay in re.findall(r"; late by ([\d.]+) s", output)]
    # About 200 stamps with a spread of 0.5: a standard error of 0.04.
    assert len(delays) == 2, output
    assert all(abs(delay - 1.5) < 0.15 for delay in delays), output


def test_the_tutorial_runs_and_is_kept_without_outputs():
    notebook = nbformat.read(PYTHON / "tutorials" / "torch_gru.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    # Words, not the random ids that an editor makes: so that differences stay readable.
    assert all(re.fullmatch(r"[a-z-]+", cell.id) for cell in notebook.cells)

    nbclient.NotebookClient(notebook, timeout=120).execute()
    text = "".join(out.get("text", "") for cell in code for out in cell.outputs)
    f1 = float(re.search(r"F1 ([\d.]+)", text)[1])
    assert f1 > 0.9, text  # 0.98 when this was written
    plots = [out for cell in code for out in cell.outputs if "image/png" in out.get("data", {})]
    assert len(plots) == 3
