"""What the site shows beyond the files of docs/.

Pages that live at the root of the project, because a reader of the sources looks for them there;
figures that the code of the pages drew when it was run; Rust's own documentation; any file that a
page links to; and mathematics, made HTML here so that the site needs no script and no network for
it.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "results.md": "experiments/RESULTS.md",
}
"""Pages that are not in docs/, and where they are."""

FOLDERS = (
    ("target/pages", "", {".svg", ".png", ".html"}),
    ("target/doc", "rust/", None),
    ("site/node_modules/katex/dist", "maths/", {".css", ".woff2"}),
    ("site/node_modules/iframe-worker/shim", "search/", {".js"}),
)
"""What was made elsewhere, where it goes, and with which suffixes, if not with all."""

SHIM = re.compile(r'https://[^"]*/iframe-worker/shim')
"""What a search needs where pages are files, and the theme would fetch."""

PROMPTS = re.compile(r"^```python(?=\n>>> )", re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|mod|attr):(?=<code>)")
LINK = re.compile(r"(\]\()([^)#\s]+)")
MATHS = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
IN_HEADING = re.compile(r"\\\(.*?\\\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds pages, figures and Rust's documentation."""
    for uri, source in ELSEWHERE.items():
        _add(files, config, uri, ROOT / source)
    for folder, below, suffixes in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and (suffixes is None or path.suffix in suffixes):
                _add(files, config, below + path.relative_to(ROOT / folder).as_posix(), path)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lets links to files outside of docs/ point to the site's copies; knows prompts by sight."""
    uri = page.file.src_uri
    here = posixpath.dirname(ELSEWHERE.get(uri, f"docs/{uri}"))

    def moved(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(here, link.group(2)))
        if not (ROOT / path).is_file():
            return link.group(0)
        to = _uri(path)
        if files.get_file_from_path(to) is None:
            _add(files, config, to, ROOT / path)
        return link.group(1) + posixpath.relpath(to, posixpath.dirname(uri) or ".")

    return PROMPTS.sub("```pycon", LINK.sub(moved, markdown))


def _uri(path: str) -> str:
    """Where the site has a file of the project."""
    for uri, source in ELSEWHERE.items():
        if source == path:
            return uri
    for folder, below in (("docs/", ""), ("experiments/results/", "results/")):
        if path.startswith(folder):
            return below + path.removeprefix(folder)
    return f"source/{path}"


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Makes the formulas of a page and of its table of contents HTML."""
    headings = [item for top in page.toc for item in _headings(top)]
    named = [latex for item in headings for latex in IN_HEADING.findall(item.title)]
    found = [html.unescape(latex.strip()) for _, latex in MATHS.findall(content)]
    formulas = [(latex[2:-2], latex.startswith(r"\[")) for latex in [*found, *named]]
    if not formulas:
        return ROLE.sub("", content)
    node = ["node", str(ROOT / "site/maths.mjs")]
    given = json.dumps(formulas)
    made = subprocess.run(node, input=given, capture_output=True, text=True, cwd=ROOT / "site")
    if made.returncode != 0:
        raise ValueError(f"{page.file.src_uri}: {made.stderr}")
    rendered = iter(json.loads(made.stdout))

    def shown(match: re.Match[str]) -> str:
        return f'<{match.group(1)} class="maths">{next(rendered)}</{match.group(1)}>'

    content = MATHS.sub(shown, content)
    for item in headings:
        item.title = IN_HEADING.sub(lambda _: next(rendered), item.title)
    return content


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Takes what the search needs from here."""
    return SHIM.sub(
        posixpath.relpath("search/index.js", posixpath.dirname(page.url) or "."), output
    )


def on_post_template(output_content: str, **_: Any) -> str:
    """The same, for pages at the root that are no documents."""
    return SHIM.sub("search/index.js", output_content)


def _headings(item: Any) -> list[Any]:
    return [item, *(below for child in item.children for below in _headings(child))]


def _add(files: Files, config: Any, uri: str, path: Path) -> None:
    files.append(File.generated(config, uri, abs_src_path=str(path)))
