"""The load generator's own ceiling: with the trial's driver where it can leave out its sending; of the whole spec."""

import json
import shlex
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.ceiling import Means, ceiling_key, means_of, measure_ceiling
from scale_sweep.loadgen.spec import stubbed_spec, trial_spec
from scale_sweep.measure.executing.place import Ceilings
from scale_sweep.plan.resources import amounts_by_level, resource_range
from scale_sweep.server.targets import all_facts, load_facts
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import executable, make_sweep, make_trial
from tests.unit.test_tdengine_target import trial as tdengine_trial

COPY = {"driver": "postgres", "method": "copy", "host": "h", "port": "1", "library": "/l", "table": "m"}
NULL = {"protocol": "1", "driver": "null", "method": "discard"}
NULL |= {"threads": "1", "tables": "10", "rows_per_request": "100"}
NEW = {"null": {"discard": ["separable"]}, "postgres": {"copy": ["deadline", "separable"]}, "tdengine": {"stmt": []}}
OLD = {"null": {"discard": ["deadline"]}, "postgres": {"copy": ["deadline"]}, "tdengine": {"stmt": []}}


def program_with(folder, features):
    said = json.dumps([{"driver": name, "features": can} for name, can in features.items()])
    return executable(folder / "scale-loadgen", f"echo '{said}'")


def spec_of(**settings):
    given = {"load__method": "copy", **settings}
    return trial_spec(make_trial(make_sweep(**given)), COPY)


@pytest.mark.parametrize(
    ("features", "means"),
    [(NEW, [Means.STUBBED, Means.STUBBED, Means.NONE]), (OLD, [Means.DISCARDED, Means.DISCARDED, Means.DISCARDED])],
)
def test_how_it_is_measured_follows_from_what_the_load_core_can_do(tmp_path, features, means):
    specs = [{"driver": driver, "method": method} for driver, methods in features.items() for method in methods]
    assert [means_of(program_with(tmp_path, features), spec) for spec in specs] == means
    with pytest.raises(LoadError, match="does not list"):
        means_of("/bin/false", COPY)


def test_the_stubbed_spec_has_the_same_requests_and_no_address():
    spec = spec_of(workload__rows_per_request="500")
    made = stubbed_spec(spec, 1.5)
    assert made.items() >= {"driver": "postgres", "method": "copy", "library": "/l", "sending": "stubbed"}.items()
    assert not {"host", "port", "rate", "retries"} & set(made)
    names = {"database": "x", "table_prefix": "d", "parted": "1"}
    assert stubbed_spec(spec | names, 1.5).items() >= names.items()
    same = ("threads", "tables", "columns", "rows_per_request", "partitions")
    assert {k: made[k] for k in same} == {k: spec[k] for k in same}


def test_the_key_is_the_whole_spec_but_for_the_seed():
    spec = spec_of()

    def key(cpus=(0, 1), first=0, **other):
        return ceiling_key({**spec, **other}, cpus, first, Means.STUBBED)

    assert key() == key(seed="77", host="other")
    changes = {"interlace_rows": "7", "tables": "9", "threads": "3", "rows_per_request": "1", "columns": "a:int"}
    others = [key((0,)), key(first=2), *(key(**{name: value}) for name, value in changes.items())]
    assert key() not in others


def test_a_driver_that_cannot_separate_has_none_and_that_is_told(monkeypatch, wording):
    monkeypatch.setattr("scale_sweep.measure.executing.place.means_of", lambda program, spec: Means.NONE)
    made = tdengine_trial()
    trial = replace(made, subject=replace(made.subject, target="tdengine", method="stmt"))
    wording(why_none("/nowhere", trial, replace(trial, seed=trial.seed + 1)))


def why_none(program, *trials):
    """What is said of trials without a ceiling."""
    ceilings = Ceilings(program, {trials[0].subject.server: ""})
    ceilings.measure(trials)
    assert {ceilings.of(trial) for trial in trials} == {None}
    (why,) = ceilings.described().values()
    return why


@pytest.mark.parametrize("times", [0, 1])
def test_the_null_drivers_ceiling_with_a_load_core_that_a_signal_ends_once(tmp_path, times):
    program = killed(tmp_path, times)
    rate = measure_ceiling(program, ceiling_key(NULL, (0,), 0, means_of(program, NULL)))
    assert rate is not None and rate > 1e6
    assert (tmp_path / "loads").read_text() == "load\n" * times


def killed(folder, times):
    """The real load generator, which a signal ends in its first loads."""
    (folder / "loads").touch()
    script = (
        f'if [ "$1" = load ] && [ "$(wc -l <"${{0%/*}}/loads")" -lt {times} ]; then\n'
        f'  echo load >>"${{0%/*}}/loads"; kill -9 $$\nfi\nexec {shlex.quote(loadgen_path())} "$@"'
    )
    return executable(folder / "scale-loadgen", script)


@pytest.mark.parametrize("target", [facts.name for facts in all_facts() if facts.queries])
@pytest.mark.parametrize("workload", [name for name in NAMED if name != "write"])
def test_reads_of_every_target_have_none_and_that_is_told(target, workload):
    sweep = make_sweep(target__name=target)
    work = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": workload, "workload.tables": "10"}).work
    rules = load_facts(target).default_knobs(resource_range(amounts_by_level(sweep)))
    knobs = {name: rule.pieces[0].value for name, rule in rules.items()}
    assert why_none(loadgen_path(), make_trial(replace(sweep, work=work), knobs=knobs)).startswith("none for reads: ")
