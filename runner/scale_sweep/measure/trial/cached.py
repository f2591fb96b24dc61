"""What of the data is in memory when a load begins: nothing changed, all read before, or taken out of the page cache.

For cold data the server is ended, the pages of its files are dropped, and it is started again, so that neither it nor
the kernel remembers them. Refuses to call data cold that stay in memory.
"""

from __future__ import annotations

from contextlib import ExitStack

from scale_sweep.base.errors import ProvisionError
from scale_sweep.measure.trial.data_set import end_cleanly, forget_logs
from scale_sweep.measure.trial.provision import Provisioned, Reached, started_again
from scale_sweep.model import Preloaded
from scale_sweep.server.runtimes import Runtime
from scale_sweep.server.runtimes.page_cache import drop_files, read_files, resident_percent

COLD_PERCENT_MAX = 10.0  # what a server that starts reads of a small data set
WARM_PERCENT_LEAST = 90.0


def cooled(
    started: Provisioned, reached: Reached, there: Preloaded, runtime: Runtime, cleanup: ExitStack
) -> Provisioned:
    """The server started again, on files that were not in memory. Raises ProvisionError, Stopped."""
    end_cleanly(reached, there)
    forget_logs(started.order)
    folders = _folders(reached)
    drop_files(folders)
    left = resident_percent(folders)
    if left is None or left > COLD_PERCENT_MAX:
        share = "how much is not known" if left is None else f"{left:.0f} % of them"
        raise ProvisionError(
            f"the data are not cold: their files in {folders[0]} stay in memory ({share})",
            remedy="--data-dir DIR on a disk, or --cache as-is",
        )
    return started_again(started, runtime, cleanup)


def warmed(reached: Reached) -> str:
    """Reads the data's files once. Returns why they are not all in memory, for people; "" when they are."""
    count = read_files(_folders(reached))
    found = cached_percent(reached)
    if found is None or found >= WARM_PERCENT_LEAST:
        return ""
    return f"only {found:.0f} % of the {count / 1e9:.3g} GB of data stay in the page cache after they were read"


def cached_percent(reached: Reached) -> float | None:
    """Of the pages of the server's files, those in memory now; None where they cannot be seen."""
    return resident_percent(_folders(reached))


def _folders(reached: Reached) -> list[str]:
    return [path for path in (reached.address.data_dir, *reached.address.disks) if path]
