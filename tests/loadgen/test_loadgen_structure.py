"""The C code keeps to its sizes, and each file says first why it exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "loadgen").rglob("*.[ch]"))
FILE_LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 100
DRIVER_MAY_NOT = re.compile(r"clock\.h|histogram\.h|counters\.h|pthread|events\.h|json\.h")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_keeps_to_its_size(path: Path):
    lines = path.read_text().splitlines()
    assert len(lines) <= FILE_LINES_MAX
    assert max(map(len, lines)) <= WIDTH_MAX
    assert lines[0].startswith("/* "), "the first lines say why the file exists"


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".c"], ids=name_of)
def test_a_function_keeps_to_its_size(path: Path):
    begun = None
    for number, line in enumerate(path.read_text().splitlines()):
        if line == "{":
            begun = number
        elif line == "}" and begun is not None:
            assert number - begun < FUNCTION_LINES_MAX, f"{path.name}:{begun}"
            begun = None


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "drivers"], ids=name_of)
def test_a_driver_knows_no_threads_clocks_or_histograms(path: Path):
    includes = [line for line in path.read_text().splitlines() if line.startswith("#include")]
    assert not [line for line in includes if DRIVER_MAY_NOT.search(line)]
