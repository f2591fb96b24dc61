"""The load generator's own ceiling: with the trial's own driver where it can leave out its sending, keyed by the whole spec."""

import json
import shlex
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.ceiling import Means, ceiling_key, means_of, measure_ceiling
from scale_sweep.loadgen.spec import stubbed_spec, trial_spec
from scale_sweep.measure.executing.run_setup import Ceilings
from scale_sweep.plan.resources import amounts_by_level, resource_range
from scale_sweep.server.targets import all_facts, load_facts
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_tdengine_target import trial as tdengine_trial
from tests.unit.whole_commands import run

COPY = {"driver": "postgres", "method": "copy", "host": "h", "port": "1", "library": "/l", "table": "m"}
NULL = {
    "protocol": "1",
    "driver": "null",
    "method": "discard",
    "threads": "1",
    "tables": "10",
    "rows_per_request": "100",
}
NEW = {"null": {"discard": ["separable"]}, "postgres": {"copy": ["deadline", "separable"]}, "tdengine": {"stmt": []}}
OLD = {"null": {"discard": ["deadline"]}, "postgres": {"copy": ["deadline"]}, "tdengine": {"stmt": []}}


def program_with(folder, features):
    path = folder / "scale-loadgen"
    said = json.dumps([{"driver": name, "features": can} for name, can in features.items()])
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return str(path)


def spec_of(**settings):
    given = {"load__method": "copy", **settings}
    return trial_spec(make_trial(make_sweep(**given)), COPY)


@pytest.mark.parametrize(
    ("features", "driver", "method", "means"),
    [
        (NEW, "postgres", "copy", Means.STUBBED),
        (NEW, "null", "discard", Means.STUBBED),
        (NEW, "tdengine", "stmt", Means.NONE),
        (OLD, "postgres", "copy", Means.DISCARDED),
        (OLD, "tdengine", "stmt", Means.DISCARDED),
    ],
)
def test_how_it_is_measured_follows_from_what_the_load_core_can_do(tmp_path, features, driver, method, means):
    assert means_of(program_with(tmp_path, features), {"driver": driver, "method": method}) is means


def test_a_load_core_that_does_not_list_its_drivers_is_named(tmp_path):
    with pytest.raises(LoadError, match="does not list its drivers"):
        means_of("/bin/false", COPY)


def test_the_stubbed_spec_has_the_same_requests_and_no_address():
    spec = spec_of(workload__rows_per_request="500")
    made = stubbed_spec(spec, 1.5)
    assert {k: made[k] for k in ("driver", "method", "library", "sending")} == {
        "driver": "postgres",
        "method": "copy",
        "library": "/l",
        "sending": "stubbed",
    }
    assert not {"host", "port", "rate", "retries"} & set(made)
    names = {"database": "x", "table_prefix": "d", "parted": "1"}
    assert stubbed_spec(spec | names, 1.5).items() >= names.items()
    same = ("threads", "tables", "columns", "rows_per_request", "partitions")
    assert {k: made[k] for k in same} == {k: spec[k] for k in same}


def test_the_key_is_the_whole_spec_but_for_the_seed():
    spec = spec_of()
    key = ceiling_key(spec, (0, 1), 0, Means.STUBBED)
    assert key == ceiling_key({**spec, "seed": "77", "host": "other"}, (0, 1), 0, Means.STUBBED)
    for other in (
        {"interlace_rows": "7"},
        {"tables": "9"},
        {"threads": "3"},
        {"rows_per_request": "1"},
        {"columns": "a:int"},
    ):
        assert key != ceiling_key({**spec, **other}, (0, 1), 0, Means.STUBBED)
    assert key != ceiling_key(spec, (0,), 0, Means.STUBBED)
    assert key != ceiling_key(spec, (0, 1), 2, Means.STUBBED)


def test_a_driver_that_cannot_separate_has_none_and_that_is_told(monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.executing.run_setup.means_of", lambda program, spec: Means.NONE)
    made = tdengine_trial()
    trial = replace(made, subject=replace(made.subject, target="tdengine", method="stmt"))
    ceilings = Ceilings("/nowhere", {trial.subject.server: ""})
    ceilings.measure([trial, replace(trial, seed=trial.seed + 1)])
    assert ceilings.of(trial) is None
    (why,) = ceilings.described().values()
    assert "threads' own CPU" in why


def test_the_null_drivers_ceiling_with_the_real_load_core():
    rate = measure_ceiling(loadgen_path(), ceiling_key(NULL, (0,), 0, means_of(loadgen_path(), NULL)))
    assert rate is not None
    assert rate > 1e6


def killed(folder, times):
    """The real load generator, which a signal ends in its first loads."""
    path = folder / "scale-loadgen"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = load ] && [ "$(wc -l <"${{0%/*}}/loads")" -lt {times} ]; then\n'
        f'  echo load >>"${{0%/*}}/loads"; kill -9 $$\nfi\nexec {shlex.quote(loadgen_path())} "$@"\n'
    )
    path.chmod(0o755)
    (folder / "loads").touch()
    return str(path)


def test_a_load_that_a_signal_ends_is_repeated_once(tmp_path):
    program, spec = killed(tmp_path, 1), NULL
    rate = measure_ceiling(program, ceiling_key(spec, (0,), 0, means_of(program, spec)))
    assert rate is not None and rate > 1e5
    assert (tmp_path / "loads").read_text() == "load\n"


def test_a_load_that_a_signal_ends_twice_is_named_with_the_signal(tmp_path):
    done = run("sweep", "cpu", "--target", "null", "--cores", "1", cwd=tmp_path, SCALE_LOADGEN=killed(tmp_path, 9))
    assert done.code == 5, done.stderr
    assert "ceiling could not be measured: twice, the load generator died of signal 9 (SIGKILL)\n" in done.stderr
    assert "dmesg" in done.stderr
    assert (tmp_path / "loads").read_text() == "load\n" * 2


@pytest.mark.parametrize("target", [facts.name for facts in all_facts() if facts.queries])
@pytest.mark.parametrize("workload", [name for name in NAMED if name != "write"])
def test_reads_of_every_target_have_none_and_that_is_told(target, workload):
    sweep = make_sweep(target__name=target)
    work = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": workload, "workload.tables": "10"}).work
    rules = load_facts(target).default_knobs(resource_range(amounts_by_level(sweep)))
    knobs = {name: rule.pieces[0].value for name, rule in rules.items()}
    trial = make_trial(replace(sweep, work=work), knobs=knobs)
    ceilings = Ceilings(loadgen_path(), {trial.subject.server: ""})
    ceilings.measure([trial])
    assert ceilings.of(trial) is None
    (why,) = ceilings.described().values()
    assert why.startswith("none for reads: ")
