"""The limit of open files of this process, which the servers and load generators that it starts inherit."""

from __future__ import annotations

import errno
import resource

REMEDY = "raise it in the shell, like ulimit -n 4096, and start again"


def limit() -> int:
    """The number of files that this process may have open; a very large one if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 2**62


def is_reached(error: OSError) -> bool:
    """Whether the error is the limit of this process, or that of the machine."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def reached_words(error: OSError) -> str:
    if error.errno == errno.ENFILE:
        return "this machine has as many files open as it may (fs.file-max)"
    return f"too many open files: the limit is {limit()} (ulimit -n)"
