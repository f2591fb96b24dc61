"""Readers of load tools: stored outputs of real runs, arguments, rows of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from scale_sweep.loadgen.readers import progress_of, reader_of, result_of

OUTPUTS = Path(__file__).resolve().parents[1] / "data/readers"
# A file below tests/data/readers, whose first line is the command; what its report says.
RESULTS = {
    "pgbench/progress": {"rate": 3206.884765, "count": 12844, "seconds": 4, "ms": {"mean": 1.241}},
    "pgbench/no_progress": {"rate": 26799.592646, "count": 1000, "seconds": None, "ms": {"mean": 0.075}},
    "pgbench/errors": {"rate": 2613.316153, "count": 7845, "seconds": 3, "errors": 17099, "ms": {"mean": 0.443}},
    "pgbench/scripts": {"rate": 11234.067180, "count": 33698, "seconds": 3, "ms": {"mean": 0.176}},
    "pgbench/throttled": {"rate": 296.875964, "count": 890, "seconds": 3, "ms": {"mean": 0.195}},
    "pgbench/failed": None,
}
# The lines of progress in a file: how many, and t_s, rate, count and errors of the second.
PROGRESS = {
    "pgbench/progress": (4, 2.0, 3184.3, None, 0),
    "pgbench/no_progress": (0,),
    "pgbench/errors": (3, 2.0, 2590.8, None, 5765),
    "pgbench/throttled": (3, 2.0, 302.0, None, 0),
}


def stored(name):
    """The row of the command and its output."""
    command, _, output = (OUTPUTS / f"{name}.txt").read_text("utf-8").partition("\n")
    return reader_of(command.removeprefix("$ ").split()), output


def numbers(result):
    every = result | result.get("ms", {})
    return {name: value for name, value in every.items() if value is not None and name not in ("ms", "unit")}


@pytest.mark.parametrize("name", RESULTS)
def test_a_report_is_read(name):
    reader, output = stored(name)
    result, expected = result_of(reader, output), RESULTS[name]
    assert (result is None) == (expected is None)
    if expected:
        assert result.unit == expected.get("unit", reader.unit)
        assert numbers(vars(result)) == pytest.approx({"errors": 0} | numbers(expected), rel=1e-6)


@pytest.mark.parametrize("name", PROGRESS)
def test_progress_is_read(name):
    reader, output = stored(name)
    lines = [one for line in output.replace("\r", "\n").split("\n") if (one := progress_of(reader, line))]
    count, *second = PROGRESS[name]
    assert len(lines) == count
    assert count == 0 or [*vars(lines[1]).values()] == second
