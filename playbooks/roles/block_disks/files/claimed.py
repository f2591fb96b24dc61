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
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # the process has ended meanwhile
            if "/dev/" in os.readlink(link) and int(link.parts[2]) != os.getpid():
                there = link.stat()
                if stat.S_ISBLK(there.st_mode) and there.st_rdev == number:
                    name = (link.parent.parent / "comm").read_text(errors="replace").strip()
                    found.append(f"process {link.parts[2]} ({name})")
    return list(dict.fromkeys(found))


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
