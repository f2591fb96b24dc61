"""Does the server honour several data directories? Asked once before a disk sweep, by trying it.

A server is started with one data directory on each disk, a database is made, and the place of every part is read back.
Refuses to believe a version or an edition.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace

from runner.errors import ScaleError
from runner.model import Trial
from runner.trial.placed import prove_placement, trial_disks
from runner.trial.provision import provision
from runner.trial.setup import TrialSetup
from runner.trial.waiting import wait_for


def honours_tiers(setup: TrialSetup, trial: Trial) -> tuple[bool, str]:
    """Whether the parts of a database came on every disk of the trial, and what was seen. Leaves nothing."""
    setup = replace(setup, sweep=replace(setup.sweep, disk_placement="tiers"))
    disks = trial_disks(setup, trial)
    try:
        with ExitStack() as cleanup:
            counts = _try(setup, trial, cleanup)
    except ScaleError as error:
        return False, f"the server did not show that it honours several data directories: {error.message}"
    told = f"several data directories: they got {', '.join(map(str, counts))} parts of the database"
    if len(counts) == len(disks) and all(counts):
        return True, f"the server honours {told}"
    return False, f"the server does not honour {told}"


def _try(setup: TrialSetup, trial: Trial, cleanup: ExitStack) -> list[int]:
    disks = trial_disks(setup, trial)
    server, address = provision(setup, trial, "probe", cleanup)
    with closing(setup.target.session(trial, address)) as session:
        wait_for(server, session.not_ready, "the server was not ready")
        session.create_schema()
        wait_for(server, session.schema_pending, "the schema was not ready")
        told = prove_placement(session.parts(), disks, address.disks)
    return [int(n) for n in told.get("parts_per_disk", "").split(",") if n]
