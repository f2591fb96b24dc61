"""The base classes of a target and its session."""

from __future__ import annotations

import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scale_sweep.base.errors import TargetError
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets.records import (
    REFUSED_LOGIN,
    Address,
    Counted,
    Installation,
    Part,
    Surroundings,
    blocking,
    in_ms,
    lines_with,
    login_remedy,
)
from scale_sweep.server.targets.series import refused_columns
from scale_sweep.server.targets.target_facts import Facts

if TYPE_CHECKING:
    from scale_sweep.loadgen.command_load import ToolCommand
    from scale_sweep.loadgen.kept_files import Content

WITHIN_S = 3600.0  # of one question
ENVIRONMENT = {"TZ": "UTC", "LC_ALL": "C.UTF-8"}  # of a server


class Session(ABC):
    """A control connection to a running server. Raises TargetError with the server's message."""

    asking = ""  # the current question, for the message of a caller that gives up
    log_tail: Callable[[int], str] = staticmethod(lambda lines: "")  # the last lines of the server's log
    deadline_s = math.inf  # of time.monotonic(): a session that asks by a child process ends it by then

    def __init__(self, trial: Trial, address: Address, settings: Mapping[str, str] | None = None) -> None:
        self._trial, self._address, self._settings = trial, address, settings or {}

    def left_s(self, most: float) -> float:
        """Seconds until the caller gives up, between 1 and `most`."""
        return min(max(1.0, self.deadline_s - time.monotonic()), most)

    def give_up(self) -> None:
        """Ends what was started for the question. Asks nothing."""
        return

    def not_ready(self) -> str:
        """Why the server cannot be loaded yet; "" if it can. Never waits."""
        try:
            return self._pending()
        except TargetError as error:
            return error.message

    def _pending(self) -> str:
        """As `not_ready`, where an error is its reason."""
        return ""

    @abstractmethod
    def version(self) -> str: ...

    def in_the_way(self) -> str:
        """A sentence if a server that is not ours has what the trial would make, and remove at its end; else ""."""
        return ""

    def create_schema(self) -> None:
        """Database and partitions. Its time is not measured."""
        return

    def schema_pending(self) -> str:
        """Why the schema cannot be written to yet; "" if it can. Never waits."""
        return ""

    def create_tables(self) -> None:
        """Those of the workload, if each must be created."""
        return

    def expected(self) -> Mapping[str, str]:
        """Values that `effective` must return for the trial's number to count."""
        return self._settings

    def effective(self) -> Mapping[str, str]:
        """The server's own report of its settings, once the schema exists."""
        return {}

    def parts(self) -> tuple[Part, ...]:
        """Their actual places; empty if they are not placed on disks."""
        return ()

    @abstractmethod
    def load_spec(self) -> Mapping[str, str]:
        """The lines of the load generator's spec that only the target knows."""

    def spec_of(self, driver: str, **more: str) -> dict[str, str]:
        """The lines that each driver of a network needs, and more."""
        host, port = self._address.host, str(self._address.port)
        return {"driver": driver, "method": self._trial.subject.method, "host": host, "port": port, **more}

    def genuine_load(self) -> ToolCommand:
        """The database's own load generator."""
        raise TargetError(
            f"{self._trial.subject.target} has no vendor's load generator here", remedy="--load-generator scale"
        )

    def commit_cycles(self) -> int | None:
        """Commits (checkpoints, flushes) that the server has finished; None: it does not count them."""
        return None

    def wait_events(self) -> Mapping[str, int]:
        """The load's connections at work now, by what they wait for: "lock: NAME" for a lock of the server, "" for
        nothing. Called several times a second in its own thread, and only if the facts say `wait_events`."""
        return {}

    def flush(self) -> None:
        """Returns when everything acknowledged is on disk."""
        return

    def _sync(self, paths: Iterable[Path]) -> None:
        """Those that are gone meanwhile, or no files, are left out."""
        for path in paths:
            self.asking = f"an fsync of {path.name}"
            try:
                handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def count(self) -> Counted | None:
        """The database's own count of rows; None if it has none."""
        return None

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """The figures of `Facts.sums` by name, of each of these devices; without devices of all rows, by "". Times are
        in ns since the load's first timestamp. A device without rows is left out, and a sum of no values is None."""
        return {}

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]] | None:
        """The texts of these tags with which each device's rows are stored: one tuple, if all have the same; "" for no
        tag. None: this is not asked."""
        return None

    def settle(self) -> None:
        """Returns after the preload when no background work competes with reads."""
        self.flush()

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        """The rows of the answer to each rendered query with one draw's values: times in ms since 1970, devices by
        name. names: of all tables."""
        raise TargetError(f"{self._trial.subject.target} cannot be read yet")

    def rows_handed(
        self, query: Query, text: str, drawn: Drawn, names: Sequence[str], content: Content
    ) -> Sequence[Cells]:
        """An answer that the load generator received, in the form of `answers`. content: the driver's rows, with times
        in ns since 1970, or the server's text. Raises ValueError and the like for a text that is no answer."""
        if isinstance(content, str):
            raise TypeError(f"the driver of {self._trial.subject.target} has no texts of answers")
        return in_ms(query, content)

    def drop_schema(self) -> None:
        """Removes what create_schema made, on a server that is not ours."""
        return

    def close(self) -> None:
        return


class Target(ABC):
    """A database: how its server is checked, started and asked."""

    doubtful: re.Pattern[str] | None = None  # is in a line of the server's log that makes a number doubtful
    types: Collection[str] | None = None  # of columns that it can store; None: any
    session_type: type[Session]  # is made of trial, address and settings

    def __init__(self, facts: Facts) -> None:
        if type(self).session is Target.session and not hasattr(self, "session_type"):
            raise TypeError(f"{type(self).__name__} has neither session() nor session_type")
        self.facts = facts

    def find(self, home: str) -> Installation | None:
        """home: "" for its usual place."""
        return None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """All that affect performance, derived ones too; of a server that is not ours those of the trial's database."""
        return {}

    def reserves(self, trial: Trial, memory_bytes: int) -> Mapping[str, str]:
        """The trial's use of the server's own limits, for the plan."""
        return {}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """Findings for all that the server would refuse or silently change, such as the type of a column."""
        return () if self.types is None else refused_columns(self.facts.title, trial, self.types)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Findings of the programs at home about the trial's settings. The server is not started."""
        return ()

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        """Whether the client library exists and fits. home: searched first. Connects to nothing."""
        return ()

    def check_endpoint(self, address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
        """Whether a server that already runs answers to each method, and has nothing in the way."""
        if hidden := [trial.subject.method for trial in trials if trial.subject.method in self.facts.own_ports]:
            sentence = f"--method {hidden[0]} has a separate port, which --endpoint does not name"
            return (blocking("--method", sentence, f"--method {self.facts.methods[0]}"),)
        session = self.session(trials[0], address)
        remedy = "correct the address"
        try:
            if not (reason := session.not_ready()):
                reason, remedy = session.in_the_way(), "remove the data of that name"
        except TargetError as error:
            reason = error.message
        finally:
            session.close()
        if REFUSED_LOGIN.search(reason):
            remedy = login_remedy(address)
        return (blocking("--endpoint", reason, self.remedy_for(reason) or remedy),) if reason else ()

    def remedy_for(self, reason: str) -> str:
        """If a server that already runs cannot be reached for it; "": the user, the password or the address."""
        return ""

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        """Paths outside its home that its server runs or loads, such as a Java runtime: `Site.reachable` has them."""
        return ()

    def java_runtime(self, home: str) -> str:
        """The folder of its Java runtime; "" if it needs none, or has none."""
        return ""

    def image_folders(self) -> Mapping[str, str]:
        """Folders outside its home that an image of its installation gets, by their paths in it, which end with "/".
        Raises PreflightError for a missing one."""
        return {}

    def to_have_image(self, image: str) -> str:
        """The command that brings or builds it."""
        if not self.facts.is_image_built:
            return f"docker pull {image}"
        usual = self.find("")
        first = "" if usual else f"scale servers install {self.facts.name}, and "
        return f"{first}scale images build {self.facts.name} --home {usual.home if usual else 'DIR'}"

    @abstractmethod
    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """Programs to start, in no runtime's terms."""

    def session(self, trial: Trial, address: Address) -> Session:
        """It connects at its first question."""
        return self.session_type(trial, address, self.settings(trial, is_ours=address.is_ours))

    def suspicious(self, log: str) -> tuple[str, ...]:
        return lines_with(self.doubtful, log) if self.doubtful else ()


def cores_of(trial: Trial) -> str:
    """As many threads as a server gets."""
    return str(max(1, math.ceil(trial.cores)))
