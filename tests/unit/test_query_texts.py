"""The text of every shape of query in every database's language: none of them may change by moving code.

python -m tests.unit.test_query_texts      writes them anew; only for a change of a text that is meant
"""

import json
import re
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.model.questions import FILLS, PLAIN, Query
from scale_sweep.server.targets import all_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.offenders import assert_none

GOLDEN = Path(__file__).parent / "golden" / "queries.json"
DATA = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "1M", "workload.tables": "20"}
BOUND, SPAN, FINE = "bound=9..11", "step=10m", "bucket=5s span=5m"
SHAPES = {
    "range": [
        *("", "devices=3 columns=voltage", "devices=all", "limit=10", "tagged=location=Berlin"),
        "devices=3 limit=10 order=voltage desc",
    ],
    "point": ["", "devices=3"],
    "range_value": [
        *(BOUND, f"{BOUND} devices=2 bound_column=phase", f"{BOUND} columns=current", f"{BOUND} side=below"),
        "bound=9..11 side=between columns=current",
        *("bound=200 bound_column=voltage where=phase<0.5,current>9.5", "bound=9 where=voltage<220.5,voltage>9.5"),
    ],
    "aggregate_range_value": [
        *(BOUND, f"{BOUND} devices=2"),
        *(f"{BOUND} side=below function={name}" for name in ("count", "min", "avg")),
        *("bound=9..11 side=between function=max", "bound=9 where=voltage<220.5"),
    ],
    "range_desc": ["", "devices=3"],
    "range_value_desc": [BOUND],
    "latest": ["", "devices=3", "devices=all", "tagged=groupid=3"],
    "aggregate": [
        *(f"function={name}" for name in (*PLAIN, "median", "p95", "stddev", "stddev_samp", "count_distinct", "rate")),
        *("functions=count_distinct,p5 columns=current,voltage", "functions=min,stddev_samp devices=3", "devices=3"),
        *("columns=current,phase function=max", "devices=all function=count"),
        *("devices=all each=device top=3 function=max", "each=location columns=current,voltage", "each=location top=3"),
    ],
    "aggregate_value": [BOUND, f"{BOUND} function=max bound_column=voltage"],
    "group_by_time": [
        *("", SPAN, f"{SPAN} devices=3", f"{SPAN} devices=all each=device columns=current,phase"),
        *(f"{SPAN} devices=3 function=spread", f"{SPAN} each=groupid", f"{SPAN} functions=avg,max"),
        *(f"{SPAN} function=p95", f"{SPAN} function=stddev", FINE, *(f"{FINE} fill={fill}" for fill in FILLS)),
        *(f"{FINE} fill=linear devices=3 functions=avg,min", f"{FINE} fill=previous each=groupid"),
    ],
    "group_by_time_desc": [SPAN, *(f"{FINE} fill={fill}" for fill in FILLS)],
    "group_by_time_limit": ["bucket=1m", "devices=all function=max"],
    "set": ["", "of=intersect", "of=except columns=phase"],
    "group_by_tag": ["", "fraction=0.3 function=sum"],
    "aggregate_tag": ["", "fraction=1", "fraction=0.3", "fraction=0.3 bucket=10m"],
    "scan_tag": [""],
}


def shapes():
    """Each query by the words that say it, with its data."""
    for kind, given in ((kind, given) for kind, several in SHAPES.items() for given in several):
        operation = [f"{kind}.{one}" for one in re.split(r" (?=\w+=)", given) if one]
        work = resolve_sweep("cpu", {**DATA, "mix": kind, "operation": operation}).work
        query = queries_of(work)[kind]
        yield f"{kind} {given}".strip(), query, work.data
        if query.function and (query.devices > 1 or query.bound_column):
            more = ("phase",) if query.bound_column else ()
            yield f"loose {kind} {given}", replace(query, is_loose=True, more_bounds=more), work.data
    for function in ("max_time", "min_time"):
        yield f"IoT-benchmark's {function}", Query(columns=("current",), function=function, is_loose=True), work.data
    devops = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "tsbs-devops"}).work
    for name, query in queries_of(devops).items():
        yield name, query, devops.data


def text_of(facts, query, data):
    """ "" if the database cannot be asked; a function of IoT-benchmark is not a word of every language."""
    try:
        return facts.rendered(query, data, facts.methods[0])
    except (CannotAsk, KeyError):
        return ""


def texts():
    """By shape and target."""
    found = {}
    for name, query, data in shapes():
        each = {facts.name: text_of(facts, query, data) for facts in all_facts()}
        found[name] = {target: text for target, text in each.items() if text}
    return found


def test_the_texts_are_what_they_were():
    now, before = texts(), json.loads(GOLDEN.read_text())
    assert set(now) == set(before)
    assert_none(f"{name}: {now[name]!r} was {text!r}" for name, text in before.items() if now[name] != text)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(texts(), indent=1) + "\n")
