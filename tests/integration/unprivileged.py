"""What the kernel says of a trial's server: whose its processes are, what they may do, and whose its directory is."""

from __future__ import annotations

import os
import pwd
import re
import stat
from pathlib import Path

from scale_sweep.base.interrupts import current
from scale_sweep.machine.host.server_user import server_user
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import Event, PhaseEntered
from tests.unit.trial_orders import RUN, here

CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapAmb")


def watched(order: TrialOrder) -> list[Event]:
    """The events of a trial in this thread. Root looks at the server's processes when the load is over, and asserts that
    they have neither root's user nor any of its rights."""
    if os.geteuid() != 0:
        return here(order)
    events, looked = [], 0
    for event in run_trial(order, current()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "verify":
            looked += 1
            (folder,) = (path for path in Path(order.data_dir).glob(f"{RUN}-*") if path.is_dir())
            assert_unprivileged(pids_of_groups(), folder)
    assert looked, "the trial ended before its rows were counted"
    return events


def pids_of_groups() -> list[int]:
    """All members of the control groups of this process's trials."""
    found = Path("/sys/fs/cgroup").glob(f"**/scale-{RUN}-*/cgroup.procs")
    return sorted({int(line) for path in found for line in path.read_text().split()})


def assert_unprivileged(pids: list[int], folder: Path) -> None:
    """Each process has the server's user, no other group, no capability and no way to new rights; the directory is that
    user's alone."""
    user = server_user()
    assert user is not None
    assert pids
    for pid in pids:
        status = dict(re.findall(r"^(\w+):[ \t]*(.*)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE))
        assert set(status["Uid"].split()) == {str(user.pw_uid)} != {"0"}, status
        assert {*status["Gid"].split(), *status["Groups"].split()} == {str(user.pw_gid)}, status
        assert {int(status[name], 16) for name in CAPABILITIES} == {0}, status
        assert status["NoNewPrivs"] == "1", status
    seen = folder.stat()
    assert (pwd.getpwuid(seen.st_uid).pw_name, stat.S_IMODE(seen.st_mode)) == (user.pw_name, 0o700)
