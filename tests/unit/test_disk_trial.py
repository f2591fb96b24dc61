"""The disks of a trial: proof of placement, room watched, shares counted, what a verdict makes of it, and files that a
server removes meanwhile."""

import os
import shutil
import time
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError, ProvisionError
from scale_sweep.base.input_file import below
from scale_sweep.base.interrupts import Stop
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.disk_figures import ceiling_mb_per_s, disk_figures, stalled_s
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.measure.machine_setup import disks_of_run
from scale_sweep.measure.trial.disks import bytes_at_rest, check_placement, filling_disk, refuse_full, sync_disks
from scale_sweep.measure.trial.loading import Loading, no_hosts
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model.events import Noted
from scale_sweep.model.measured import Measurement
from scale_sweep.model.samples import DiskCeiling, DiskFigures, DiskSample, Sample, SubjectSample
from scale_sweep.report.figures import disk_mb_per_s
from scale_sweep.server.runtimes.data_dir import mounted
from scale_sweep.server.targets import Address, Part
from scale_sweep.server.targets.null import NullSession
from tests.needs import needs
from tests.unit.evidences import evidence_of
from tests.unit.factories import as_rated, make_disk, make_interval, make_trial
from tests.unit.test_plan import planned
from tests.unit.test_trial_order import WatchedServer
from tests.unit.trial_orders import trial_order

MIB = 2**20
NOTHING = SubjectSample(cpu_s_total=None, throttled_s_total=None, memory_bytes=None)


def sample(at_s, **written_mb):
    at_rest = {"read_bytes_total": 0, "writes_total": 0, "busy_s_total": at_s / 2, "queue_s_total": at_s}
    counts = {
        n: {"written_bytes_total": int(mb * 1e6), "free_bytes": int(5e8 - mb * 1e6)} for n, mb in written_mb.items()
    }
    return Sample(
        monotonic_ns=int(at_s * 1e9),
        server=NOTHING,
        generator=NOTHING,
        memory_available_bytes=None,
        psi_some_s_total={},
        thread_cpu_s_total={},
        disks={name: DiskSample(**at_rest, **own) for name, own in counts.items()},
    )


def ceiling(total, each, *names):
    return DiskCeiling(disks=names, write_mb_per_s=total, sync_writes_per_s=None, by_disk=dict.fromkeys(names, each))


ALONE = tuple(ceiling(20.0, 20.0, name) for name in ("d1", "d2", "d3"))
CEILINGS = (*ALONE, ceiling(30.0, 10.0, "d1", "d2", "d3"))


def test_each_disk_beside_its_own_ceiling():
    samples = [sample(0, d1=0, d2=0), sample(10, d1=180, d2=120)]
    found = disk_figures(measure_window(samples, 0, 10 * 10**9), samples, CEILINGS)
    one = found["d1"]
    assert (one.write_mb_per_s, one.share_percent, one.used_percent) == pytest.approx((18, 60, 90))
    assert (one.busy_percent, one.free_gb_min) == pytest.approx((50, 0.32))
    assert found["d2"].used_percent == pytest.approx(60)
    for names, expected in ((("d1",), 20), (("d1", "d2"), 30), (("d1", "d2", "d3"), 30), (("d9",), None)):
        assert ceiling_mb_per_s(CEILINGS, names) == expected


def test_the_part_of_a_database_must_lie_on_its_own_disk(tmp_path):
    disks = [make_disk("d1", tmp_path / "a"), make_disk("d2", tmp_path / "b")]
    folders = [str(tmp_path / "a/t"), str(tmp_path / "b/t")]
    for name in ("a/t/vnode2", "b/t/vnode3", "data/vnode4"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/vnode2").symlink_to(tmp_path / "a/t/vnode2")
    (tmp_path / "data/vnode3").symlink_to(tmp_path / "b/t/vnode3")
    two, three, four = (
        Part(name=f"vnode {n}", path=str(tmp_path / f"data/vnode{n}"), disk=disk)
        for n, disk in ((2, 0), (3, 1), (4, None))
    )
    assert check_placement([two, three], disks, folders) == {"parts_per_disk": "1,1"}
    with pytest.raises(ProvisionError, match="vnode 2 is on d1, planned was d2"):
        check_placement([replace(two, disk=1)], disks, folders)
    with pytest.raises(ProvisionError, match="vnode 4 is on .*data/vnode4, planned was any"):
        check_placement([four], disks, folders)
    assert check_placement([], disks, folders) == {}


def test_a_disk_about_to_fill_is_named_and_one_with_less_than_a_part_of_what_the_load_took_is_filling(
    tmp_path, wording
):
    disks = [make_disk("d1", "/mnt/a"), make_disk("d2", "/mnt/b")]
    refuse_full(sample(1, d1=0, d2=400), disks, 64 * 2**20)
    with pytest.raises(LoadError, match=r"disk d2 \(/mnt/b\) is about to fill: 50 MB free"):
        refuse_full(sample(1, d1=0, d2=450), disks, 64 * 2**20)
    sync_disks([make_disk("d1", tmp_path)])
    begun, nearly = sample(0, d1=0, d2=100), sample(0, d1=450, d2=0)
    assert filling_disk(begun, sample(1, d1=380, d2=100), disks) == ""
    assert filling_disk(nearly, sample(1, d1=460, d2=0), disks) == ""
    assert filling_disk(replace(begun, disks={}), sample(1, d1=499, d2=499), disks) == ""
    wording(filling_disk(begun, sample(1, d1=390, d2=100), disks))


def test_time_without_an_acknowledgement():
    seen = as_rated(make_interval(t_s=t_s, rows=rows) for t_s, rows in ((1, 5), (2, 0), (3.5, 0), (4, 1)))
    assert stalled_s(seen) == pytest.approx(2.5)
    assert stalled_s([]) is None


def measured(**used):
    figures = {k: DiskFigures(write_mb_per_s=20.0, used_percent=v, busy_percent=1.0) for k, v in used.items()}
    cpu = {"server_cpu_percent": 20.0, "server_cpu_cores": 0.4, "generator_cpu_percent": 20.0}
    return Measurement(rows=1, disks=figures, **cpu)


def test_disks_are_judged_by_their_own_ceilings_and_named(wording):
    """Those of one disk with a ceiling are in test_diagnosis."""
    busy = Measurement(rows=1, disks={"d1": DiskFigures(write_mb_per_s=20.0, busy_percent=95.0)})
    used = ({"d1": 95.0, "d2": 90.0}, {"d1": 95.0, "d2": 61.0}, {"d1": 50.0, "d2": 90.0}, {"d1": 95.0, "d2": 500.0})
    evidence = [
        evidence_of(make_trial(disks=len(m.disks), cores=2.0), m) for m in (busy, *(measured(**u) for u in used))
    ]
    verdicts = [diagnose(one, load_axis("disks")) for one in evidence]
    kinds = ["VALID", "VALID", "RESOURCE_NOT_SATURATED", "RESOURCE_NOT_SATURATED", "ERRORS"]
    assert [verdict.kind.value for verdict in verdicts] == kinds
    wording(*(verdict.reasons[0] for verdict in verdicts))


def test_a_disk_sweep_tells_the_disks_rate_to_the_end_of_the_flush():
    """A short load stays in buffers: the disks are idle in the window and busy after it."""
    whole = replace(measured(d1=95.0, d2=90.0), disk_write_mb_per_s=0.5)
    assert disk_mb_per_s(load_axis("disks"), whole) == 40.0
    assert disk_mb_per_s(load_axis("cores"), whole) == 0.5
    assert disk_mb_per_s(load_axis("disks"), replace(whole, disks={})) == 0.5


def test_a_directory_that_a_server_removes_meanwhile_takes_no_space(tmp_path, monkeypatch):
    for name in ("kept", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * 10_000)
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("gone"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert bytes_at_rest((str(tmp_path), "")) == (tmp_path / "kept" / "file").stat().st_blocks * 512 > 0


class FillingLoad:
    """A load whose rate jumps each second, of which the file system gets fuller."""

    pids = ()

    def __init__(self, folder, seconds, megabytes, server):
        self.raw, self.troubles, self.ended_at, self._at = [], [], [], 0
        self._folder, self._seconds, self._megabytes, self._server = folder, seconds, megabytes, server

    def start(self):
        pass

    def stop(self):
        pass

    def begin_window(self):
        raise AssertionError("the warm-up has a fixed length")

    def end_window(self):
        self.ended_at.append(self._at)

    def lines(self, limit_s):
        self._server.wait_for_sample()
        begun_ns = time.monotonic_ns() - 3 * 10**9  # so the samples are from after 3 s of it
        yield Phase(phase="measure", monotonic_ns=begun_ns)
        for at in range(1, self._seconds + 1):
            self._at = at
            (self._folder / f"rows-{at}").write_bytes(bytes(self._megabytes * MIB))
            self._server.wait_for_sample()
            rows = 100 if at % 2 else 900
            second = make_interval(t_s=float(at), rows=rows, rows_total=rows, requests=1)
            yield replace(second, monotonic_ns=begun_ns + at * 3 * 10**8)

    def summary(self):
        return None


def loaded_on_a_tmpfs(tmp_path, duration_s):
    """The load, and the notes of its trial; 13 of 14 MiB are written, one each 0.3 s of the load's time."""
    directory = RamDirectory(path=tmp_path / "ram-1", size_bytes=14 * MIB, is_mounted=True)
    order = trial_order(tmp_path)
    grows = replace(order.trial.load, duration_s=duration_s, window_max_s=6000.0)
    order = replace(order, trial=replace(order.trial, load=grows))
    server, notes = WatchedServer(), []
    load = FillingLoad(directory.path, 13, 1, server)
    with mounted(directory), disks_of_run(planned(cores="1"), directory.path, "run", print) as stage:
        order = replace(order, disks=tuple(stage.disks), disk_free_min_bytes=0, sample_hz=10)
        address = Address(host="", port=0, secret="")
        reached = Reached(server=server, address=address, session=NullSession(order.trial, address))
        loading = Loading(order, reached, load, Stop(), server.sampling, no_hosts)
        with pytest.raises(Exception, match="without a summary"):
            for event in loading.events():
                notes += [event.sentence] if isinstance(event, Noted) else []
    return load, notes


@needs("mount")
@pytest.mark.parametrize(("requested_s", "ends_at"), [(3.0, {11, 12}), (3000.0, set())])
def test_a_window_that_would_grow_ends_before_its_disk_is_full_and_a_shorter_one_goes_on(
    tmp_path, monkeypatch, requested_s, ends_at
):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    load, notes = loaded_on_a_tmpfs(tmp_path, requested_s)
    assert len(load.ended_at) == len(notes) == bool(ends_at) and set(load.ended_at) <= ends_at
    assert all("took 11MiB" in note and "3MiB are" in note for note in notes)


def test_everything_below_and_nothing_of_a_missing_directory(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    assert sorted(str(p.relative_to(tmp_path)) for p in below(tmp_path)) == ["a", "a/b", "a/b/file"]
    assert list(below(tmp_path / "missing")) == []


def test_a_directory_that_goes_during_the_walk_is_left_out(tmp_path):
    for name in "abc":
        (tmp_path / name / "deeper").mkdir(parents=True)
        (tmp_path / name / "deeper" / "file").touch()
    seen = []
    for path in below(tmp_path):
        if not seen:
            shutil.rmtree(tmp_path / "b")
        seen.append(str(path.relative_to(tmp_path)))
    assert {"a/deeper/file", "c/deeper/file"} <= set(seen)
    assert "b/deeper/file" not in seen
