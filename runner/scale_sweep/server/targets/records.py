"""Values between a target and its users: installations, addresses, times, lines of logs."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scale_sweep.model.loads import Counted as Counted
from scale_sweep.model.planned import Finding
from scale_sweep.model.questions import Cells, Query

# With the login of a server that is not ours; without a user it is the target's own.
ENDPOINT_USER, ENDPOINT_PASSWORD = "SCALE_TARGET_USER", "SCALE_TARGET_PASSWORD"

# In the settings that a session reads back: where rows are when they are acknowledged, and how they are stored.
ACKNOWLEDGED, COMPRESSION = "acknowledged", "compression"
NOWHERE = "never: nothing is acknowledged"
IN_MEMORY, IN_LOG, ON_DISK = "in memory", "in the log, not yet on disk", "on disk (log fsynced)"
IN_FILES = "in files, not yet on disk"  # of a database without a log


@dataclass(frozen=True, kw_only=True)
class Installation:
    home: str  # holds bin/ and lib/
    version: str
    source: str  # "--home", "PATH" and the like


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a session connects."""

    host: str
    port: int
    secret: str
    home: str = ""
    data_dir: str = ""  # as the controller sees it; "" for a server that is not ours
    # else only the trial's own database may be changed, and the secret is the user's ("": the database's default)
    is_ours: bool = True
    disks: tuple[str, ...] = ()  # as in the trial's Site
    disk_placement: str = ""
    holds_data: bool = False  # it runs on files of another server of this run, with its tables and secret
    user: str = ""  # on a server that is not ours; "": the target's own
    database: str = ""


# In the words of any database.
REFUSED_LOGIN = re.compile(r"(?i)password|authenti|access denied|unauthori|credential|login|\b40[13]\b")


def login_remedy(address: Address) -> str:
    if address.secret:
        return f"correct {ENDPOINT_PASSWORD}, or the user in {ENDPOINT_USER}"
    return f"no password: {ENDPOINT_PASSWORD} of the environment is empty; set it, and the user in {ENDPOINT_USER}"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The machine against which a trial is checked."""

    memory_bytes: int
    free_bytes: int  # on the data's disk
    explicit: frozenset[str] = frozenset()  # keys of settings that the user gave


@dataclass(frozen=True, kw_only=True)
class Part:
    """A vnode, a partition."""

    name: str
    path: str  # of one of its files or directories, as the controller sees it
    disk: int | None  # the intended one, an index into Site.disks; None: the server chose


def blocking(subject: str, sentence: str, remedy: str) -> Finding:
    """A finding that stops the sweep."""
    return Finding(blocking=True, subject=subject, sentence=sentence, remedy=remedy)


def wrong_input(flag: str, sentence: str, remedy: str) -> Finding:
    return Finding(blocking=True, subject=flag, sentence=sentence, remedy=remedy, is_input=True)


Ms = int | Fraction
NS_PER_MS = 1_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def exact_ms(units: int, units_per_ms: int) -> Ms:
    """units: since 1970. A fraction if it is between two ms."""
    return units // units_per_ms if units % units_per_ms == 0 else Fraction(units, units_per_ms)


def moment_ms(moment: datetime.datetime) -> Ms:
    """moment: with its zone."""
    return exact_ms((moment - _EPOCH) // datetime.timedelta(microseconds=1), 1000)


def in_ms(query: Query, rows: Sequence[Cells]) -> Sequence[Cells]:
    """With exact times in ms. Aggregates without stretches of time have none."""
    if query.function and not query.bucket_ms:
        return rows
    return [(exact_ms(row[0], NS_PER_MS) if isinstance(row[0], int) else row[0], *row[1:]) for row in rows]


def tags_of(rows: Iterable[Sequence[Any]]) -> Mapping[str, Set[tuple[str, ...]]]:
    by_device = defaultdict[str, set[tuple[str, ...]]](set)
    for device, *tags in rows:
        by_device[str(device)].add(tuple("" if tag is None else str(tag) for tag in tags))
    return by_device


_LINES_MAX, _LENGTH_MAX = 20, 300
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def lines_with(pattern: re.Pattern[str], log: str) -> tuple[str, ...]:
    """Those in which the pattern is, as `first_of`."""
    return first_of(line for line in log.splitlines() if pattern.search(line))


def first_of(lines: Iterable[str]) -> tuple[str, ...]:
    """The first 20 different ones, each cut to 300 characters."""
    return tuple(dict.fromkeys(line.strip()[:_LENGTH_MAX] for line in lines))[:_LINES_MAX]


def seconds_of(duration: str, units: str = "smhdw") -> int:
    """duration: "7d", "12h". Raises ValueError for what is not a time above 0 in these units."""
    match = re.fullmatch(rf"(\d+)([{units}])", duration)
    if match is None or not int(match.group(1)):
        raise ValueError(f"{duration!r} is not a time such as 7d or 12h")
    return int(match.group(1)) * _SECONDS[match.group(2)]
