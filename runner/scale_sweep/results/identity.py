"""Identifies the tool: version, commit (in a checkout), digest of the code that makes figures, method."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from scale_sweep import __version__
from scale_sweep.judge import method

PACKAGE = Path(__file__).resolve().parents[1]
DIGITS = 16


def identity() -> dict[str, str | int]:
    """tool_version, commit, code (digest), method (number)."""
    return {"tool_version": __version__, "commit": commit(), "code": code_digest(), "method": method.METHOD}


def commit() -> str:
    """ "" outside of a checkout."""
    head = PACKAGE.parents[1] / ".git" / "HEAD"
    try:
        text = head.read_text(encoding="utf-8").strip()
        named = text.removeprefix("ref: ")
        return text if named == text else (head.parent / named).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def sources() -> Iterator[tuple[str, bytes]]:
    """The package's Python files by name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), path.read_bytes()


@functools.cache
def code_digest() -> str:
    """SHA-256 over names and contents of the package's Python files, cut to 16 digits."""
    digest = hashlib.sha256()
    for name, content in sources():
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:DIGITS]
