"""The null target: a server that does nothing, so that the tool itself can be run, tested and measured.

Its "server" is an idle process and its driver throws rows away: every honest verdict on it is GENERATOR_BOUND.
Refuses to pretend: it counts nothing, so the count is what the load core acknowledged (None is not a mismatch).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from runner.errors import TargetError
from runner.loadgen.foreign import ForeignCommand
from runner.model import Finding, Piece, ResourceRange, Rule, ServerSpec, Site, Trial
from runner.targets import Address, Counted, Installation, Part, Surroundings

NAME = "null"
RUNTIMES = ("process",)
METHODS = ("discard",)
KNOBS = ("partitions", "write_threads")
ANY_KNOB = False
ROWS_PER_REQUEST = 10_000
ROWS_PER_CORE_S = 1e8
OVERHEAD_S = 1.0
REFUSES_ROOT = False
THREAD_NAMES = False
THREADS_PER_PROCESS = 0
LOADERS = ("scale",)
DISK_PLACEMENTS = ()
WAL_DISKS = ()
IMAGE_LIBRARY = ""


def default_knobs(given: ResourceRange) -> Mapping[str, Rule]:
    """One partition and one thread: the generator on one core."""
    one = Rule(pieces=(Piece(first=None, last=None, value="1"),))
    return {"partitions": one, "write_threads": one}


def default_image(version: str) -> str:
    """There is none."""
    return ""


def image_home() -> str:
    """There is none."""
    return ""


def find(home: str) -> Installation | None:
    """Always there."""
    return Installation(home="", version="1", found="built in")


def what_to_install() -> str:
    """Nothing."""
    return "nothing to install"


def settings(trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
    """Nothing is set."""
    return {}


def reserves(trial: Trial, memory_bytes: int) -> Mapping[str, str]:
    """It has no limits."""
    return {}


def check(trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
    """Nothing can be wrong."""
    return ()


def check_installed(home: str, trial: Trial) -> tuple[Finding, ...]:
    """It takes none."""
    return ()


def check_client(home: str, server_version: str) -> tuple[Finding, ...]:
    """It needs none."""
    return ()


def check_endpoint(address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
    """It has none."""
    return ()


def server(trial: Trial, site: Site, secret: str) -> ServerSpec:
    """An idle process."""
    return ServerSpec(argv=(shutil.which("sleep") or "/bin/sleep", "86400"), stop_timeout_s=5.0)


def suspicious(log: str) -> tuple[str, ...]:
    """An idle process says nothing."""
    return ()


class NullSession:
    """Ready at once, with nothing to create and nothing to count."""

    def __init__(self) -> None:
        self._closed = False

    def not_ready(self) -> str:
        """Ready."""
        return ""

    def version(self) -> str:
        """Of this target."""
        return "null 1"

    def create_schema(self) -> None:
        """Nothing to create."""

    def schema_pending(self) -> str:
        """It is there at once."""
        return ""

    def create_tables(self) -> None:
        """Devices are rows here, not tables."""

    def expected(self) -> Mapping[str, str]:
        """Nothing is set."""
        return {}

    def effective(self) -> Mapping[str, str]:
        """Nothing to read back."""
        return {}

    def parts(self) -> tuple[Part, ...]:
        """It has none."""
        return ()

    def load_spec(self) -> Mapping[str, str]:
        """The null driver."""
        return {"driver": "null", "method": "discard"}

    def genuine_load(self) -> ForeignCommand:
        """It has none that does this workload."""
        raise TargetError("the null target has no load generator of its own here", remedy="--loader scale")

    def commit_cycles(self) -> int | None:
        """It has none."""
        return None

    def flush(self) -> None:
        """Nothing to flush."""

    def count(self) -> Counted | None:
        """It keeps nothing."""
        return None

    def drop_schema(self) -> None:
        """Nothing was made."""

    def close(self) -> None:
        """Nothing is open."""
        self._closed = True


def session(trial: Trial, address: Address) -> NullSession:
    """A session with nothing."""
    return NullSession()
