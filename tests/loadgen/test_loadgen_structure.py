"""The C code keeps to its sizes, each file says first why it exists, and no files use each other in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "loadgen").rglob("*.[ch]"))
FILE_LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 1000, 60, 100
DRIVER_MAY_NOT = re.compile(r"clock\.h|histogram\.h|counters\.h|pthread|events\.h|json\.h")

FUNCTION = re.compile(r"^(?!static|typedef|extern|__attribute__)[a-z][\w *]*?\b(\w+)\([^;{]*\)\n\{", re.M)
DATA = re.compile(r"^(?!static|typedef|extern)[a-z][\w *]*?\b(\w+)(?:\[\w*\])* = ", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


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


def circle_of(sources: dict[str, str]) -> list[str]:
    """The files of one circle, [] for none: a file uses another one if it names what that one alone defines."""
    texts = {name: COMMENT.sub("", text) for name, text in sources.items()}
    homes = {
        defined: name for name, text in texts.items() for known in (FUNCTION, DATA) for defined in known.findall(text)
    }
    uses = {
        name: {homes[word] for word in set(re.findall(r"\w+", text)) & homes.keys() if homes[word] != name}
        for name, text in texts.items()
    }
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_files_use_each_other_in_a_circle():
    headers = {name_of(path): path.read_text() for path in FILES if path.suffix == ".h"}
    includes: dict[str, set[str]] = {}
    for name, text in headers.items():
        others = re.findall(r'^#include "(.*)"', text, re.M)
        includes[name] = {name_of((ROOT / name).parent.joinpath(other).resolve()) for other in others}
    TopologicalSorter(includes).prepare()  # raises CycleError
    assert circle_of({name_of(path): path.read_text() for path in FILES if path.suffix == ".c"}) == []


@pytest.mark.parametrize(
    ("second", "circle"),
    [
        ("int b(void)\n{\n    return 1;\n}\n", set()),
        ("int b(void)\n{\n    return a();\n}\n", {"a.c", "b.c"}),
        ("const int b = 1;\nint c(void)\n{\n    return a();\n}\n", {"a.c", "b.c"}),
        ("/* a */\nstatic int b(void)\n{\n    return 1;\n}\n", set()),
    ],
)
def test_a_circle_of_files_is_seen(second, circle):
    assert set(circle_of({"a.c": "int a(void)\n{\n    return b();\n}\n", "b.c": second})) == circle
