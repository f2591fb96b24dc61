"""Says what keeps a pinned server from running on this machine, and the one command that brings it."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass

from scale_sweep.base.errors import PreflightError
from scale_sweep.server.pinned.pins import read_pins
from scale_sweep.server.pinned.registry_clients import go_program
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.installations import CACHE_VARIABLE, distrusted, installed
from scale_sweep.server.targets.java import java

OLDEST_FOR_MVN = 8


@dataclass(frozen=True, kw_only=True)
class Lacking:
    sentence: str  # what there is, and what is missing, by name
    command: str  # brings it


def lacking(name: str) -> Lacking | None:
    """None if nothing, if `scale servers install` brings it at once, or for a server that is not pinned."""
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
