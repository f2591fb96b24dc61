"""One diagnosis: verdict and named bottleneck agree on every axis, for any evidence; each threshold stands once."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scale_sweep.experiment.axes import AXES, load_axis
from scale_sweep.experiment.axes import axis as axis_facts
from scale_sweep.judge.verdict.bottleneck import EXTERNAL, bottleneck_of, in_order
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, Integrity, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules import RULES
from scale_sweep.model.measured import BottleneckKind, Measurement, Standing, VerdictKind
from scale_sweep.model.resources import Placement
from scale_sweep.model.samples import DiskFigures
from scale_sweep.report.bottlenecks import NAMES
from tests.offenders import assert_none
from tests.unit.evidences import evidence_of
from tests.unit.factories import make_trial

VERDICT = Path(__file__).resolve().parents[2] / "runner/scale_sweep/judge/verdict"
CORES, DISKS, CLIENTS = load_axis("cores"), load_axis("disks"), load_axis("clients")
EVERY_AXIS = list(map(load_axis, AXES.names()))
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)


def agree(verdict: VerdictKind, limit: BottleneckKind, axis) -> bool:
    """The pairs that may stand side by side."""
    standing = axis.standings[limit].standing
    own, external = standing is Standing.OWN, standing is Standing.EXTERNAL
    named = {
        BottleneckKind.GENERATOR_CEILING,
        BottleneckKind.GENERATOR_CPU,
        BottleneckKind.THROTTLING,
        BottleneckKind.OFFERED_RATE,
    }
    stands = standing is Standing.SWEPT or limit is BottleneckKind.OFFERED_RATE or (own and axis.own_verdict == "VALID")
    return {
        VerdictKind.LOST_ROWS: True,
        VerdictKind.ERRORS: True,
        VerdictKind.ABORTED: False,
        VerdictKind.VALID: stands,
        VerdictKind.UNSTEADY: stands and axis.must_be_steady,
        VerdictKind.GENERATOR_BOUND: limit in (BottleneckKind.GENERATOR_CEILING, BottleneckKind.GENERATOR_CPU),
        VerdictKind.THROTTLED: limit is BottleneckKind.THROTTLING,
        VerdictKind.OFFERED_NOT_MET: limit is not BottleneckKind.OFFERED_RATE,
        VerdictKind.RESOURCE_NOT_SATURATED: (external and limit not in named) or (own and axis.own_verdict != "VALID"),
    }[verdict]


def maybe(strategy):
    return st.none() | strategy


percents = st.sampled_from([0.0, 5.0, 49.0, 79.0, 80.0, 89.0, 90.0, 99.0, 149.0, 151.0])
shares = st.sampled_from([0.0, 0.005, 0.01, 0.011, 0.04, 0.06, 0.5, 0.79, 0.8, 0.85, 0.9, 0.97, 1.0])
figures = st.builds(
    DiskFigures, write_mb_per_s=maybe(percents), used_percent=maybe(percents), busy_percent=maybe(percents)
)


@st.composite
def evidences(draw, whole=True):
    cores = draw(st.sampled_from([0.5, 1.0, 2.0, 4.0]))
    prepared = draw(st.integers(0, 3))
    names = [f"d{n}" for n in range(1, prepared + 2)]
    clients = draw(st.integers(1, 3))
    what = TrialResources(
        cores=cores,
        quota=draw(st.booleans()),
        generator_cpus=clients,
        threads=draw(st.integers(1, 8)),
        shared_cpus=tuple(range(draw(st.integers(0, clients)))),
        ceiling_per_s=draw(maybe(st.just(1e6))),
        offered_per_s=draw(maybe(st.just(9e5))),
        prepared_disks=prepared,
        disk_ceilings_mb_per_s=draw(st.dictionaries(st.sampled_from(names), st.just(100.0))),
    )
    use = ResourceUse(
        seconds=10.0,
        rate_per_s=draw(st.sampled_from([1e5, 7.9e5, 8.1e5, 8.83e5, 9e5])),
        server_cpu_cores=draw(maybe(shares.map(lambda share: share * cores))),
        generator_cpu_cores=draw(maybe(shares.map(lambda share: share * clients))),
        other_cpu_cores=draw(maybe(shares)),
        stolen_cpu_cores=draw(maybe(shares)),
        throttled=draw(maybe(shares)),
        hot_thread=draw(maybe(st.tuples(st.just("writer"), shares))),
        disk_busy_percent=draw(st.dictionaries(st.sampled_from(names), percents)),
        disk_mb_per_s=draw(st.dictionaries(st.sampled_from(names), percents)),
        io_waiting_percent=draw(maybe(percents)),
        memory_waiting_percent=draw(maybe(percents)),
        in_flight=draw(maybe(shares)),
        workers_busy=draw(maybe(shares)),
        load_disks=draw(st.dictionaries(st.sampled_from(names), figures)) if whole and prepared else None,
    )
    flaw = draw(st.sampled_from(["", "", "", "", "", "", "", "no rows", "lost", "log", "no window"]))
    m = Measurement(
        rows=0 if flaw == "no rows" else 9,
        rows_per_s=use.rate_per_s,
        window_s=use.seconds,
        rows_acked=9,
        rows_counted=8 if flaw == "lost" else 9,
        disks=use.load_disks or {},
        rate_drift_percent=draw(maybe(percents)),
        rate_cv_percent=draw(maybe(percents)),
    )
    wrong = Integrity(suspicious=("commit failed",) if flaw == "log" else ())
    window = use if flaw != "no window" else None
    return Evidence(resources=what, measurement=m, window=window, seconds=(use,) * 3 if window else (), integrity=wrong)


@SETTINGS
@given(evidence=evidences())
def test_verdict_and_bottleneck_agree_whatever_was_measured(evidence):
    for axis in EVERY_AXIS:
        verdict = diagnose(evidence, axis)
        if verdict.bottleneck is None:
            assert evidence.window is None
            assert verdict.kind in (VerdictKind.ERRORS, VerdictKind.LOST_ROWS)
        else:
            assert agree(verdict.kind, verdict.bottleneck.kind, axis), (axis.name, verdict)
        assert verdict.reasons or verdict.kind is VerdictKind.VALID
    for rule in RULES:
        found = rule.explain(evidence.window, evidence.resources) if evidence.window else None
        assert found is None or found.kind is rule.names


@SETTINGS
@given(evidence=evidences(whole=False))
def test_the_seconds_are_judged_by_the_rules_of_the_window(evidence):
    for axis in EVERY_AXIS:
        limit = diagnose(evidence, axis).bottleneck
        assert limit is None or limit.shares == {limit.kind.value: 100.0}, axis.name


@SETTINGS
@given(evidence=evidences())
def test_a_number_that_stands_had_full_cores_or_disks_or_got_what_was_offered(evidence):
    """From the figures, not from the rules."""
    use, what = evidence.window, evidence.resources
    if use is None:
        return
    stands = [axis for axis in (CORES, DISKS) if diagnose(evidence, axis).kind is VerdictKind.VALID]
    if CORES in stands and what.offered_per_s:
        assert use.rate_per_s >= 0.98 * what.offered_per_s
    elif CORES in stands:
        together = (use.server_cpu_cores or 0) + (use.generator_cpu_cores or 0) * len(
            what.shared_cpus
        ) / what.generator_cpus
        assert together >= 0.9 * what.cores - 1e-9
        assert use.server_cpu_cores >= (0.9 - (0.15 if what.shared_cpus else 0)) * what.cores - 1e-9
        assert what.quota or (use.throttled or 0) <= 0.01
        assert not what.ceiling_per_s or use.rate_per_s <= 0.8 * what.ceiling_per_s
    if DISKS in stands and what.prepared_disks and not what.offered_per_s:
        assert use.load_disks
        for disk in use.load_disks.values():
            assert disk.busy_percent >= 90 if disk.used_percent is None else disk.used_percent >= 80
        assert what.quota or (use.throttled or 0) <= 0.01


@pytest.mark.parametrize("axis", EVERY_AXIS, ids=lambda axis: axis.name)
def test_every_kind_has_a_standing_a_rule_a_verdict_and_a_name(axis):
    assert set(axis.standings) == set(EXTERNAL) == set(NAMES) == {rule.names for rule in RULES} == set(BottleneckKind)
    assert len(in_order(axis)) <= len(RULES)


def test_a_kind_that_nobody_considered_has_no_standing(monkeypatch):
    """So that a new kind fails the test above, and does not count as EXTERNAL in silence."""
    monkeypatch.setattr(axis_facts, "_CONSIDERED", axis_facts._CONSIDERED - {"MEMORY"})
    assert set(BottleneckKind) - set(axis_facts.standings(swept=(), own=())) == {BottleneckKind.MEMORY}


def test_every_kind_has_a_remedy_in_its_rules_and_on_the_page():
    calls = [
        node
        for path in (VERDICT / "rules").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Explanation"
    ]
    given = [{one.arg: ast.unparse(one.value) for one in call.keywords} for call in calls]
    bare = {kinds["kind"].removeprefix("BottleneckKind.") for kinds in given if not kinds.get("remedy")}
    assert bare == {"UNKNOWN"}
    page = (VERDICT.parents[3] / "docs/verdicts.md").read_text()
    rows = re.findall(r"^\| `([A-Z_]+)` \| [^|]+ \|([^|]*)\|[^|]+\|$", page, flags=re.MULTILINE)
    told = {kind: remedy.strip() for kind, remedy in rows if kind in set(BottleneckKind)}
    assert {kind for kind in BottleneckKind if not told.get(kind)} == {BottleneckKind.UNKNOWN}


SHARED = make_trial(cores=2.0, placement=Placement(server_cpus=(0, 1), generator_cpus=(1,)))
GOOD = Measurement(
    rows=10,
    window_s=10.0,
    rows_per_s=1e6,
    server_cpu_percent=97.0,
    generator_cpu_percent=30.0,
    throttled_s=0.0,
    rows_acked=12,
    rows_counted=12,
    ceiling_rows_per_s=5e8,
)
IDLE = {"server_cpu_percent": 40.0}
FULL = {"disks": {"d1": DiskFigures(write_mb_per_s=20.0, used_percent=95.0)}}
ROOM = {"disks": {"d1": DiskFigures(write_mb_per_s=20.0, used_percent=50.0)}}
UNEVEN = {"disks": {**FULL["disks"], "d2": ROOM["disks"]["d1"]}}
SERVER = {"server_cpu_percent": 80.0}
CASES = [
    (CORES, None, {}, "VALID SERVER_CPU"),
    (CORES, SHARED, {**SERVER, "generator_cpu_cores": 0.25}, "VALID SERVER_CPU"),
    (CORES, SHARED, {**SERVER, "generator_cpu_cores": 0.35}, "RESOURCE_NOT_SATURATED SHARED_CPU"),
    (CORES, None, {"ceiling_rows_per_s": 1.1e6}, "GENERATOR_BOUND GENERATOR_CEILING"),
    (CORES, None, {"throttled_s": 0.2}, "THROTTLED THROTTLING"),
    (CORES, None, {"throttled_s": 0.1}, "VALID SERVER_CPU"),
    (CORES, None, {"throttled_s": 0.2, "quota": True}, "VALID QUOTA"),
    (CORES, None, {"throttled_s": 0.2, "quota": True, **IDLE}, "RESOURCE_NOT_SATURATED UNKNOWN"),
    (CORES, None, {"rate": 1e6, **IDLE}, "VALID OFFERED_RATE"),
    (CORES, None, {"rate": 2e6}, "OFFERED_NOT_MET SERVER_CPU"),
    (CORES, None, {"server_cpu_percent": None}, "RESOURCE_NOT_SATURATED UNREAD"),
    (CORES, None, {"server_cpu_percent": None, "generator_cpu_percent": 99.0}, "RESOURCE_NOT_SATURATED UNREAD"),
    (CORES, None, {"generator_cpu_percent": 86.0, **IDLE}, "GENERATOR_BOUND GENERATOR_CPU"),
    (CORES, None, {"rate_cv_percent": 40.0}, "UNSTEADY SERVER_CPU"),
    (CORES, SHARED, {**SERVER, "generator_cpu_cores": 0.25, "rate_cv_percent": 40.0}, "UNSTEADY SERVER_CPU"),
    (DISKS, 1, {"rate_cv_percent": 40.0, **FULL}, "VALID DISK"),
    (DISKS, 1, {**FULL, "throttled_s": 0.2}, "THROTTLED THROTTLING"),
    (DISKS, 1, {**ROOM, "throttled_s": 0.2}, "THROTTLED THROTTLING"),
    (DISKS, 1, {**ROOM, "rate": 1e6}, "VALID OFFERED_RATE"),
    (DISKS, 1, {**ROOM, "rate": 2e6, **IDLE}, "OFFERED_NOT_MET UNKNOWN"),
    (DISKS, 1, {**FULL, "rate": 2e6}, "OFFERED_NOT_MET DISK"),
    (DISKS, 1, {**FULL, "ceiling_rows_per_s": 1.1e6}, "GENERATOR_BOUND GENERATOR_CEILING"),
    (DISKS, 1, ROOM, "RESOURCE_NOT_SATURATED SERVER_CPU"),
    (DISKS, 1, {**ROOM, **IDLE, "generator_cpu_percent": 86.0}, "GENERATOR_BOUND GENERATOR_CPU"),
    (DISKS, 1, {**ROOM, "throttled_s": 0.2, "quota": True}, "RESOURCE_NOT_SATURATED QUOTA"),
    (DISKS, 2, {**UNEVEN, **IDLE}, "RESOURCE_NOT_SATURATED UNEVEN_DISKS"),
    (DISKS, 1, {}, "RESOURCE_NOT_SATURATED UNREAD"),
    (DISKS, 1, {"server_cpu_percent": None, **FULL}, "VALID DISK"),
    (CLIENTS, None, {}, "VALID SERVER_CPU"),
    (CLIENTS, None, IDLE, "VALID UNKNOWN"),
    (CLIENTS, None, {"generator_cpu_percent": 86.0, **IDLE}, "GENERATOR_BOUND GENERATOR_CPU"),
]


@pytest.mark.parametrize("swept", [CORES, DISKS, CLIENTS], ids=lambda axis: axis.name)
def test_verdict_bottleneck_and_first_reason(swept, wording):
    told = []
    for axis, trial, changes, expected in CASES:
        if axis is swept:
            figures = {k: v for k, v in changes.items() if k in Measurement.__dataclass_fields__}
            others = {k: v for k, v in changes.items() if k not in figures}
            where = make_trial(disks=trial) if isinstance(trial, int) else trial or make_trial()
            verdict = diagnose(evidence_of(where, replace(GOOD, **figures), **others), axis)
            assert f"{verdict.kind.value} {verdict.bottleneck.kind.value}" == expected, changes
            told += [r for r in verdict.reasons if "too short" not in r][:1]
    wording(*dict.fromkeys(told))


LACKING = ResourceUse(server_cpu_cores=2.0, generator_cpu_cores=0.5, in_flight=0.3)
FOUR = TrialResources(cores=4.0, quota=False, generator_cpus=2, shared_cpus=(), threads=8)


def diagnosed(use, axis, **given_too):
    m = replace(GOOD, disks=use.load_disks or {})
    verdict = diagnose(Evidence(resources=replace(FOUR, **given_too), measurement=m, window=use), axis)
    return f"{verdict.kind.value} {verdict.bottleneck.kind.value}", verdict


def test_steal_is_not_the_servers_and_disks_that_were_busy_for_a_while_are_not_full(wording):
    stolen = replace(LACKING, stolen_cpu_cores=1.5)
    waited = replace(LACKING, io_waiting_percent=80.0, load_disks=ROOM["disks"])
    kinds, of_cores = diagnosed(stolen, CORES)
    assert kinds == "RESOURCE_NOT_SATURATED HYPERVISOR"
    kinds, of_disks = diagnosed(replace(stolen, load_disks=ROOM["disks"]), DISKS, prepared_disks=1)
    assert kinds == "RESOURCE_NOT_SATURATED HYPERVISOR"
    kinds, waits = diagnosed(waited, DISKS, prepared_disks=1)
    assert kinds == "RESOURCE_NOT_SATURATED DISK_WAITS"
    assert diagnosed(replace(waited, load_disks=None), CORES)[0] == "RESOURCE_NOT_SATURATED DISK"
    wording(of_cores.reasons[0], of_disks.reasons[0], waits.reasons[0], waits.bottleneck.remedy)


def test_of_two_resources_that_are_full_the_level_is_the_bottleneck():
    both = replace(LACKING, server_cpu_cores=3.9, load_disks=FULL["disks"])
    assert diagnosed(both, DISKS, prepared_disks=1)[0] == "VALID DISK"
    assert bottleneck_of(both, replace(FOUR, prepared_disks=1), CORES).kind is BottleneckKind.SERVER_CPU
    assert diagnosed(replace(both, server_cpu_cores=1.0), CORES, prepared_disks=1)[0] == "RESOURCE_NOT_SATURATED DISK"


def test_the_remedy_of_the_axis_goes_before_the_rules_own():
    waiting = replace(LACKING, in_flight=0.95)
    assert bottleneck_of(waiting, FOUR, CORES).remedy.startswith("more --connections")
    assert bottleneck_of(waiting, FOUR, CLIENTS).remedy.startswith("more --clients")


def test_connections_that_wait_are_named_last_even_where_they_are_swept():
    """All of them wait for a server whose cores are full, too."""
    assert diagnosed(replace(LACKING, in_flight=0.95, server_cpu_cores=3.9), CLIENTS)[0] == "VALID SERVER_CPU"
    kinds, verdict = diagnosed(replace(LACKING, in_flight=0.95), CLIENTS)
    assert kinds == "VALID CONNECTIONS"
    assert not any("waited" in reason for reason in verdict.reasons)


def test_what_spoils_a_number_and_what_limited_the_server_are_both_told(wording):
    kinds, verdict = diagnosed(replace(LACKING, throttled=0.02, hot_thread=("vnode-write", 0.97)), CORES)
    assert kinds == "THROTTLED THROTTLING"
    wording(*verdict.reasons)


def constants(path: Path) -> list[object]:
    return [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]


def test_no_threshold_and_no_axis_stands_in_a_rule():
    """0, 1, 2 and 100 are arithmetic; every other number is a threshold and stands in thresholds.py."""
    paths = sorted(VERDICT.rglob("*.py"))
    rules = [path for path in paths if path.name != "thresholds.py"]
    numbers = {path: {c for c in constants(path) if isinstance(c, int | float)} - {0, 1, 2, 100} for path in rules}
    axes = {path: {c for c in constants(path) if isinstance(c, str)} & set(AXES.names()) for path in paths}
    assert_none(f"{path.name}: {wrong}" for kind in (numbers, axes) for path, wrong in kind.items() if wrong)


def test_each_threshold_stands_once_with_its_unit_and_why_and_is_used():
    lines = [line for line in (VERDICT / "thresholds.py").read_text().splitlines() if ": Final =" in line]
    named = [re.fullmatch(r"([A-Z_]+): Final = [\d.]+  # [^:]+: \S.+", line) for line in lines]
    assert len(lines) > 15
    assert all(named), [line for line, match in zip(lines, named, strict=True) if not match]
    others = [path.read_text() for path in VERDICT.parent.rglob("*.py") if path.name != "thresholds.py"]
    for match in named:
        assert any(re.search(rf"\b{match[1]}\b", text) for text in others), f"{match[1]} is not used"


def test_the_table_of_bottlenecks_has_the_order_and_the_standings_of_the_code():
    text = (VERDICT.parents[3] / "docs/verdicts.md").read_text()
    table = re.findall(r"^\| `([A-Z_]+)` \|.*\| (\w+(?:, \w+, \w+)?) \|$", text, flags=re.MULTILINE)
    rules = list(dict.fromkeys(rule.names for rule in RULES))
    assert list(dict.fromkeys(kind for kind, _ in table)) == sorted(rules, key=rank_on_page)
    for kind, told in table:
        standings = [axis.standings[BottleneckKind(kind)].standing for axis in (CORES, DISKS, CLIENTS)]
        assert told == (standings[0] if len(set(standings)) == 1 else ", ".join(standings)), kind


def rank_on_page(kind: BottleneckKind) -> int:
    """UNREAD stands once on the page, after the resources."""
    order = list(dict.fromkeys(rule.names for rule in RULES))
    return order.index(BottleneckKind.DISK) * 2 + 1 if kind is BottleneckKind.UNREAD else order.index(kind) * 2
