"""The view of a running sweep: every trial stands in the row of its point, whatever its name begins or ends with."""

import io
from dataclasses import replace

import pytest
from rich.console import Console, ConsoleDimensions

from scale_sweep.cli.console.live import OTHER_LINES, LinesView, finished_line, render
from scale_sweep.model import (
    IntervalSeen,
    Operation,
    PhaseEntered,
    Plan,
    Trial,
    TrialFinished,
    TrialResult,
    TrialStarted,
)
from scale_sweep.watch.live import LiveState, take
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.test_exporter import begun, interval


def trials(*levels: float, replicates: int = 2, variants: tuple[str, ...] = ("rest", "stmt")) -> list[Trial]:
    """Methods of TDengine at each level; the first trial repeated at the end."""
    made = []
    for replicate in range(1, replicates + 1):
        for level in levels:
            for method in variants:
                point = f"cores-{level:g}-{method}"
                made.append(
                    make_trial(
                        trial_id=f"{point}-r{replicate}",
                        point_id=point,
                        level=level,
                        replicate=replicate,
                        order=len(made),
                    )
                )
    first = made[0]
    drift_check = make_trial(
        trial_id=f"{first.point_id}-drift",
        point_id=first.point_id,
        level=first.level,
        role="drift_check",
        order=len(made),
    )
    return [*made, drift_check]


def shown(
    planned: list[Trial], running: Trial, height: int = 40, ended: tuple[TrialResult, ...] = ()
) -> dict[str, str]:
    """What stands behind each point's name."""
    plan = Plan(sweep=make_sweep(), trials=tuple(planned), confounds=(), notes=(), seconds_estimated=60.0)
    started = TrialStarted(trial=running, position=1, total=len(planned), unix_s=1.0, monotonic_ns=1)
    state = LiveState(run="r", plan=plan)
    for event in (*(TrialFinished(result=result) for result in ended), started):
        state = take(state, event)
    console = Console(file=io.StringIO(), width=160, height=height)
    console.print(render(state, 2, ConsoleDimensions(160, height)))
    names = {trial.point_id for trial in planned}
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    return {line[0]: " ".join(line[1:]) for line in lines if line and line[0] in names}


def test_the_anchor_stands_last_in_the_row_of_its_point():
    planned = trials(1.0, 2.0)
    assert shown(planned, planned[-1]) == {
        "cores-1-rest": "· · drift check running",
        "cores-1-stmt": "· ·",
        "cores-2-rest": "· ·",
        "cores-2-stmt": "· ·",
    }


def test_more_than_nine_replicates_stand_in_their_order():
    planned = trials(1.0, replicates=11, variants=("rest",))
    tenth = next(t for t in planned if t.replicate == 10)
    assert shown(planned, tenth)["cores-1-rest"].split() == [*"·" * 9, "running", "·", "drift", "check", "·"]


@pytest.mark.parametrize("at", [0, 9, -1])
def test_where_there_are_too_many_points_that_of_the_running_trial_is_among_those_shown(at):
    planned = trials(*map(float, range(1, 13)))
    running = planned[at]
    rows = shown(planned, running, height=OTHER_LINES + 3)
    assert len(rows) == 3
    assert "running" in rows[running.point_id]


def test_a_point_whose_name_begins_like_anothers_is_not_taken_for_it():
    planned = [
        make_trial(trial_id=f"{p}-r1", point_id=p, level=level)
        for p, level in [("cores-1", 1.0), *((f"cores-{n}", float(n)) for n in range(2, 9)), ("cores-1-rest", 9.0)]
    ]
    rows = shown(planned, planned[-1], height=OTHER_LINES + 2)
    assert rows.get("cores-1-rest") == "running"


def test_a_finished_trial_says_what_its_window_could_not_see():
    result = make_result(rate=1e6)
    assert "rows/s quick  server" in finished_line("", result, 10)[0]
    long = replace(result, measurement=replace(result.measurement, window_s=45.0, commits=0))
    assert "rows/s buffered rate  server" in finished_line("", long, 10)[0]
    planned = trials(1.0)
    done = replace(result, trial=planned[0])
    assert shown(planned, planned[-1], ended=(done,))["cores-1-rest"].startswith("1 M quick VALID")
    both = tuple(replace(result, trial=trial) for trial in planned[:2])
    assert shown(planned, planned[-1], ended=both)["cores-1-rest"].startswith("1 M VALID")  # the words are below, once


@pytest.mark.parametrize("has_view", [True, False])
def test_without_a_view_the_line_of_a_trial_has_the_time_left(has_view):
    planned, said = trials(1.0, replicates=1, variants=("rest",)), []
    plan = Plan(sweep=make_sweep(), trials=tuple(planned), confounds=(), notes=(), seconds_estimated=60.0)
    view = LinesView(LiveState(run="r", plan=plan), lambda line, style: said.append(line), has_view=has_view)
    for at, trial in enumerate(planned, start=1):
        view(TrialStarted(trial=trial, position=at, total=len(planned), unix_s=1.0, monotonic_ns=1))
        view(TrialFinished(result=replace(make_result(), trial=trial)))
    assert [line.endswith(" left") for line in said] == [not has_view, False]


def test_the_operations_of_a_mix_leave_the_view_in_the_window():
    """The plan gives its room to them: a line that does not fit would scroll, twice a second."""
    planned, height = trials(*map(float, range(1, 13))), 24
    names = tuple(f"op{at}" for at in range(10))
    work = replace(planned[0].work, operations=tuple(Operation(name=name, unit="requests") for name in names))
    planned = [replace(trial, work=work) for trial in planned]
    state = LiveState(
        run="r",
        plan=Plan(sweep=make_sweep(), trials=tuple(planned), confounds=(), notes=(), seconds_estimated=60.0),
    )
    name = planned[0].trial_id
    seen = replace(interval(1), operations=dict.fromkeys(names, 5))
    for event in (
        TrialStarted(trial=planned[0], position=1, total=len(planned), unix_s=1.0, monotonic_ns=1),
        PhaseEntered(trial_id=name, phase="measure", monotonic_ns=2),
        IntervalSeen(trial_id=name, interval=seen),
    ):
        state = take(state, event)
    console = Console(file=io.StringIO(), width=80, height=height)
    console.print(render(state, 2, ConsoleDimensions(80, height)))
    lines = console.file.getvalue().splitlines()
    assert all(any(line.split()[:1] == [one] for line in lines) for one in names)
    assert len(lines) < height


def test_a_search_shows_what_is_offered_and_the_rates_between_which_the_capacity_is():
    console = Console(file=io.StringIO(), width=160, height=40)
    console.print(render(begun(searches=True), 6 * 10**9, ConsoleDimensions(160, 40)))
    text = console.file.getvalue()
    assert "500 of 4.2 k offered" in " ".join(text.split())
    assert "step 5   p99 < 20 ms, errors < 1 %   holds at 4 k rows/s   does not hold at 4.5 k rows/s" in text
    assert "p99 4.0 ms" in text


def test_a_search_without_a_usable_step_claims_nothing():
    state = begun(searches=True)
    left_out = [replace(step, usable=False, why="other processes") for step in state.running.steps[:2]]
    console = Console(file=io.StringIO(), width=160, height=40)
    for steps, words in (((), "step 1   p99 < 20 ms, errors < 1 %"), (tuple(left_out), "%   2 steps left out")):
        running = replace(state.running, steps=steps)
        console.print(render(replace(state, running=running), 6 * 10**9, ConsoleDimensions(160, 40)))
        text = console.file.getvalue()
        assert words in text and "hold" not in text
