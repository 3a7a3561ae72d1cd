"""The runner of the pages notices what it is there to notice."""

import sys
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SITE))
import run  # noqa: E402


def wrong(page: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """What is wrong with a page of this text."""
    path = folder / "page.md"
    path.write_text(page, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(run, "ROOT", folder)
    told, _ = run.run_page(path, folder / "work")
    return told


@pytest.mark.parametrize(
    "page",
    [
        "```python\n>>> 1 + 1\n2\n\n```\n",
        "```python\nx = 3\n```\n\n```python\n>>> x\n3\n\n```\n",
        "```console\n$ echo a; echo b\na\nb\n```\n",
        "```console\n$ echo a; echo b; echo c\na\n…\nc\n```\n",
        "```console\n$ echo a \\\n    b\na b\n$ true\n```\n",
        "```sh\nfalse || true\n```\n",
        "<!-- not run: it fails -->\n```sh\nfalse\n```\n",
        "<!-- needs no_such_module -->\n```python\nimport no_such_module\n```\n",
        "```text\n>>> 1 + 1\n3\n```\n",
        "```python\nopen('made', 'w').close()\n```\n\n```sh\ntest -f made\n```\n",
    ],
)
def test_a_right_page_passes(page, monkeypatch, tmp_path):
    assert wrong(page, monkeypatch, tmp_path) == ""


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("```python\n>>> 1 + 1\n3\n\n```\n", 1),
        ("\n\n```python\nassert False\n```\n", 3),
        ("```python\nimport warnings\nwarnings.warn('odd')\n```\n", 1),
        ("```console\n$ echo a\nb\n```\n", 1),
        ("```console\n$ echo a\n```\n", 1),
        ("```console\n$ echo a; echo b\n…\na\n```\n", 1),
        ("```console\n$ false\n```\n", 1),
        ("```sh\nfalse\ntrue\n```\n", 1),
        ("```sh\nfalse | cat\n```\n", 1),
        ("<!-- needs sys -->\n```sh\nfalse\n```\n", 2),
        ("<!-- not run: -->\n```sh\nfalse\n```\n", 2),
    ],
)
def test_a_wrong_page_is_told_with_its_line(page, line, monkeypatch, tmp_path):
    assert wrong(page, monkeypatch, tmp_path).startswith(f"page.md:{line}\n")


def test_the_blocks_of_a_real_page_are_found():
    page = (SITE.parent / "docs/start/shell.md").read_text(encoding="utf-8")
    assert sum(block.language == "console" for block in run.blocks(page)) >= 5
