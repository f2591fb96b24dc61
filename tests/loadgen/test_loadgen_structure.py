"""The C code keeps to its sizes, and each file says first why it exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "loadgen").rglob("*.[ch]"))
FILE_LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 100
DRIVER_MAY_NOT = re.compile(r"clock\.h|histogram\.h|counters\.h|pthread|events\.h|json\.h")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_files_keep_to_their_size():
    assert_none(f"{name_of(path)}: {sentence}" for path in FILES for sentence in size_of(path))


def size_of(path: Path) -> Iterator[str]:
    lines = path.read_text().splitlines()
    if len(lines) > FILE_LINES_MAX:
        yield f"{len(lines)} lines"
    if max(map(len, lines)) > WIDTH_MAX:
        yield f"a line is longer than {WIDTH_MAX} characters"
    if not lines[0].startswith("/* "):
        yield "the first lines do not say why the file exists"


def test_functions_keep_to_their_size():
    assert_none(f"{name_of(path)}:{line}" for path in FILES if path.suffix == ".c" for line in long_functions(path))


def long_functions(path: Path) -> Iterator[int]:
    """The lines on which functions that are too long begin."""
    begun = None
    for number, line in enumerate(path.read_text().splitlines()):
        if line == "{":
            begun = number
        elif line == "}" and begun is not None:
            if number - begun >= FUNCTION_LINES_MAX:
                yield begun
            begun = None


def test_drivers_know_no_threads_clocks_or_histograms():
    drivers = [path for path in FILES if path.parent.name == "drivers"]
    includes = [(path, line) for path in drivers for line in path.read_text().splitlines() if line[:8] == "#include"]
    assert_none(f"{name_of(path)}: {line}" for path, line in includes if DRIVER_MAY_NOT.search(line))
