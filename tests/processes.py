"""Whether a process of a test still runs. Refuses to fail where it ends while it is asked."""

import psutil


def lives(pid: int) -> bool:
    """False also for a process that ended and that its parent has not waited for."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
