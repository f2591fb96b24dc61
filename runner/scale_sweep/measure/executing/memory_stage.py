"""The memory of a run: held for the server where new pages are dear, and taken again before each trial.

Refuses to hold on its own account: the plan says how much.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from scale_sweep.machine.host.held_memory import HeldMemory
from scale_sweep.model import Trial

Say = Callable[[str], None]
_ENOUGH = 0.95  # of what was wanted


@contextlib.contextmanager
def memory_of_run(wanted_bytes: int, cpus: Sequence[int], say: Say) -> Iterator[Callable[[Trial], None]]:
    """Yields what to call before each trial. wanted_bytes: what a trial may use; 0: nothing is held. cpus: where the
    work of holding is done."""
    if not wanted_bytes:
        yield lambda trial: None
        return
    say(f"holding {wanted_bytes / 1e9:.1f} GB of memory for the server")
    with HeldMemory(wanted_bytes, cpus) as held:

        def before_trial(trial: Trial) -> None:
            if (bytes_held := held.take()) < _ENOUGH * wanted_bytes:
                say(f"only {bytes_held / 1e9:.1f} GB of memory are held: pages beyond that are dear")

        yield before_trial
