"""All texts that the prose check reads: pages, the changelog of the next release, messages and help texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.prose.messages import PACKAGE, messages, sources
from tools.prose.sentences import NAME, plain, sentences, split

ROOT = Path(__file__).resolve().parents[2]
# The output of another program, repeated word for word.
FOREIGN = ("taosbenchmark/", "iotbenchmark/")
# Programs as text: statements of a query language, shell and Python.
_PROGRAM = re.compile(
    r"\b(?:SELECT|INSERT|CREATE|DROP|ALTER|SHOW|WHERE|FROM|COPY|DELETE)\b|^\s*(?:select|import|set -|if \[)|[{};]\n"
    r"|\|> |=> |\|\| |\w\|\w|; do\b|\btrap '|; version=|\(\?:|\\\.|\.\*",
    re.MULTILINE,
)
_FLAG = re.compile(r"--[\w-]+|\b\w+ = ")


def texts() -> Iterator[tuple[str, str]]:
    """Place ("docs/fit.md:12") and text of each sentence."""
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for line, sentence in sentences(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}", sentence
    for line, sentence in sentences(unreleased((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))):
        yield f"CHANGELOG.md:{line}", sentence
    for path in sources():
        if not str(path.relative_to(PACKAGE)).startswith(FOREIGN):
            for line, text in messages(path):
                if not _PROGRAM.search(text):
                    place = f"{path.relative_to(ROOT)}:{line}"
                    for part in _FLAG.sub(f"{NAME} ", text).split("\n"):
                        yield from ((place, sentence) for sentence in split(plain(part)))


def unreleased(changelog: str) -> str:
    """The part of a changelog that is not released, with the lines in place."""
    return re.split(r"^## \d", changelog, maxsplit=1, flags=re.MULTILINE)[0]
