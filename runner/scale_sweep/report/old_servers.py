"""Says which servers of a run were old: a current version may be faster, or slower.

The months in which versions came out are in the manifest, as they were known when the run was made.
"""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.texts import OLD_YEARS, age_years, released_in
from scale_sweep.model import StoredRun


def old_servers(run: StoredRun) -> tuple[str, ...]:
    """One sentence about all servers whose versions were older than OLD_YEARS when the run was made; empty if none
    was."""
    released, made = run.manifest.get("released"), str(run.manifest.get("created_utc") or "")
    if not isinstance(released, Mapping) or not made:
        return ()
    versions = {(r.trial.subject.target, r.effective.get("server_version", "")): None for r in run.results}
    old = []
    for name, version in versions:
        of_target = released.get(name)
        months = {str(k): str(v) for k, v in of_target.items()} if isinstance(of_target, Mapping) else {}
        month = released_in(months, version)
        if month and age_years(month, made) >= OLD_YEARS:
            old.append((f"{name} {version}", month, f"{age_years(month, made):.0f} years old"))
    if len(old) > 1:
        each = ", ".join(f"{server} of {month} ({age})" for server, month, age in old)
        return (f"{len(old)} servers were old, and current versions may differ: {each}",)
    return tuple(
        f"{server} came out in {month}: it was {age}, and a current version may differ" for server, month, age in old
    )
