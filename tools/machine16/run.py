"""Tries `scale` on a machine with 16 CPUs (SMT, two NUMA nodes), systemd and cgroup v2, which QEMU emulates.

    python tools/machine16/run.py                 all steps: makes a Debian with this checkout, boots it; 20 minutes
    python tools/machine16/run.py plan judge      these steps (inside.py lists them)
    python tools/machine16/run.py --keep          leaves the machine's disk, for the next call and for `ssh`

Correctness only: an emulated CPU is about 20 times slower than a real one. Prints a table of check, expected and seen;
the exit code is 1 if a check failed. Needs root, 8 GB of disk in /var/tmp, 5 GB of memory, and Debian's packages
qemu-system-x86, mmdebstrap, e2fsprogs, git, openssh-client and python3-pip.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools.bare_index import served_index  # noqa: E402
from tools.bare_machine import debian, remove  # noqa: E402
from tools.machine16.inside import STEPS  # noqa: E402

PLACE = Path("/var/tmp/scale-machine16")  # only root's
DISK, KEY, SYSTEM = PLACE / "disk.img", PLACE / "key", PLACE / "root"
PACKAGES = (
    "linux-image-cloud-amd64 initramfs-tools systemd-sysv dbus udev openssh-server python3-venv gcc libc6-dev git kmod "
    "ca-certificates iproute2 procps fio docker.io apparmor"
).split()
PROGRAMS = ("qemu-system-x86_64", "mmdebstrap", "mke2fs", "git", "ssh")
NETWORK = "[Match]\nName=en*\n[Network]\nDHCP=yes\n"
BOOT_S, STEP_S = 600, 1800
INSTALL = "cd /opt/scale && tools/setup python3 .venv . && ln -s /opt/scale/.venv/bin/scale /usr/local/bin"


def main(arguments: Sequence[str]) -> int:
    """1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)}; default: all")
    parser.add_argument("--keep", action="store_true", help=f"leave {PLACE}")
    given = parser.parse_args(arguments)
    if unknown := set(given.steps) - set(STEPS):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    if lacking := [name for name in PROGRAMS if shutil.which(name) is None]:
        parser.error(
            f"missing: {', '.join(lacking)}: apt-get install qemu-system-x86 mmdebstrap e2fsprogs git openssh-client"
        )
    if os.geteuid():
        parser.error("root is needed, for the root file system")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    PLACE.mkdir(mode=0o700, exist_ok=True)
    if PLACE.is_symlink() or PLACE.stat().st_uid or PLACE.stat().st_mode & 0o077:
        parser.error(f"{PLACE} is open to other users: remove it")
    rows: list[dict[str, object]] = []
    try:
        if not DISK.exists():
            make()
        with booted() as port:
            for step in given.steps or STEPS:
                rows += tried(step, port)
    finally:
        if not given.keep:
            remove(PLACE)
    failed = sum(not row["ok"] for row in rows)
    print(f"{len(rows)} checks, {failed} failed")
    return 1 if failed else 0


def make() -> None:
    """The disk of a Debian with this checkout, which only this program can enter."""
    print("making a Debian with this checkout: 3 minutes", flush=True)
    remove(SYSTEM)
    SYSTEM.mkdir()
    archive = PLACE / "system.tar"
    debian("bookworm", PACKAGES, archive)
    subprocess.run(("tar", "-C", SYSTEM, "-xf", archive), check=True)
    archive.unlink()
    subprocess.run(("git", "clone", "--quiet", "--no-hardlinks", ROOT, SYSTEM / "opt/scale"), check=True)
    files = PLACE / "files"
    files.mkdir(exist_ok=True)
    with served_index(files) as index:
        shutil.copy("/etc/hosts", SYSTEM / "etc/hosts")
        (SYSTEM / "etc/pip.conf").write_text(f"[global]\nindex-url = {index}\n")
        subprocess.run(
            ("chroot", SYSTEM, "env", "-i", "HOME=/root", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "sh", "-ec", INSTALL),
            check=True,
        )
    remove(files)
    make_disk()


def make_disk() -> None:
    """Of SYSTEM, with a new key for its only user."""
    KEY.unlink(missing_ok=True)
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", KEY), check=True)
    (SYSTEM / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
    shutil.copy(KEY.with_suffix(".pub"), SYSTEM / "root/.ssh/authorized_keys")
    (SYSTEM / "etc/systemd/network/10.network").write_text(NETWORK)
    subprocess.run(("chroot", SYSTEM, "systemctl", "--quiet", "enable", "systemd-networkd", "ssh"), check=True)
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(next((SYSTEM / "boot").glob(f"{name}-*")), PLACE / name)
    part = DISK.with_suffix(".part")
    subprocess.run(("mke2fs", "-q", "-t", "ext4", "-d", SYSTEM, part, "8G"), check=True)
    part.rename(DISK)
    remove(SYSTEM)


@contextmanager
def booted() -> Iterator[int]:
    """The port of its SSH server on loopback. The machine reaches no network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    nodes = [f"-numa node,nodeid={n},cpus={8 * n}-{8 * n + 7},memdev=m{n}" for n in (0, 1)]
    memory = [f"-object memory-backend-ram,id=m{n},size=2G" for n in (0, 1)]
    words = (
        "-machine q35 -accel tcg,thread=multi -cpu Nehalem -m 4G -smp 16,sockets=2,cores=4,threads=2 -no-reboot "
        f"-display none -serial file:{PLACE}/console.log -device virtio-rng-pci -device virtio-net-pci,netdev=n "
        f"-netdev user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22 -kernel {PLACE}/vmlinuz "
        f"-initrd {PLACE}/initrd.img -drive file={DISK},if=virtio,format=raw,cache=unsafe"
    ).split()
    words += [*" ".join((*memory, *nodes)).split(), "-append", "root=/dev/vda rw console=ttyS0 quiet mitigations=off"]
    print("booting", flush=True)
    machine = subprocess.Popen(("setpriv", "--pdeathsig", "KILL", "nice", "-n", "19", "qemu-system-x86_64", *words))
    try:
        deadline = time.monotonic() + BOOT_S
        while not inside(port, "true", 60)[0]:
            if machine.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"the machine did not boot within {BOOT_S} s: {PLACE}/console.log (with --keep)")
            time.sleep(3)
        yield port
    finally:
        machine.kill()
        machine.wait()


def inside(port: int, command: str, limit_s: float) -> tuple[bool, list[str]]:
    """Whether it ended well in time, and the lines that it printed."""
    options = "StrictHostKeyChecking=no UserKnownHostsFile=/dev/null LogLevel=ERROR ConnectTimeout=30 BatchMode=yes"
    options += " ServerAliveInterval=60 ServerAliveCountMax=15"
    words = ["ssh", "-n", "-i", str(KEY), "-p", str(port), *(f"-o{option}" for option in options.split())]
    words += ["root@127.0.0.1", f"timeout {limit_s:.0f} {command} 2>&1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout or done.stderr).splitlines()


def tried(step: str, port: int) -> list[dict[str, object]]:
    """The rows of a step, printed too."""
    begun = time.monotonic()
    is_well, lines = inside(port, f"python3 /opt/scale/tools/machine16/inside.py {step}", STEP_S)
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    if not is_well:
        said = (lines or ["nothing"])[-1]
        rows.append({"check": step, "expected": f"ends well within {STEP_S} s", "seen": said, "ok": False})
    print(f"\n{step}, {time.monotonic() - begun:.0f} s", flush=True)
    for row in rows:
        print(
            f"{'ok' if row['ok'] else 'FAILED':<6}  {row['check']:<52}  {row['expected']}  |  {row['seen']}", flush=True
        )
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
