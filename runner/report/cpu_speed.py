"""Were the CPUs of all trials equally fast? From the manifest's `cpu_work_us`; an old run says nothing."""

from __future__ import annotations

from runner.model import StoredRun

_APART = 1.15  # of the same CPUs at rest; two measurements on a quiet machine differ by 1.05


def speed_cautions(run: StoredRun) -> tuple[str, ...]:
    """A sentence if the same work took clearly more CPU time before one trial than before another."""
    stored = run.manifest.get("cpu_work_us")
    values = stored.values() if isinstance(stored, dict) else ()
    found = [value for value in values if isinstance(value, int | float) and value > 0]
    if not found or max(found) < _APART * min(found):
        return ()
    sentence = (
        f"the speed of the CPUs changed: the same work took {min(found):.0f} to {max(found):.0f} µs of CPU time before "
        "the trials. Other machines that share the cores cause it, and steal time does not show it"
    )
    return (sentence,)
