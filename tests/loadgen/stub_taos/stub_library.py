"""Builds the stub library, runs the load generator on it, and reads back what it was asked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from loadgen_program import Outcome

from tests.needs import need

SOURCE = Path(__file__).parent / "stub_taos.c"


@cache
def _folder() -> Path:
    return Path(mkdtemp(prefix="scale-stub-"))


@cache
def library(without: str = "") -> Path:
    """The stub, compiled once in a process; `without` names a function that it shall lack."""
    compiler = need("cc")
    path = _folder() / f"libtaos{without}.so"
    flags = [f"-DWITHOUT_{without}"] if without else []
    command = [compiler, "-shared", "-fPIC", "-std=gnu11", "-O1", *flags, SOURCE, "-o", path]
    subprocess.run([*command, "-lpthread"], check=True)
    return path


@dataclass(frozen=True, kw_only=True)
class Stub:
    """stub(method="stmt", tables=4, fail="taos_query:1:0x0126", vgroups=4, ...): one run and its calls."""

    run: Callable[..., Outcome]
    log: Path

    def __call__(self, verb: str = "load", without: str = "", **settings: object) -> Outcome:
        environment = {"STUB_LOG": str(self.log)}
        for name in ("fail", "vgroups", "shift", "begin", "prefix", "short", "messages", "age", "assigned"):
            if name in settings:
                environment[f"STUB_{name.upper()}"] = str(settings.pop(name))
        spec = {"driver": "tdengine", "library": library(without), "database": "test", "partitions": 4}
        spec = {key: value for key, value in (spec | settings).items() if value is not None}
        self.log.unlink(missing_ok=True)
        return self.run(spec, verb, env=environment)

    def calls(self) -> list[str]:
        """All calls, in their order, as the stub wrote them."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def words(self) -> list[str]:
        """The calls' first words, without the rows."""
        return [call.split()[0] for call in self.calls() if not call.startswith("row ")]

    def starting(self, word: str) -> list[str]:
        """What follows the word in the calls that begin with it."""
        return [call.removeprefix(word + " ") for call in self.calls() if call.startswith(word + " ")]


def remove_libraries() -> None:
    """Removes what `library` built."""
    if _folder.cache_info().currsize:
        shutil.rmtree(_folder(), ignore_errors=True)
        _folder.cache_clear()
        library.cache_clear()
