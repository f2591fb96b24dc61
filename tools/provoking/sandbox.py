"""A closed place for one command: own processes, mounts, devices, shared memory and network; the machine is read-only.

So no provocation can format, mount, install, reach another host, end another process or change a file of the machine,
whatever `scale` does with it. Needs root. Refuses to go on if the kernel refuses one of the steps.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

NEW = {"mount": 0x00020000, "uts": 0x04000000, "ipc": 0x08000000, "pid": 0x20000000, "net": 0x40000000}
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, READ_ONLY = 442, -100, 0x8000, 1
EMPTY = ("/tmp", "/var/tmp", "/run", "/var/lib", "/dev")  # own, empty directories instead of the machine's
DEVICES = ("null", "zero", "full", "random", "urandom")
CASE = Path("/tmp/case")  # the working directory of the command
HOME = Path("/tmp/home")
# What would open a way out: mounts, devices, modules, clocks, interfaces, other processes' memory.
CAPABILITIES = {
    "NET_ADMIN": 12,
    "SYS_MODULE": 16,
    "SYS_RAWIO": 17,
    "SYS_ADMIN": 21,
    "SYS_BOOT": 22,
    "SYS_TIME": 25,
    "MKNOD": 27,
}
_libc = ctypes.CDLL(None, use_errno=True)


def leave_machine() -> None:
    """Gives this process own name spaces. Its next child is the first process of the new ones. Raises OSError."""
    _checked(_libc.unshare(sum(NEW.values())), "unshare")


def close() -> None:
    """Makes the machine read-only, with own empty directories where programs write. Called by the first process of the
    new name spaces. Raises OSError."""
    kept = [(path, os.open(path, os.O_PATH)) for path in _needed()]
    devices = [(name, os.open(f"/dev/{name}", os.O_PATH)) for name in DEVICES]
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    for place in EMPTY:
        _mount("provoke", place, "tmpfs", 0)
        os.chmod(place, 0o1777 if place.endswith("tmp") else 0o755)
    for path, held in kept:
        path.mkdir(parents=True, exist_ok=True)
        _mount(f"/proc/self/fd/{held}", str(path), "", MS_BIND | MS_REC)
    for name, held in devices:
        Path("/dev", name).touch()
        _mount(f"/proc/self/fd/{held}", f"/dev/{name}", "", MS_BIND)
    for held in (*(fd for _, fd in kept), *(fd for _, fd in devices)):
        os.close(held)
    Path("/dev/shm").mkdir(mode=0o1777)
    os.chmod("/dev/shm", 0o1777)
    for name, source in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path("/dev", name).symlink_to(source)
    _mount("proc", "/proc", "proc", 0)
    _read_only("/", recursively=True)
    for place in EMPTY:
        _read_only(place, recursively=False, undo=True)
    _loopback_up()


def give_up_power() -> None:
    """Drops the capabilities that could undo `close`, for this process and all that it starts. Raises OSError."""
    for number in CAPABILITIES.values():
        _checked(_libc.prctl(24, number, 0, 0, 0), "prctl")  # PR_CAPBSET_DROP
    header = struct.pack("=II", 0x20080522, 0)
    sets = ctypes.create_string_buffer(24)
    _checked(_libc.capget(header, sets), "capget")
    words = list(struct.unpack("=6I", sets.raw[:24]))
    for number in CAPABILITIES.values():
        for index in range(3):
            words[index] &= ~(1 << number)
    _checked(_libc.capset(header, struct.pack("=6I", *words)), "capset")


def _needed() -> Iterator[Path]:
    """What lies below a directory that becomes empty and has to stay: this checkout, Python, programs of PATH."""
    roots = [Path(__file__).resolve().parents[2], Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()]
    roots += [Path(entry).resolve() for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    roots += [Path(entry).resolve() for entry in sys.path if entry]
    for path in dict.fromkeys(roots):
        if path.is_dir() and any(path.is_relative_to(place) and str(path) != place for place in EMPTY):
            yield path


def _read_only(path: str, *, recursively: bool, undo: bool = False) -> None:
    attributes = struct.pack("=QQQQ", 0 if undo else READ_ONLY, READ_ONLY if undo else 0, 0, 0)
    how = AT_RECURSIVE if recursively else 0
    _checked(_libc.syscall(MOUNT_SETATTR, AT_FDCWD, path.encode(), how, attributes, len(attributes)), path)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    _checked(_libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, None), f"mount {target}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
