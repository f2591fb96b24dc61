"""Rows that are loaded once: which trials share them, how they are copied, what is in memory, and that none are left."""

import json
import os
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError, UsageError
from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.work import queries_of
from scale_sweep.machine.sampling.processes import NOTHING
from scale_sweep.machine.state.records import read_records, record_of, save
from scale_sweep.measure.executing.place import data_of_run
from scale_sweep.measure.trial import waiting
from scale_sweep.measure.trial.order import DataSet
from scale_sweep.measure.trial.preload import copied, kept_before
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model.planned import Plan
from scale_sweep.model.questions import Preloaded
from scale_sweep.plan.data_sets import bytes_needed, data_key, makers
from scale_sweep.plan.notes import notes
from scale_sweep.plan.preparing import findings
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.runtimes.data_files import copy_tree
from scale_sweep.server.targets import Address, load_facts
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_plan import planned
from tests.unit.test_trial_order import WatchedServer
from tests.unit.trial_orders import trial_order

READS = {"mix": "range=1", "preload__rows": "100k", "workload__step_ms": "10000", "workload__tables": "10"}


def sweep_of(target="postgres", **flags):
    return replace(make_sweep(**{**READS, **flags}), target=target)


def trial(target="postgres", *, flags=None, **fields):
    return make_trial(sweep_of(target, **(flags or {})), **fields)


def plan(*trials, **flags):
    return Plan(sweep=sweep_of(**flags), trials=trials, confounds=(), notes=(), seconds_estimated=0.0)


def test_levels_replicates_and_connections_share_their_rows_and_what_changes_the_files_does_not():
    more = {"partitions": "4", "connections": "4", "default_toast_compression": "lz4"}
    same = [
        trial(),
        trial(trial_id="cores-2-r3", cores=2.0, level=2.0, replicate=3),
        trial(knobs={"partitions": "4", "connections": "64"}),
        trial(flags={"workload__rows_per_request": "7"}),
        trial(flags={"method__cache": "cold"}),
    ]
    others = [
        trial(knobs={"partitions": "8", "connections": "4"}),
        trial(knobs=more),
        trial(flags={"preload__rows": "200k"}),
        trial(flags={"workload__columns": "a:int"}),
        trial(seed=2),
        trial("tdengine", knobs={"vgroups": "4"}),
    ]
    (one,) = {data_key(t) for t in same}
    assert len({one, *(data_key(t) for t in others)}) == 1 + len(others)


def test_rows_that_cannot_be_copied_are_loaded_by_each_trial_and_others_by_the_server_with_the_most_cores():
    of_a_running_server = trial(flags={"target__endpoint": "127.0.0.1:5432"})
    for alone in (make_trial(), trial(disks=2), trial("opentsdb"), of_a_running_server):
        assert (data_key(alone), bytes_needed([alone])) == ("", 0)
    trials = [trial(cores=1.0), trial(cores=4.0, trial_id="most"), trial(cores=2.0)]
    assert [t.trial_id for t in makers(trials).values()] == ["most"]


def test_space_for_every_data_set_and_a_copy_is_looked_for_before_anything_starts():
    one, other = trial(), trial(knobs={"partitions": "8", "connections": "4"})
    each = bytes_needed([one]) // 2
    assert 100_000 * 20 < each < 100_000 * 1000
    assert bytes_needed([one, one, other]) == 3 * each
    reserve = plan(one).sweep.disk_free_min_bytes
    assert findings.rows_space(plan(one), 2 * each + reserve) == []
    (found,) = findings.rows_space(plan(one), 2 * each + reserve - 1)
    assert found.blocking and "--preload" in found.sentence
    assert findings.rows_space(plan(make_trial()), reserve) == []


def test_cold_data_need_rows_a_disk_and_a_server_that_starts_again(wording):
    cold = {"method__cache": "cold"}
    assert findings.cold_data(plan(trial()), in_memory=True) == []
    ok = plan(trial(flags=cold))
    assert findings.cold_data(ok, in_memory=False) == []
    (memory,) = findings.cold_data(ok, in_memory=True)
    (once,) = findings.cold_data(plan(trial("opentsdb", flags=cold)), in_memory=False)
    assert memory.blocking and once.blocking
    with pytest.raises(UsageError, match="--cache cold") as refused:
        make_sweep(**cold)
    wording(memory.sentence, once.sentence, refused.value.message)


def test_reads_of_the_newest_rows_can_be_asked_of_all_operations_at_once():
    flags = {**READS, "mix": "range=1,latest=1,point=1", "preload__read_recent": "2h"}
    asked = queries_of(make_sweep(**flags, operation=["point.recent=10m"]).work)
    assert [asked[name].recent_ms for name in ("range", "latest", "point")] == [7_200_000, 0, 600_000]


def test_a_copy_has_every_file_with_its_mode_and_its_holes_and_is_apart_from_the_first(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    (first / "deep" / "empty").mkdir(parents=True)
    second.mkdir()
    (first / "deep" / "rows").write_bytes(os.urandom(100_000))
    (first / "deep" / "rows").chmod(0o600)
    (first / "none").touch()
    (first / "link").symlink_to("deep/rows")
    with (first / "holes").open("wb") as file:
        file.write(b"begin")
        file.seek(8 * 2**20)
        file.write(b"end")
        file.truncate(9 * 2**20)
    assert copy_tree(first, second) in ("copy", "reflink")
    copied_names, names = ({str(p.relative_to(top)) for p in top.rglob("*")} for top in (second, first))
    assert copied_names == names
    for name in ("deep/rows", "none", "holes"):
        assert (second / name).read_bytes() == (first / name).read_bytes()
    assert (second / "deep" / "rows").stat().st_mode & 0o777 == 0o600
    assert os.readlink(second / "link") == "deep/rows"
    assert (second / "holes").stat().st_blocks <= (first / "holes").stat().st_blocks
    (second / "deep" / "rows").write_bytes(b"other")
    assert len((first / "deep" / "rows").read_bytes()) == 100_000
    with pytest.raises(ProvisionError, match=r"b/\S+: File exists"):
        copy_tree(first, second)


def kept(folder: Path, name: str) -> Path:
    """A complete data set, as `make` leaves it."""
    path = folder / name
    path.mkdir()
    there = asdict(Preloaded(rows=5, data_bytes=10, seconds=1.0))
    said = {"folder": str(path), "port": 4711, "secret": "s", "bytes_total": 3, "preloaded": there}
    (path / "prepared.json").write_text(json.dumps(said))
    (path / "rows").write_text("one")
    save(record_of(name, [str(path)]))
    return path


@pytest.fixture
def order(tmp_path):
    """Of a trial with a data set."""
    return replace(trial_order(tmp_path), data=DataSet(name="abcdef-data-1", maker=trial()))


def test_a_run_uses_what_it_finds_and_leaves_no_data_set(tmp_path, order):
    one = trial()
    with pytest.raises(KeyboardInterrupt), data_of_run(plan(one), "20260102T030405Z-cpu-abcdef") as data_set:
        found = data_set(one)
        assert found.name == f"abcdef-data-{data_key(one)}"
        assert data_set(make_trial()) is None
        path = kept(tmp_path, found.name)
        assert kept_before(replace(order, data=found), found).port == 4711
        raise KeyboardInterrupt
    assert not path.exists()
    assert [record for record in read_records().records if record.name == found.name] == []


def test_a_data_set_that_is_not_complete_is_not_used_and_a_copy_without_space_is_refused(tmp_path, order):
    assert kept_before(order, order.data) is None
    path = kept(tmp_path, order.data.name)
    huge = replace(kept_before(order, order.data), bytes_total=2**45)
    site = type("Site", (), {"data_dir": str(tmp_path)})
    with pytest.raises(ProvisionError, match="takes 32TiB"):
        copied(order, huge, lambda there: None).fill(site)
    (path / "prepared.json").write_text("{")
    assert kept_before(order, order.data) is None


def test_the_data_set_of_a_killed_run_is_removed_by_clean(tmp_path):
    def left():
        return [one for one in find_leftovers([tmp_path]) if one.kind != "container"]

    path = kept(tmp_path, "abcdef-data-1")
    assert left() == []
    save(replace(record_of(path.name, [str(path)]), runner_pid=2**22 + 1, runner_started=1))
    (one,) = left()
    remove(one)
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_at_rest_when_it_uses_no_cpu_and_is_not_waited_for_for_ever(monkeypatch):
    looks = iter(count())
    monkeypatch.setattr(waiting, "subject_reader", lambda accounting: lambda: replace(NOTHING, cpu_s_total=next(used)))
    server = Reached(server=WatchedServer(), address=Address(host="", port=0, secret=""), session=None)
    used = (float(min(look, 9)) for look in looks)
    assert waiting.idle_cores(server, Stop(), 60.0, 0.001) == 0.0
    assert next(looks) == 12  # ten with work, then two without
    used = (float(look) for look in count())
    assert waiting.idle_cores(server, Stop(), 0.05, 0.001) > waiting.IDLE_CORES
    used = (None for _ in count())
    assert waiting.idle_cores(server, Stop()) is None


def notes_of(*trials):
    """Those about the rows before the load."""
    facts = {t.subject.target: load_facts(t.subject.target) for t in trials}
    return [note for note in notes(sweep_of(), trials, facts) if note.startswith("--preload")]


def test_the_plan_says_how_often_rows_are_loaded(wording):
    other = trial(knobs={"partitions": "8", "connections": "4"}, flags={"method__cache": "cold"})
    (one,) = notes_of(trial(), trial(cores=2.0))
    (two,) = notes_of(replace(trial(), work=other.work), other)
    (alone,) = notes_of(trial("opentsdb"))
    wording(one, two, alone)


def test_warm_and_cold_can_be_measured_in_one_sweep_on_one_data_set():
    varied = {**READS, "vary": ["cache=warm,cold"]}
    both = planned(**varied)
    assert {t.work.cache for t in both.trials} == {"warm", "cold"}
    assert len(makers(both.trials)) == 1
    assert not any("none of" in note for note in both.notes)
    for wrong, words in (({"vary": ["cache=hot"]}, "'hot' is not one of"), ({"preload__rows": "0"}, "no rows are")):
        with pytest.raises(UsageError, match=words):
            planned(**{**varied, "mix": "write=1", **wrong})


def test_the_plan_lasts_as_long_as_one_preload_more():
    flags = {**READS, "preload__rows": "600k", "method__drift_check": "off"}
    long, short = planned(**flags), planned(**{**flags, "preload__rows": "300k"})
    assert long.seconds_estimated - short.seconds_estimated == pytest.approx(300_000 / (3e5 * 2))  # on two cores
