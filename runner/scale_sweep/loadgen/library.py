"""Which client library a driver of the load generator opens. It connects to nothing."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.statements import run_verb

LIBRARY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class ClientLibrary:
    """The opened file and the version that it reports; "" if it reports none."""

    path: str
    version: str


def client_library(driver: str, wanted: str) -> ClientLibrary:
    """The library at `wanted`, else ("") the usual one. Raises LoadError that names the missing file or symbol."""
    spec = {"protocol": "1", "driver": driver, **({"library": wanted} if wanted else {})}
    answer = run_verb(loadgen_path(), "library", spec, "", "", LIBRARY_S)[-1]
    return ClientLibrary(path=str(answer.get("library") or ""), version=str(answer.get("library_version") or ""))
