"""Tables in a terminal of 80 columns: no broken word, at most five columns, and words for all rows said once."""

import functools
import io
import itertools
import re
from pathlib import Path

import pytest

from scale_sweep.base.texts import alike
from scale_sweep.cli import console, views
from scale_sweep.cli.console import OwnConsole
from scale_sweep.model import VerdictKind
from scale_sweep.results.store.stored import Folder
from tests.unit.synthetic_run import mixed_run, synthetic_run


@pytest.fixture
def printed(monkeypatch):
    """Prints into a terminal of this width, and returns the lines. Rich takes a dumb one to have 80 columns."""
    monkeypatch.setenv("TERM", "xterm")

    def lines(width, show, *arguments):
        file = io.StringIO()
        monkeypatch.setattr(console, "out", OwnConsole(file=file, force_terminal=True, color_system=None, width=width))
        show(*arguments)
        return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()

    return lines


whole = functools.partial(views.show_run, is_whole=True)
NOWHERE = Folder(Path("/"))  # without a report
HEADERS = ["what", "found", "to do"]
ROWS = [
    ["Docker", "no engine answers", "apt-get install docker.io; start dockerd"],
    ["load generator", "/opt/scale/programs/scale-loadgen", "nothing to do"],
]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_word_of_a_table_breaks_and_no_line_is_too_long(printed, width):
    lines = printed(width, console.show_table, "Abilities of a machine", HEADERS, ROWS)
    assert set(" ".join(itertools.chain(*ROWS)).split()) <= set(" ".join(lines).split())
    assert all(len(line.rstrip()) <= width for line in lines)


def test_a_run_has_five_columns_in_80_and_all_in_200(printed, wording):
    narrow, wide = (printed(width, views.show_run, NOWHERE, mixed_run()) for width in (80, 200))
    headings = [line for line in [*narrow, *wide] if line.startswith("cores ")]
    few, all_columns = (re.split(r"  +", heading.strip()) for heading in headings)
    assert few == ["cores", "rows/s", "speedup", "efficiency", "verdicts"]
    assert {"server cores", "disk MB/s"} <= set(all_columns)
    assert "per CPU-second" not in all_columns  # of which no trial of this run has a value
    wording(*(line for line in [*narrow, *wide] if "wider terminal" in line))
    lines = printed(80, whole, NOWHERE, synthetic_run())
    end = next(at for at, line in enumerate(lines) if line.startswith("All rates: "))
    assert not any("short window" in line for line in lines[:end]), "a word of every row is said once, below"
    assert any("short window" in line for line in lines[end:])


def test_the_first_three_warnings_are_shown_and_the_number_of_the_others(printed):
    short, long = (printed(200, show, NOWHERE, mixed_run()) for show in (views.show_run, whole))
    some, every = ([line for line in lines if line.startswith("  but: ")] for lines in (short, long))
    assert len(some) == views.SHOWN < len(every)
    assert short[-1].split()[0] == str(len(every) - len(some)) and "--all" in short[-1]
    assert "--all" not in long[-1] and any(line.startswith("verdicts: ") for line in long)


@pytest.mark.parametrize("kind", [VerdictKind.UNSTEADY, VerdictKind.VALID])
def test_the_mark_of_a_level_that_does_not_count_is_explained_if_it_is_there(printed, kind):
    lines = printed(80, views.show_run, NOWHERE, synthetic_run((1,), 1, verdicts={(1.0, 1): kind}))
    assert any(line.startswith("†") for line in lines) is (kind is VerdictKind.UNSTEADY)


def test_reasons_that_differ_in_figures_are_one_line(wording):
    moved = [f"rate moved by {percent} % in {seconds} s" for percent, seconds in ((4.1, 10), (12.5, 10), (7, 9))]
    found = alike([moved[0], "no answer", *moved[1:]])
    assert [count for count, _ in found] == [3, 1]
    wording(*(words for _, words in found), alike(["1,200 rows", "900 rows", "1.2.3 rows"])[0][1])
