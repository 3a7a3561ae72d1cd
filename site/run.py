"""Runs the code in the pages, so that none can rot, and keeps the figures that it draws.

A page is a small world: its blocks run in order, in a folder of its own below the output, and what
one block makes the next one finds. Python blocks share their variables. Pages run side by side.

    python   with prompts: what it prints is compared, as by doctest; without: it must run
    console  commands after "$ ", with all that they print; a line "…" stands for any lines
    sh       must run; what it prints is not shown and so not compared

Rust blocks are run by rustdoc, other languages by nobody. A block under a comment
`<!-- not run: REASON -->` is left alone, one under `<!-- needs MODULE -->` where there is no such
module. Usage: run.py OUTPUT [PAGE…], by a Python that has unjitter, with the program on the PATH.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = {"python", "console", "sh"}
NOT_RUN = re.compile(r"<!-- (?:not run: \S[^>]*|needs (\w+) )-->\s*\Z")


@dataclass(frozen=True)
class Block:
    """A block of code of a page, and the line of the page at which it begins."""

    language: str
    code: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that are run, in order."""
    for found in FENCE.finditer(text):
        mark = NOT_RUN.search(text[: found.start()])
        if found.group(1) not in RUN:
            continue
        if mark is None or (mark.group(1) and importlib.util.find_spec(mark.group(1))):
            line = text.count("\n", 0, found.start()) + 1
            yield Block(found.group(1), found.group(2), line)


def run_python(block: Block, page: str, names: dict[str, Any]) -> str:
    """Runs a block with the names of the blocks before it; returns what is wrong."""
    out = io.StringIO()
    if ">>> " in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
        test.globs = names
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.FAIL_FAST)
        runner.run(test, out=out.write, clear_globs=False)
        return out.getvalue()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.code, page, "exec"), names)
    except Exception:
        return traceback.format_exc()
    return ""


def run_shell(code: str) -> tuple[int, str, str]:
    """Runs commands; returns their status, their output and their messages."""
    shell = ["bash", "-euo", "pipefail", "-c", code]
    ran = subprocess.run(shell, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; a line "…" stands for any lines."""
    pieces = [re.escape(piece) for piece in re.split(r"^…\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(pieces), printed) is not None


def run_console(block: Block) -> str:
    """Runs the commands of a session in a shell; returns what is wrong."""
    wrong = []
    for piece in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        lines = piece.splitlines(keepends=True)
        ends = next(i for i, line in enumerate(lines) if not line.endswith("\\\n")) + 1
        command, shown = "".join(lines[:ends]), "".join(lines[ends:])
        status, printed, messages = run_shell(command)
        if status != 0 or not is_shown(shown, printed):
            wrong.append(
                f"$ {command}status {status}, shown:\n{shown}printed:\n{printed}{messages}"
            )
    return "\n".join(wrong)


def run_block(block: Block, page: str, names: dict[str, Any]) -> str:
    """Runs a block in the language that it is in; returns what is wrong."""
    if block.language == "python":
        return run_python(block, page, names)
    if block.language == "console":
        return run_console(block)
    status, printed, messages = run_shell(block.code)
    return f"status {status}\n{printed}{messages}" if status != 0 else ""


def run_page(page: Path, folder: Path) -> tuple[str, float]:
    """Runs a page in a folder; returns what is wrong, and how long it took."""
    began = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(folder)
    # A warning that a page does not speak of is a defect of it.
    warnings.simplefilter("error")
    names: dict[str, Any] = {"__name__": "__main__"}
    where = page.relative_to(ROOT).as_posix()
    for block in blocks(page.read_text(encoding="utf-8")):
        wrong = run_block(block, where, names)
        if wrong:
            return f"{where}:{block.line}\n{wrong}", time.perf_counter() - began
    return "", time.perf_counter() - began


def folder_of(page: Path, output: Path) -> Path:
    """Where a page runs: its path below docs/ without the suffix, or its name."""
    docs = ROOT / "docs"
    within = page.relative_to(docs if page.is_relative_to(docs) else ROOT)
    return output / within.with_suffix("")


def main(output: Path, chosen: list[Path]) -> int:
    """Runs pages; returns 1 if something in them is wrong."""
    os.environ |= {"MPLBACKEND": "agg", "COLUMNS": "100"}
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in chosen or every if any(blocks(page.read_text(encoding="utf-8")))]
    with ProcessPoolExecutor(
        max_workers=min(4, os.cpu_count() or 1), max_tasks_per_child=1
    ) as pool:
        work = [(page, pool.submit(run_page, page, folder_of(page, output))) for page in pages]
        failures = 0
        for page, future in work:
            wrong, seconds = future.result()
            failures += bool(wrong)
            print(wrong or f"{seconds:6.1f} s  {page.relative_to(ROOT)}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), [Path(page).resolve() for page in sys.argv[2:]]))
