"""The text of every shape of query in every database's language: none of them may change by moving code.

python -m tests.unit.test_query_texts      writes them anew; only for a change of a text that is meant
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.model import FILLS, Query
from scale_sweep.model.functions import PLAIN
from scale_sweep.server.targets import all_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.offenders import assert_none

GOLDEN = Path(__file__).parent / "golden" / "queries.json"
DATA = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "1M", "workload.tables": "20"}
BOUND, SPAN = "bound=9..11", "step=10m"
SHAPES = {
    "range": [
        [],
        ["devices=3", "columns=voltage"],
        ["devices=all"],
        ["limit=10"],
        ["tagged=location=Berlin"],
        ["devices=3", "limit=10", "order=voltage desc"],
    ],
    "point": [[], ["devices=3"]],
    "range_value": [
        [BOUND],
        [BOUND, "devices=2", "bound_column=phase"],
        [BOUND, "columns=current"],
        [BOUND, "side=below"],
        ["bound=9..11", "side=between", "columns=current"],
        ["bound=200", "bound_column=voltage", "where=phase<0.5,current>9.5"],
    ],
    "aggregate_range_value": [
        [BOUND],
        [BOUND, "devices=2"],
        *([BOUND, "side=below", f"function={name}"] for name in ("count", "min", "avg")),
        ["bound=9..11", "side=between", "function=max"],
        ["bound=9", "where=voltage<220.5"],
    ],
    "range_desc": [[], ["devices=3"]],
    "range_value_desc": [[BOUND]],
    "latest": [[], ["devices=3"], ["devices=all"], ["tagged=groupid=3"]],
    "aggregate": [
        *(
            [f"function={name}"]
            for name in (*PLAIN, "median", "p95", "stddev", "stddev_samp", "count_distinct", "rate")
        ),
        ["functions=count_distinct,p5", "columns=current,voltage"],
        ["functions=min,stddev_samp", "devices=3"],
        ["devices=3"],
        ["columns=current,phase", "function=max"],
        ["devices=all", "function=count"],
        ["devices=all", "each=device", "top=3", "function=max"],
        ["each=location", "columns=current,voltage"],
        ["each=location", "top=3"],
    ],
    "aggregate_value": [[BOUND], [BOUND, "function=max", "bound_column=voltage"]],
    "group_by_time": [
        [],
        [SPAN],
        [SPAN, "devices=3"],
        [SPAN, "devices=all", "each=device", "columns=current,phase"],
        [SPAN, "devices=3", "function=spread"],
        [SPAN, "each=groupid"],
        [SPAN, "functions=avg,max"],
        [SPAN, "function=p95"],
        [SPAN, "function=stddev"],
        *(["bucket=5s", "span=5m", f"fill={fill}"] for fill in FILLS),
        ["bucket=5s", "span=5m", "fill=linear", "devices=3", "functions=avg,min"],
        ["bucket=5s", "span=5m", "fill=previous", "each=groupid"],
        ["bucket=5s", "span=5m"],
    ],
    "group_by_time_desc": [[SPAN], *(["bucket=5s", "span=5m", f"fill={fill}"] for fill in FILLS)],
    "group_by_time_limit": [["bucket=1m"], ["devices=all", "function=max"]],
    "set": [[], ["of=intersect"], ["of=except", "columns=phase"]],
    "group_by_tag": [[], ["fraction=0.3", "function=sum"]],
    "aggregate_tag": [[], ["fraction=1"], ["fraction=0.3", "bucket=10m"]],
    "scan_tag": [[]],
}


def shapes():
    """Each query by the words that say it, with its data."""
    for kind, several in SHAPES.items():
        for given in several:
            work = resolve_sweep("cpu", {**DATA, "mix": kind, "operation": [f"{kind}.{one}" for one in given]}).work
            yield " ".join((kind, *given)), queries_of(work)[kind], work.data
            loose = replace(queries_of(work)[kind], is_loose=True)
            if loose.function and (loose.devices > 1 or loose.bound_column):
                more = ("phase",) if loose.bound_column else ()
                yield " ".join(("loose", kind, *given)), replace(loose, more_bounds=more), work.data
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


@pytest.fixture(scope="module")
def now():
    return texts()


def test_there_is_a_text_for_every_shape(now):
    assert set(now) == set(json.loads(GOLDEN.read_text()))


def test_the_texts_are_what_they_were(now):
    before = json.loads(GOLDEN.read_text())
    assert_none(f"{name}: {now.get(name)!r} was {text!r}" for name, text in before.items() if now.get(name) != text)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(texts(), indent=1) + "\n")
