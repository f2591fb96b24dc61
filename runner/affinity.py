"""The CPUs of a process before its first instruction: it inherits those that its parent's thread has at that moment.

Refuses to change them for longer than the block. In another thread nothing changes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def on_cpus(cpus: Sequence[int]) -> Iterator[None]:
    """This thread's CPUs inside the block; a child that is started there has them too. Raises OSError."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
