"""A window that would grow ends where the load has nearly filled a disk, and says so; before its requested length it
goes on. On a real tmpfs that really fills, with a load whose rate is not steady."""

import time
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.machine.host.ram import RamDirectory
from scale_sweep.measure.machine_setup import disks_of_run
from scale_sweep.measure.trial.disks import filling_disk
from scale_sweep.measure.trial.loading import LOCAL, Loading
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model import Noted
from scale_sweep.server.runtimes.ram_dir import mounted
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.null import NullSession
from tests.needs import needs
from tests.unit.factories import make_disk, make_interval
from tests.unit.test_disk_trial import sample
from tests.unit.test_plan import planned
from tests.unit.test_trial_order import WatchedServer
from tests.unit.trial_orders import trial_order

MIB = 2**20
DISKS = [make_disk("d1", "/mnt/a"), make_disk("d2", "/mnt/b")]


def test_a_disk_is_filling_if_less_is_left_than_a_part_of_what_the_load_took():
    begun = sample(0, d1=0, d2=100)
    assert filling_disk(begun, sample(1, d1=380, d2=100), DISKS) == ""
    said = filling_disk(begun, sample(1, d1=390, d2=100), DISKS)
    assert said.startswith("disk d1 (/mnt/a) is filling: the load took 371.9MiB, and 104.9MiB are free")


def test_a_disk_that_was_nearly_full_before_is_not_filling():
    begun = sample(0, d1=450, d2=0)
    assert filling_disk(begun, sample(1, d1=460, d2=0), DISKS) == ""
    assert filling_disk(replace(begun, disks={}), sample(1, d1=499, d2=499), DISKS) == ""


class FillingLoad:
    """A load whose rate jumps each second, of which the file system gets fuller."""

    pids = ()

    def __init__(self, folder, seconds, megabytes, server):
        self.raw, self.troubles, self.ended_at = [], [], []
        self._folder, self._seconds, self._megabytes, self._at = folder, seconds, megabytes, 0
        self._server = server

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
            (self._folder / f"rows-{self._at}").write_bytes(bytes(self._megabytes * MIB))
            self._server.wait_for_sample()
            rows = 100 if self._at % 2 else 900
            yield replace(
                make_interval(t_s=float(self._at), rows=rows, rows_total=rows, requests=1),
                monotonic_ns=begun_ns + at * 3 * 10**8,
            )

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
        loading = Loading(order, reached, load, Stop(), LOCAL, server.sampling)
        with pytest.raises(Exception, match="without a summary"):
            for event in loading.events():
                notes += [event.sentence] if isinstance(event, Noted) else []
    return load, notes


@needs("mount")
def test_a_window_that_would_grow_ends_before_its_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    load, notes = loaded_on_a_tmpfs(tmp_path, 3.0)
    assert len(load.ended_at) == len(notes) == 1 and load.ended_at[0] in (11, 12)
    assert notes[0].startswith("the window stops growing: the memory for the data (")
    assert "is filling: the load took 11MiB, and 3MiB are free" in notes[0]


@needs("mount")
def test_a_window_shorter_than_requested_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    load, notes = loaded_on_a_tmpfs(tmp_path, 3000.0)
    assert load.ended_at == [] and notes == []
