"""A target and its session with nothing in them: what a database does not have stays as it is here.

Refuses to sleep or retry: a session answers once, and the trial decides how long to wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.errors import TargetError
from runner.model import Cells, Drawn, Finding, ServerSpec, Site, Trial
from runner.targets.facts import Facts
from runner.targets.nouns import Address, Counted, Installation, Part, Surroundings

if TYPE_CHECKING:
    from runner.loadgen.foreign import ForeignCommand


class Session:
    """One control connection to a running server. Raises TargetError with the server's words.

    asking: what it asks now, in the server's language, for the words of whoever gives up waiting. deadline_s: when that
    will be, in seconds of time.monotonic(); who asks by a child process ends it by then.
    """

    asking = ""
    deadline_s = math.inf

    def __init__(self, trial: Trial, address: Address) -> None:
        self._trial, self._address = trial, address

    def left_s(self, most: float) -> float:
        """Seconds until whoever asks gives up, at least 1 and at most as given."""
        return min(max(1.0, self.deadline_s - time.monotonic()), most)

    def give_up(self) -> None:
        """Nobody waits for the answer to what was asked any more: ends what was started for it. Asks nothing."""

    def not_ready(self) -> str:
        """Why the server cannot be loaded yet; "" when it can. Never waits."""
        return ""

    def version(self) -> str:
        """As the server says it."""
        raise NotImplementedError

    def create_schema(self) -> None:
        """Database and partitions for the trial; nothing of it is on the clock."""

    def schema_pending(self) -> str:
        """Why the schema cannot be written to yet; "" when it can. Never waits."""
        return ""

    def create_tables(self) -> None:
        """The tables of the workload, where the database wants them made one by one."""

    def expected(self) -> Mapping[str, str]:
        """What `effective` must say for the trial's number to count, by the same names."""
        return {}

    def effective(self) -> Mapping[str, str]:
        """What the server says its settings are, read back after the schema is there."""
        return {}

    def parts(self) -> tuple[Part, ...]:
        """Where the parts of the database really are, read back; empty where they are not placed on disks."""
        return ()

    def load_spec(self) -> Mapping[str, str]:
        """The part of the load generator's spec that only the target knows: driver, method, address, table names."""
        raise NotImplementedError

    def genuine_load(self) -> ForeignCommand:
        """The database's own load generator on this trial. Raises TargetError where it has none."""
        raise TargetError(
            f"{self._trial.subject.target} has no load generator of its own here", remedy="--load-generator scale"
        )

    def commit_cycles(self) -> int | None:
        """How many commits (checkpoints, flushes) the server has finished; None: it does not say."""
        return None

    def wait_events(self) -> Mapping[str, int]:
        """How many connections of the load are at work now, by what they wait for: "lock: NAME" for a lock of the
        server, any other name for anything else, "" for nothing. Asked several times a second while the load runs, in a
        thread of its own beside any other question, and only where the facts say `wait_events`."""
        return {}

    def flush(self) -> None:
        """Returns when everything acknowledged is on disk."""

    def count(self) -> Counted | None:
        """Rows by the database's own count, and table by table; None: it keeps none."""
        return None

    def settle(self) -> None:
        """After rows that were loaded to be read: returns when the server is at rest, so that no read pays for them."""
        self.flush()

    def answers(self, asked: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        """The rows of the answer to each rendered query with one draw's values: times in ms since 1970, devices by
        name. names: of all tables. Raises TargetError, with the server's words."""
        raise TargetError(f"{self._trial.subject.target} cannot be read yet")

    def drop_schema(self) -> None:
        """Removes what create_schema made, on a server that is not ours."""

    def close(self) -> None:
        """Ends the connection, if there is one."""


class Target:
    """A database: how its server is started, what a workload needs of it, how the truth is read back."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def find(self, home: str) -> Installation | None:
        """The server installed at `home`, or where one usually is ("")."""
        return None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Everything that decides performance and will be set for the trial, derived items included.

        is_ours: started for the trial; of a server that runs already, only what the trial's own database is given.
        """
        return {}

    def reserves(self, trial: Trial, memory_bytes: int) -> Mapping[str, str]:
        """What the trial takes of the server's own limits, for the plan; empty where it has none."""
        return {}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """What the server would refuse or silently change."""
        return ()

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """What the server installed at home says against the trial's settings, asked without starting it."""
        return ()

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        """Whether the client library is there and fits; home: where it is looked for first. Connects to nothing."""
        return ()

    def check_endpoint(self, address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
        """Whether a server that already runs lets us in, and has capacity for what each trial asks."""
        return ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """What to start, in no runtime's terms."""
        raise NotImplementedError

    def session(self, trial: Trial, address: Address) -> Session:
        """A session, which connects when it is first asked something."""
        raise NotImplementedError

    def suspicious(self, log: str) -> tuple[str, ...]:
        """Lines of the server's log that make a trial's number doubtful."""
        return ()
