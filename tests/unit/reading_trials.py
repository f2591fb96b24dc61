"""A trial that asks every kind of operation, small enough for a test, and what its events say of the answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.events import ArtifactMade, Event
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.model.questions import PERCENTILE, SEVERAL_FUNCTIONS
from scale_sweep.server.targets import load_facts
from tests.unit.trial_orders import result_of, trial_order

KINDS = tuple(
    "point range range_value range_desc range_value_desc latest aggregate aggregate_value aggregate_range_value "
    "group_by_time group_by_time_desc set".split()
)
GROUPED = ("group_by_tag", "aggregate_tag", "scan_tag")
FUNCTIONS = {"aggregate_value": "count", "aggregate_range_value": "sum"}
FUNCTIONS |= {"group_by_time": "max", "group_by_time_desc": "min"}
MANY = ("range_desc", "group_by_time", "latest")
MORE = ("spread", "first", "last")
SETS = ("intersect", "except")
BOUND = ("range_value", "range_value_desc", "aggregate_value", "aggregate_range_value")

WRONG = {VerdictKind[name] for name in ("WRONG_ANSWER", "ERRORS", "ABORTED", "LOST_ROWS", "WRONG_ROWS")}


def grouped_order(folder: Path, target: str, *, sets: bool = True, fraction: str = "0.4", **flags: str) -> TrialOrder:
    """Of every kind that asks for groups of devices, with a part of them and with all; and of the sets but union."""
    operations = [f"group_by_tag.fraction={fraction}", "every.kind=group_by_tag", "every.function=max"]
    operations += ["aggregate_tag.function=count", "some.kind=aggregate_tag", f"some.fraction={fraction}"]
    operations += ["some.bucket=10m"]
    operations += [f"{name}.{said}" for name in (SETS if sets else ()) for said in ("kind=set", f"of={name}")]
    mix = ",".join((*GROUPED, "every", "some", *(SETS if sets else ())))
    return reading_order(folder, target, mix, operation=operations, **flags)


def reading_order(
    folder: Path, target: str, mix: str = "", *, alone: Collection[str] = (), also: Iterable[str] = (), **flags: str
) -> TrialOrder:
    """Of every kind, three of them on several devices, and an aggregate of every function; or of the mix. alone: of the
    three, those on one device. also: more parameters."""
    operations = [f"{name}.bound=9..11" for name in BOUND]
    operations += [f"{name}.devices=3" for name in MANY if name not in alone]
    operations += [f"{name}.function={function}" for name, function in FUNCTIONS.items()]
    for name in MORE:
        operations += [f"{name}.kind=aggregate", f"{name}.function={name}", f"{name}.column=voltage"]
    whole = {"mix": mix or ",".join((*KINDS, *MORE, "write=2")), "operation": [*operations, *also]}
    whole |= {"preload__rows": "20k", "workload__step_ms": "10000", "knobs__connections": "2", "load__drain": "10s"}
    return trial_order(folder, target, **{**whole, **flags})


def functions_order(
    folder: Path, target: str, *, column: str = "current", without: Collection[str] = (), **flags: str
) -> TrialOrder:
    """Of each further function that the target has, over a range and of stretches of time (NAME_each); where it can,
    of several at once. column: of which stretches of time are asked. without: operations that it cannot."""
    facts = load_facts(target)
    known = ["p95" if name == PERCENTILE else name for name in facts.functions]
    said = {name: ["kind=aggregate", f"function={name}", "column=voltage"] for name in known}
    said |= {
        f"{name}_each": ["kind=group_by_time", "step=10m", f"function={name}", f"column={column}"] for name in known
    }
    if SEVERAL_FUNCTIONS in facts.can_query:
        said["several"] = ["kind=aggregate", f"functions=avg,{known[0]},max", "column=current"]
        said["several_each"] = ["kind=group_by_time", "step=10m", "functions=min,count,spread", "column=voltage"]
    asked = {name: lines for name, lines in said.items() if name not in without}
    operations = [f"{name}.{line}" for name, lines in asked.items() for line in lines]
    return reading_order(folder, target, ",".join(asked), operation=operations, **flags)


SHAPES = {  # a ~ is a space within a value
    "below": "kind=range_value bound=9..11 side=below",
    "between": "kind=aggregate_range_value bound=9..10.5 side=between function=sum",
    "several": "kind=range_value bound=200 bound_column=voltage where=phase<0.5,current>9.5",
    "newest": "kind=range_desc limit=7 devices=3",
    "largest": "kind=range order=voltage~desc limit=25 devices=3",
    "smallest": "kind=range_value bound=9 order=voltage limit=7",
    "each_device": "kind=aggregate each=device devices=all",
    "each_tag": "kind=aggregate each=location",
    "tag_and_time": "kind=group_by_time each=groupid step=10m function=max",
    "tagged": "kind=range tagged=groupid=3",
    "tagged_latest": "kind=latest tagged=groupid=4",
    "tagged_groups": "kind=group_by_time tagged=groupid=2 each=location step=10m function=count",
    "top_devices": "kind=aggregate each=device devices=all top=3 column=voltage function=max",
    "top_tags": "kind=aggregate each=groupid top=2",
}


def shapes_order(
    folder: Path, target: str, *, without: Collection[str] = (), more: Iterable[str] = (), **flags: Any
) -> TrialOrder:
    """Of the shapes beside the kinds themselves: bounds, orders and groups. without: those that it cannot be asked.
    more: kinds that are asked too."""
    asked = {name: text for name, text in SHAPES.items() if name not in without}
    operations = [f"{name}.{one.replace('~', ' ')}" for name, text in asked.items() for one in text.split()]
    return reading_order(folder, target, ",".join((*asked, *more)), operation=operations, **flags)


FILLED = {  # of rows that are 10 s apart
    "null": "kind=group_by_time fill=null",
    "previous": "kind=group_by_time fill=previous column=voltage function=max",
    "linear": "kind=group_by_time fill=linear",
    "null_newest": "kind=group_by_time_desc fill=null column=voltage function=sum",
    "previous_newest": "kind=group_by_time_desc fill=previous",
    "linear_newest": "kind=group_by_time_desc fill=linear",
    "null_several": "kind=group_by_time fill=null functions=avg,max,spread columns=current,voltage",
    "linear_several": "kind=group_by_time fill=linear functions=avg,min columns=current,phase",
    "null_together": "kind=group_by_time fill=null devices=3",
    "linear_together": "kind=group_by_time fill=linear devices=3",
    "null_devices": "kind=group_by_time fill=null each=device devices=3",
    "previous_devices": "kind=group_by_time fill=previous each=device devices=all",
    "linear_tags": "kind=group_by_time fill=linear each=groupid",
    "null_uneven": "kind=group_by_time fill=null bucket=7s",
    "previous_uneven": "kind=group_by_time fill=previous bucket=7s",
    "linear_uneven": "kind=group_by_time fill=linear bucket=3s",
    "previous_wide": "kind=group_by_time fill=previous bucket=20s step=20s",
    "not_filled": "kind=group_by_time function=spread",
    "not_filled_newest": "kind=group_by_time_desc function=first",
}


def filled_order(folder: Path, target: str, asked: Collection[str], **flags: Any) -> TrialOrder:
    """Of those of FILLED that are asked: stretches of time, most of them shorter than the time between two rows."""
    operations = [f"{name}.{one}" for name in asked for one in ("bucket=5s", "span=5m", *FILLED[name].split())]
    return reading_order(folder, target, ",".join(asked), operation=operations, **flags)


def answers_of(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """What facts.json says of the answers, by operation."""
    facts = next(json.loads(e.text) for e in events if isinstance(e, ArtifactMade) and e.name == "facts.json")
    return {one["operation"]: one for one in facts["answers"]}


def none_wrong(events: Iterable[Event], asked: Iterable[str] | None = None) -> tuple[TrialResult, dict[str, Any]]:
    """Some answers of each operation were compared row by row, and none is wrong: rows of equal values have any order,
    so those at the end of an answer may be others. The result and the answers."""
    told = list(events)
    result, answers = result_of(told), answers_of(told)
    assert result.verdict.kind not in WRONG, result.verdict.reasons
    assert asked is None or set(answers) == set(asked)
    assert all(one["whole"] and not one["wrong"] for one in answers.values()), answers
    return result, answers


def checked(events: Iterable[Event]) -> tuple[TrialResult, dict[str, Any]]:
    """The result and the answers: 20 of each operation were compared row by row, and all are right."""
    result, answers = none_wrong(events)
    assert {one["whole"] for one in answers.values()} == {20}, answers
    assert sum(one["counted"] for one in answers.values()) > 0
    return result, answers
