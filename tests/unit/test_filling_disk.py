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


def test_a_disk_is_filling_if_less_is_left_than_a_part_of_what_the_load_took(wording):
    begun, full = sample(0, d1=0, d2=100), sample(0, d1=450, d2=0)
    assert filling_disk(begun, sample(1, d1=380, d2=100), DISKS) == ""
    assert filling_disk(full, sample(1, d1=460, d2=0), DISKS) == "", "it was nearly full before"
    assert filling_disk(replace(begun, disks={}), sample(1, d1=499, d2=499), DISKS) == ""
    wording(filling_disk(begun, sample(1, d1=390, d2=100), DISKS))


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
        loading = Loading(order, reached, load, Stop(), LOCAL, server.sampling)
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
