"""Files read with care, and written whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import secrets
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from .problems import bad_content

# Far more than any list of stamps; a packed file that grows beyond it is not one.
LARGEST_UNPACKED = 2**30

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Text:
    """A text file: `mark` is its byte order mark, if any, which is no part of `body`."""

    path: str
    mark: str
    body: str
    encoding: str

    def encode(self, body: str) -> bytes:
        """Another body as bytes of the same file."""
        try:
            return (self.mark + body).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ValueError(f"{self.path}: {error.reason} in {self.encoding}") from error


def is_packed(path: str) -> bool:
    """Whether the name says gzip."""
    return path.lower().endswith(".gz")


def load_bytes(path: str) -> bytes:
    """The content of a file, unpacked if its name ends in .gz."""
    if not is_packed(path):
        with open(path, "rb") as file:
            return file.read()
    try:
        with gzip.open(path, "rb") as packed:
            content = packed.read(LARGEST_UNPACKED + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: expected a whole gzip file: {error}") from error
    if len(content) > LARGEST_UNPACKED:
        raise ValueError(f"{path}: expected at most {LARGEST_UNPACKED} bytes once unpacked")
    return content


def load_text(path: str, encoding: str | None = None) -> Text:
    """A text file: UTF-8, or UTF-16 with a byte order mark, unless `encoding` says otherwise."""
    content = load_bytes(path)
    if encoding is None:
        encoding = encoding_by_mark(content)
    try:
        text = content.decode(encoding)
    except LookupError as error:
        raise ValueError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = content[error.start : error.start + 8].decode("latin-1")
        expected = f"text in {encoding} (another can be given as encoding=)"
        raise bad_content(path, f"line {line}", found, expected) from error
    at = text.find("\0")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise bad_content(path, f"line {line}", "\0", "text without NUL characters")
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return Text(path, mark, text[len(mark) :], encoding)


def encoding_by_mark(content: bytes) -> str:
    """The encoding by the byte order mark; these codecs keep the mark as a character."""
    if content.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if content.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    return "utf-8"


def write_whole(path: str, chunks: Iterable[bytes], overwrite: bool) -> None:
    """Write all chunks or leave everything as it was.

    The chunks go to a temporary file in the same folder, which takes the place of `path` at the
    end. So `chunks` may still be reading from `path`.
    """
    refuse_existing(path, overwrite)
    # Through a link, the file it points to is replaced, not the link.
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: there is no folder {folder}")
    temporary = os.path.join(folder, f".unjitter-{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            file.writelines(packed(chunks) if is_packed(path) else chunks)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        refuse_existing(path, overwrite)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def refuse_existing(path: str, overwrite: bool) -> None:
    """Raise if there is something at `path` that may not be replaced."""
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")


def packed(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """The chunks as one gzip member, without the time of day: same content, same bytes."""
    yield gzip.compress(b"".join(chunks), mtime=0)
