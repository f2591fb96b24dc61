"""The load hosts of a run whose load was made elsewhere, from its manifest. Says so if other servers used them too."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.model import StoredRun
from scale_sweep.report.run_facts import Fact


def load_hosts(run: StoredRun) -> tuple[Fact, ...]:
    """One fact: the names of the load hosts; none for a load on the server's machine."""
    hosts = run.manifest.get("hosts")
    names = hosts.get("load") if isinstance(hosts, Mapping) else None
    if not isinstance(names, (list, tuple)) or not names:
        return ()
    shared = ", shared with the other servers of the fleet at the same time" if is_shared(run) else ""
    return (("Load hosts", ", ".join(map(str, names)) + shared),)


def is_shared(run: StoredRun) -> bool:
    """Whether other servers were loaded from the same hosts meanwhile."""
    fleet = run.manifest.get("fleet")
    return isinstance(fleet, Mapping) and fleet.get("share_load") is True
