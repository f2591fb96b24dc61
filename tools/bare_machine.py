"""The README's two commands on a machine that has what the README names, and nothing else.

    python3 tools/bare_machine.py          this machine's Debian: an ordinary user, a chroot, root in a container
    python3 tools/bare_machine.py --all    Debian 12 and 13, root and an ordinary user, three times; the containers;
                                           the first round ends with the refusals of Debian 13

Makes a minimal Debian of the packages in the README's line, puts a clone of this checkout there, and runs `make sweep`
and `make test` in mount and process namespaces of their own. The kernel, the network and pip's index are this
machine's. The index is offered by plain HTTP on this machine's loopback, so no certificate is needed behind it. Prints
a line for each command. Nothing stays but what CACHE keeps: the Debian systems and the files of the index.

Needs root, Docker Engine, and Debian's packages mmdebstrap, git and python3-pip.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.bare_index import served_index  # noqa: E402

CACHE = Path("/var/cache/scale-bare-machine")
USER = "stranger"
CHECKOUT = "my scäle"  # what shells, makefiles and tools forget: a space, and a letter beyond ASCII
SWEEP, TEST, SETUP = "make sweep", "make test", "make setup"
SHORT = f"{SWEEP} CORES=1 ARGS=--replicates=1"  # on more machines: it must end well, its verdict may vary
LIMIT = 2400  # seconds for one command, on a busy machine
SUITES = ("bookworm", "trixie")
BUSY = "No VALID trial: other programs took"
ENDED = "The sweep ended and wrote its report."  # the Makefile, if no trial is VALID
# Arguments: the new root, size of /dev/shm, `mounted` or `chroot`, the user, the folder, the command.
ENTER = r"""
cd "$1"
[ "$3" != mounted ] || { mount --bind . "$1"; cd "$1"; }
mount -t proc proc proc; mount --rbind /sys sys; mount -t tmpfs -o mode=755 tmpfs dev
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"; done
mknod -m 666 dev/tty c 5 0; mkdir dev/pts dev/shm; ln -s /proc/self/fd dev/fd
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o "nosuid,nodev,mode=1777,size=$2" tmpfs dev/shm
[ "$3" != mounted ] || { pivot_root . .; umount -l .; }
# Not `exec`: root stays the first process, because a change of the user would stop that it ends with its parent.
chroot --userspec="$4" . env -i HOME="${5%/*}" USER="$4" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
    TERM=dumb ${7:+"SCALE_NOTE_PASSED=$7"} sh -c 'cd "$1" && $2' sh "$5" "$6" || exit $?
"""
ENDS_WITH_THIS = ("setpriv", "--pdeathsig", "KILL")  # a child ends also if this program is killed


@dataclass(frozen=True, kw_only=True)
class Case:
    """Commands of one user on one new machine."""

    suite: str
    user: str
    commands: tuple[str, ...]
    place: str = "mounted"  # or `chroot`: a root that is no mount point; or `container`
    shared_memory: str = "50%"  # of the memory, which /dev/shm has on Linux; a container has Docker's 64m
    continues: bool = False  # on the machine of the case before
    without: tuple[str, ...] = ()  # packages that are removed again
    has_network: bool = True
    refusal: str = ""  # what the command must say and then fail; empty: it must end well

    @property
    def folder(self) -> str:
        """The checkout, as the machine names it."""
        return f"{'/root' if self.user == 'root' else f'/home/{self.user}'}/{CHECKOUT}"


def main(arguments: Sequence[str]) -> int:
    """The number of commands that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="two releases of Debian, root and user, three times")
    parser.add_argument("--suite", default=platform.freedesktop_os_release().get("VERSION_CODENAME"), choices=SUITES)
    parser.add_argument("--passed", type=Path, metavar="FILE", help="gets the tests that passed for the ordinary user")
    parser.add_argument("--logs", type=Path, default=ROOT / "build/bare", help="output of each command: build/bare")
    given = parser.parse_args(arguments)
    for program in ("mmdebstrap", "git", "docker"):
        if shutil.which(program) is None:
            parser.error(f"{program} is missing: apt-get install mmdebstrap git docker.io")
    if os.geteuid():
        parser.error("root is needed, for the root file system")
    given.logs.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with ExitStack() as opened:
        opened.enter_context(cache_of_this_run())
        index = opened.enter_context(served_index(CACHE / "files"))
        cases = tuple(all_cases()) if given.all else usual_cases(given.suite)
        return sum(run(case, number, index, given) for number, case in enumerate(cases, 1))


def usual_cases(suite: str) -> tuple[Case, ...]:
    """What continuous integration runs."""
    user = Case(suite=suite, user=USER, commands=(SWEEP, TEST), continues=True)
    return (
        *refusals(suite),
        user,
        replace(user, commands=(SHORT,), place="chroot", shared_memory="64m"),
        Case(suite=suite, user="root", commands=(SHORT,), place="container", shared_memory="64m"),
    )


def refusals(suite: str) -> Iterator[Case]:
    """Where a part is missing, the set-up names its package before it downloads."""
    case = Case(suite=suite, user=USER, commands=(SETUP,))
    venv = ("python3-venv", "python3.11-venv" if suite == "bookworm" else "python3.13-venv")
    yield replace(case, without=venv, refusal="apt-get install python3-venv\n")
    case = replace(case, continues=True)
    yield replace(case, without=("libc6-dev",), refusal="apt-get install python3-venv libc6-dev\n")
    yield replace(case, without=("gcc",), refusal="apt-get install python3-venv gcc libc6-dev\n")
    yield replace(case, continues=False, has_network=False, refusal="setup: the package index does not answer: http")


def all_cases() -> Iterator[Case]:
    """Three times, and each time another kind of machine. Each release as root and as a user comes first."""
    kinds = (("mounted", "50%"), ("mounted", "64m"), ("chroot", "50%"))
    for place, memory in kinds:
        for suite in SUITES:
            for user in ("root", USER):
                yield Case(suite=suite, user=user, commands=(SWEEP, TEST), place=place, shared_memory=memory)
            if (place, memory) == kinds[0]:
                yield Case(suite=suite, user="root", commands=(SWEEP,), place="container", shared_memory="64m")
                yield from refusals(suite)


@contextmanager
def cache_of_this_run() -> Iterator[None]:
    """Only root reads it, and one run at a time uses it. What a killed run left there goes."""
    CACHE.mkdir(mode=0o700, exist_ok=True)
    found = CACHE.lstat()
    if found.st_uid or found.st_mode & 0o077 or CACHE.is_symlink():
        sys.exit(f"{CACHE} is open to other users: remove it")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove(CACHE / "root")
        try:
            yield
        finally:
            remove(CACHE / "root")


def remove(folder: Path) -> None:
    """Mounts in it were another namespace's: here it has none."""
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def packages() -> tuple[str, ...]:
    """Those of the README's line for Debian."""
    found = re.search(r"apt-get install ([a-z0-9 .+-]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        sys.exit("README.md has no line `apt-get install ...`")
    return tuple(found[1].split())


def system(suite: str) -> Path:
    """The archive of a minimal Debian with the README's packages, from this machine's mirror; kept in CACHE."""
    archive = CACHE / f"{suite}+{'+'.join(packages())}.tar"
    if not archive.exists():
        print(f"{suite}: making a minimal Debian with {' '.join(packages())} ...", flush=True)
        part = archive.with_suffix(".part.tar")
        debian(suite, packages(), part)
        part.rename(archive)
    return archive


def debian(suite: str, names: Sequence[str], archive: Path) -> None:
    """A minimal one with these packages."""
    uris = subprocess.check_output(["apt-get", "indextargets", "--format", "$(REPO_URI)"], text=True).split()
    mirror = next(uri for uri in uris if uri.rstrip("/").endswith("/debian"))
    settings = subprocess.check_output(["apt-config", "dump"], text=True).splitlines()
    kept = [f"--aptopt={line}" for line in settings if line.startswith(("Acquire::Check-", "Acquire::http"))]
    made = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", *kept]
    subprocess.run([*made, f"--include={','.join(names)}", suite, str(archive), mirror], check=True)


def run(case: Case, number: int, index: str, given: argparse.Namespace) -> int:
    """Makes the machine and runs the commands there. The number of those that failed."""
    root = CACHE / "root"
    if not case.continues:
        make_root(root, case, index)
    if case.without:
        purge = ["chroot", root, "dpkg", "--purge", "--force-depends", *case.without]
        subprocess.run(purge, check=True, capture_output=True)
    failed = sum(not is_well(case, number, root, command, given.logs) for command in case.commands)
    noted = root / f"home/{USER}/passed"
    if given.passed and noted.exists():
        given.passed.write_bytes(noted.read_bytes())
    return failed


def make_root(root: Path, case: Case, index: str) -> None:
    """A new Debian with the user and the checkout. Of this machine it gets the addresses of names, and pip's index."""
    remove(root)
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", system(case.suite)], check=True)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    (root / "etc/pip.conf").write_text(f"[global]\nindex-url = {index}\n")
    subprocess.run(["chroot", root, "useradd", "--create-home", "--shell", "/bin/sh", USER], check=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{root}{case.folder}"], check=True)
    subprocess.run(["chroot", root, "chown", "-R", f"{case.user}:", case.folder], check=True)


def is_well(case: Case, number: int, root: Path, command: str, logs: Path) -> bool:
    """Runs one command, and prints its line."""
    log = logs / f"{number}-{case.suite}-{case.user}-{case.place}-{command.replace(' ', '-')}.log"
    begun = time.monotonic()
    with log.open("wb") as output:
        code = (in_container if case.place == "container" else in_namespaces)(case, root, command, output)
    text = log.read_text(encoding="utf-8", errors="replace")
    is_busy = {SWEEP: BUSY, SHORT: ENDED}.get(command, "\0") in text  # the sweep ran, but measured no speedup
    is_expected = code != 0 and case.refusal in text if case.refusal else code == 0 or is_busy
    size = megabytes(root / case.folder.lstrip("/") / ".venv")
    stated = re.search(rf"{command} .*\b(\d+) MB", (ROOT / "README.md").read_text(encoding="utf-8"))
    # In the chroot `make test` ran before, so .venv has its packages too.
    fits = stated is None or case.place != "mounted" or size <= int(stated[1])
    where = f"{case.suite}, {case.user}, {case.place}, /dev/shm {case.shared_memory}"
    where += f", without {' '.join(case.without)}" if case.without else "" if case.has_network else ", without network"
    word = "ok" if is_expected and fits else f"FAILED (code {code}, see {log})"
    word += "" if fits else f": more than the {stated[1]} MB of README.md" if stated else ""
    took = f"{time.monotonic() - begun:.0f} s" + (f", .venv {size} MB" if size else "")
    print(f"{where}: {command}: {word}, {took}: {case.refusal.strip() or last_result(text)}", flush=True)
    if not is_expected:
        print(*(failed_tests(text) or text.splitlines()[-20:]), sep="\n", flush=True)
    return is_expected and fits


def megabytes(folder: Path) -> int:
    """Of its files on the disk; 0 if there is none."""
    return int(subprocess.check_output(["du", "-sm", folder], text=True).split()[0]) if folder.exists() else 0


def in_namespaces(case: Case, root: Path, command: str, output: IO[bytes]) -> int:
    """The exit code. All processes and mounts end with the first process of the namespaces."""
    noted = f"/home/{USER}/passed" if (case.user, command) == (USER, TEST) else ""
    words = (root, case.shared_memory, case.place, case.user, case.folder, command, noted)
    enter = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
             *(() if case.has_network else ("--net",)), "sh", "-euc", ENTER)  # fmt: skip
    process = subprocess.Popen(
        [*ENDS_WITH_THIS, *enter, "enter", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
    )  # fmt: skip
    return until_it_ends(process)


def in_container(case: Case, root: Path, command: str, output: IO[bytes]) -> int:
    """The same in Docker with its defaults, but for the network: the index is on this machine's loopback."""
    name = "scale-bare-machine"
    try:
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as packed:
            subprocess.run(["docker", "import", "-", name], stdin=packed.stdout, stdout=output, check=True)
        words = ["docker", "run", "--rm", "--name", name, "--network", "host", "--workdir", case.folder, name]
        process = subprocess.Popen([*words, *command.split()], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        return until_it_ends(process)
    finally:
        for removal in (("rm", "--force", name), ("rmi", "--force", name)):
            subprocess.run(["docker", *removal], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until_it_ends(process: subprocess.Popen[bytes]) -> int:
    """Its exit code. It is ended after LIMIT, and when this program ends."""
    try:
        return process.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return 124
    finally:
        process.kill()
        process.wait()


def failed_tests(text: str) -> list[str]:
    """pytest's summary of them, and the errors it marked."""
    return re.findall(r"^(?:FAILED .*|ERROR .*|E   .*)", text, re.MULTILINE)[:60]


def last_result(text: str) -> str:
    """Of a sweep its first finding, of the tests their numbers, else the last line."""
    lines = [line for line in re.split(r"[\r\n]+", text) if line]
    results = [line for line in lines if re.search(rf"speedup \d|\d+ of \d+ tests|{BUSY}", line)] or lines
    return results[-1][:140] if results else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
