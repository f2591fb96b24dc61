"""Runs a command that formats a block device, if nobody uses the device: claimed.py DEVICE COMMAND...

It opens the device with O_EXCL, which the kernel refuses for one that is mounted, in an array, swapped to or claimed by
another process. Then it looks for processes that have the device open without a claim, for some seconds, because udev
opens a device for a moment after each change. It keeps its claim until the command replaces it; wipefs, mkfs and mdadm
claim the device themselves. Refuses to run the command otherwise, and to create a file.
"""

import contextlib
import os
import stat
import sys
import time
from pathlib import Path
from typing import NoReturn

WAIT_S = 5.0
PAUSE_S = 0.25


def users(number: int) -> list[str]:
    """The other processes that have the device open, each once."""
    found = []
    for pid in {name for name in os.listdir("/proc") if name.isdecimal()} - {str(os.getpid())}:
        with contextlib.suppress(OSError):  # the process has ended meanwhile
            if any(leads_to(f"/proc/{pid}/fd/{one}", number) for one in os.listdir(f"/proc/{pid}/fd")):
                name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
                found.append(f"process {pid} ({name})")
    return sorted(found)


def leads_to(link: str, number: int) -> bool:
    """Whether an open file is the device. Other files are not asked: a file system may never answer."""
    try:
        there = os.stat(link) if "/dev/" in os.readlink(link) else None
    except OSError:
        return False
    return there is not None and stat.S_ISBLK(there.st_mode) and there.st_rdev == number


def main(device: str, command: list[str]) -> NoReturn:
    """Becomes the command. Ends with a message, and with exit code 1, if the device is in use."""
    try:
        claim = os.open(device, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        sys.exit(f"{device} is in use: {error.strerror}")
    number, deadline = os.fstat(claim).st_rdev, time.monotonic() + WAIT_S
    while there := users(number):
        if time.monotonic() > deadline:
            sys.exit(f"{device} is in use: open by {', '.join(there)}")
        time.sleep(PAUSE_S)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
