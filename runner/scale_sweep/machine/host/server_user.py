"""The user that servers run as when `scale` runs as root: `scale` if the machine has one, else `nobody`."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.host.host_facts import text_of

NAMES = ("scale", "nobody")
SETPRIV = "setpriv"  # of util-linux; minimal images of containers lack it
NO_SETPRIV = f"no program {SETPRIV}, which starts servers without rights"
MAKE_ONE = "useradd --system --no-create-home --shell /usr/sbin/nologin scale"
_TRY_S = 10.0
_NO_RIGHTS = ("--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all")
_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapAmb")


def server_user(*, needs_root: bool = False) -> pwd.struct_passwd | None:
    """The user that a server becomes; None: it keeps this process's. Raises ProvisionError if the machine has none."""
    if os.geteuid() != 0 or needs_root:
        return None
    for name in NAMES:
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            if user.pw_uid != 0:
                return user
    raise ProvisionError(
        f"servers do not run as root, and this machine has no user {' or '.join(NAMES)} besides root", remedy=MAKE_ONE
    )


def as_user(user: pwd.struct_passwd | None) -> list[str]:
    """The words before a program that runs as the user without any rights. It is killed with its parent."""
    words = [SETPRIV, "--pdeathsig", "KILL", *_NO_RIGHTS]
    if user is not None:
        words += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return words


def why_stuck() -> str:
    """Why this process cannot become the server's user, found by trying it once; "" if it can or need not."""
    return _tried() if shutil.which(SETPRIV) else NO_SETPRIV


@functools.cache
def _tried() -> str:
    try:
        user = server_user()
        if user is None:
            return ""
        done = run_within(_TRY_S, [*as_user(user), "true"])
    except ProvisionError as error:
        return error.message
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"setpriv ended with code {done.returncode}")


def remedy_of(why: str) -> str:
    return "apt-get install util-linux" if why == NO_SETPRIV else "run scale as a user who is not root"


@contextlib.contextmanager
def rights_of(user: pwd.struct_passwd | None) -> Iterator[None]:
    """Opens, makes and removes files with the user's rights in this thread. None: with this one's."""
    if user is None:
        yield
        return
    libc = ctypes.CDLL(None)
    try:
        libc.setfsgid(user.pw_gid)
        libc.setfsuid(user.pw_uid)
        if libc.setfsuid(-1) != user.pw_uid:  # a call reports nothing but the user before it
            raise ProvisionError(f"this process may not use the rights of {user.pw_name}")
        yield
    finally:
        libc.setfsuid(os.geteuid())
        libc.setfsgid(os.getegid())


def refuse_unexecutable(program: str, user: pwd.struct_passwd | None) -> None:
    """Raises ProvisionError."""
    if user is None or not (path := shutil.which(program)):
        return  # without the program, the launch reports it
    with rights_of(user):
        may = os.access(path, os.X_OK, effective_ids=True)
    if not may:
        raise ProvisionError(
            f"the server runs as {user.pw_name}, who may not execute {path}",
            remedy="install the server in a directory that every user may read",
        )


def closed_to_others(folder: Path) -> str:
    """The first directory on the path that other users may not enter; "" if they may enter all."""
    way = [p for p in (folder.absolute(), *folder.absolute().parents) if p.exists()]
    return next((str(p) for p in reversed(way) if not p.stat().st_mode & 0o001), "")


def privileges(pids: Sequence[int], needs_root: str) -> Mapping[str, str]:
    """The user and the capabilities of processes, as the kernel reports them, and why they need root."""
    states = [state for pid in pids if (state := _status(pid))]
    if not states:
        return {}
    uids = sorted({int(uid) for state in states for uid in state["Uid"].split()})
    held = functools.reduce(int.__or__, (int(state[name], 16) for state in states for name in _CAPABILITIES))
    why = {"needs_root": needs_root} if needs_root else {}
    return {"user": " ".join(map(_name, uids)), "capabilities": f"{held:x}" if held else "none", **why}


def _status(pid: int) -> dict[str, str]:
    return dict(re.findall(r"^(\w+):\s+(.*)$", text_of(Path(f"/proc/{pid}/status")), re.MULTILINE))


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
