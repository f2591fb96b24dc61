"""One trial of a few rows on a real server: what it counts, and what the kernel says of the rights of its server."""

from __future__ import annotations

import json
import os
import pwd
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from scale_sweep.base.interrupts import current
from scale_sweep.machine.host.server_user import server_user
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import Event, PhaseEntered
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets import Target
from tests.integration.cli import ours_running
from tests.integration.real_server import with_rows
from tests.unit.trial_orders import RUN, artifact_of, here, result_of, trial_order


def short_trial(target: Target, folder: Path, rows: int, **flags: str) -> Mapping[str, str]:
    """Starts it, writes, counts, flushes and stops it. Its settings as it reported them."""
    order = with_rows(trial_order(folder, target.facts.name, load__warmup="0s", **flags), rows)
    events = watched(order)
    result = result_of(events)
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    facts = json.loads(artifact_of(events, "facts.json"))
    assert result.measurement.rows_counted == result.measurement.rows_acked == rows, result.verdict
    assert result.measurement.durable_rows_per_s
    assert (facts["mismatches"], facts["suspicious"], facts["counted"]["gaps"]) == ([], [], [])
    assert result.effective["server_version"]
    assert ours_running(folder) == []
    return result.effective


def one_row_of_each_time_is_kept(name: str, folder: Path, rows: int) -> None:
    """Of rows that are sent twice, a database of series keeps one, and no more are expected when they are counted."""
    order = {"workload__disorder": "poisson", "workload__disorder_ratio": "50%", "load__warmup": "0s"}
    delays = {"workload__disorder_lambda": "40", "workload__disorder_max_k": "100"}
    events = here(with_rows(trial_order(folder, name, **order, **delays), rows))
    facts, result = json.loads(artifact_of(events, "facts.json")), result_of(events)
    kept = json.loads(artifact_of(events, "loadgen.jsonl").splitlines()[-1])["rows_distinct"]
    assert result.measurement is not None and result.measurement.rows_acked == rows
    assert facts["counted"]["rows"] == kept == pytest.approx(0.7 * rows, rel=0.05)
    assert result.verdict.kind not in (VerdictKind.LOST_ROWS, VerdictKind.ABORTED, VerdictKind.ERRORS), result.verdict


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
