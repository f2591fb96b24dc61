"""Tables in a terminal of 80 columns: no broken word, at most five columns, and words for all rows said once. In the view of a
running sweep every trial stands in the row of its point, whatever its name begins or ends with."""

import functools
import io
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, ConsoleDimensions

from scale_sweep.base.texts import alike
from scale_sweep.cli import console, views
from scale_sweep.cli.console import OwnConsole
from scale_sweep.cli.console.live import OTHER_LINES, LinesView, finished_line, render
from scale_sweep.model.declared import Operation
from scale_sweep.model.events import IntervalSeen, PhaseEntered, TrialFinished, TrialStarted
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.results.store.stored import Folder
from scale_sweep.watch.live.state import LiveState, take
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.synthetic_run import mixed_run, synthetic_run
from tests.unit.test_exporter import begun, interval


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


def trials(*levels: float, replicates: int = 2, variants: tuple[str, ...] = ("rest", "stmt")) -> list[Trial]:
    """Methods of TDengine at each level; the first trial repeated at the end."""
    made = []
    for replicate in range(1, replicates + 1):
        for level in levels:
            for point in (f"cores-{level:g}-{method}" for method in variants):
                fields = {"point_id": point, "level": level, "replicate": replicate, "order": len(made)}
                made.append(make_trial(trial_id=f"{point}-r{replicate}", **fields))
    first = {"point_id": made[0].point_id, "level": made[0].level}
    return [*made, make_trial(trial_id=f"{made[0].point_id}-drift", role="drift_check", order=len(made), **first)]


def begun_with(planned: list[Trial], running: Trial, *events) -> LiveState:
    """The state after these events and the start of this trial."""
    plan = Plan(sweep=make_sweep(), trials=tuple(planned), confounds=(), notes=(), seconds_estimated=60.0)
    state = LiveState(run="r", plan=plan)
    started = TrialStarted(trial=running, position=1, total=len(planned), unix_s=1.0, monotonic_ns=1)
    for event in (*events, started):
        state = take(state, event)
    return state


def drawn(state: LiveState, now_ns: int = 2, width: int = 160, height: int = 40) -> str:
    console = Console(file=io.StringIO(), width=width, height=height)
    console.print(render(state, now_ns, ConsoleDimensions(width, height)))
    return console.file.getvalue()


def shown(planned: list[Trial], running: Trial, *events, height: int = 40) -> dict[str, str]:
    """What stands behind each point's name."""
    names = {trial.point_id for trial in planned}
    lines = [line.split() for line in drawn(begun_with(planned, running, *events), height=height).splitlines()]
    return {line[0]: " ".join(line[1:]) for line in lines if line and line[0] in names}


def test_every_trial_stands_in_the_row_of_its_point():
    planned = trials(1.0, 2.0)
    assert shown(planned, planned[-1]) == {
        "cores-1-rest": "· · drift check running",
        "cores-1-stmt": "· ·",
        "cores-2-rest": "· ·",
        "cores-2-stmt": "· ·",
    }
    planned = trials(1.0, replicates=11, variants=("rest",))
    tenth = next(t for t in planned if t.replicate == 10)
    assert shown(planned, tenth)["cores-1-rest"].split() == [*"·" * 9, "running", "·", "drift", "check", "·"]
    planned = [
        make_trial(trial_id=f"{p}-r1", point_id=p, level=level)
        for p, level in [("cores-1", 1.0), *((f"cores-{n}", float(n)) for n in range(2, 9)), ("cores-1-rest", 9.0)]
    ]
    rows = shown(planned, planned[-1], height=OTHER_LINES + 2)
    assert rows.get("cores-1-rest") == "running"
    planned = trials(*map(float, range(1, 13)))  # too many points: that of the running trial is among those shown
    for running in (planned[0], planned[9], planned[-1]):
        rows = shown(planned, running, height=OTHER_LINES + 3)
        assert len(rows) == 3 and "running" in rows[running.point_id]


def test_a_view_has_room_for_operations_and_says_what_a_window_could_not_see():
    result = make_result(rate=1e6)
    assert "quick  server" in finished_line("", result, 10)[0]
    long = replace(result, measurement=replace(result.measurement, window_s=45.0, commits=0))
    assert "buffered rate " in finished_line("", long, 10)[0]
    planned = trials(1.0)
    both = [TrialFinished(result=replace(result, trial=trial)) for trial in planned[:2]]
    for ended, rate in ((both[:1], ["1", "M", "quick"]), (both, ["1", "M"])):  # of both, the words are below, once
        assert shown(planned, planned[-1], *ended)["cores-1-rest"].split()[: len(rate) + 1] == [*rate, "VALID"]
    planned, height = trials(*map(float, range(1, 13))), 24
    names = tuple(f"op{at}" for at in range(10))
    work = replace(planned[0].work, operations=tuple(Operation(name=name, unit="requests") for name in names))
    planned = [replace(trial, work=work) for trial in planned]
    seen = replace(interval(1), operations=dict.fromkeys(names, 5))
    state = begun_with(planned, planned[0])
    for event in (
        PhaseEntered(trial_id=planned[0].trial_id, phase="measure", monotonic_ns=2),
        IntervalSeen(trial_id=planned[0].trial_id, interval=seen),
    ):
        state = take(state, event)
    lines = drawn(state, width=80, height=height).splitlines()
    assert {line.split()[0] for line in lines if line.strip()} >= set(names)
    assert len(lines) < height


@pytest.mark.parametrize("has_view", [True, False])
def test_without_a_view_the_line_of_a_trial_has_the_time_left(has_view):
    planned, said = trials(1.0, replicates=1, variants=("rest",)), []
    plan = Plan(sweep=make_sweep(), trials=tuple(planned), confounds=(), notes=(), seconds_estimated=60.0)
    view = LinesView(LiveState(run="r", plan=plan), lambda line, style: said.append(line), has_view=has_view)
    for at, trial in enumerate(planned, start=1):
        view(TrialStarted(trial=trial, position=at, total=len(planned), unix_s=1.0, monotonic_ns=1))
        view(TrialFinished(result=replace(make_result(), trial=trial)))
    assert [line.endswith(" left") for line in said] == [not has_view, False]


def test_a_search_shows_what_is_offered_and_the_rates_between_which_the_capacity_is(wording):
    state = begun(searches=True)
    left_out = tuple(replace(step, usable=False, why="other processes") for step in state.running.steps[:2])
    text = drawn(state, 6 * 10**9)
    assert {"500 of 4.2 k offered", "p99 4 ms"} <= set(re.split(" {2,}", text.replace("\n", "  ")))
    wording(*steps_of(text))
    for steps in ((), left_out):
        text = drawn(replace(state, running=replace(state.running, steps=steps)), 6 * 10**9)
        wording(*steps_of(text))
        assert "hold" not in text


def steps_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if "p99 < 20 ms" in line]
