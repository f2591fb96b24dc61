"""Knobs of a server as a plan names them: which one plays which role, and where its value stands in results.

Refuses to know a database: each target declares its knobs (runner/targets/facts.py), and a plan carries them along.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class KnobRole(StrEnum):
    """What a knob is for, whatever its name in a database. The value is the role's name in sweeps and flags.

    PARTITIONS: parts that the data are split into. WRITERS: connections that write, one thread each.
    COMMIT_THREADS: threads of the server that bring data to disk. OTHER: any other setting of the server.
    """

    PARTITIONS = "partitions"
    WRITERS = "write_threads"
    COMMIT_THREADS = "commit_threads"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class KnobColumn:
    """One knob of a plan. name: as the database has it. label: for a heading.

    column: its own in points.csv; "": it stands in other_knobs.
    """

    name: str
    role: KnobRole
    label: str
    column: str = ""


FORMER_KNOBS = (
    KnobColumn(name="vgroups", role=KnobRole.PARTITIONS, label="Vgroups", column="vgroups"),
    KnobColumn(name="partitions", role=KnobRole.PARTITIONS, label="Partitions", column="partitions"),
    KnobColumn(name="write_threads", role=KnobRole.WRITERS, label="Write threads", column="write_threads"),
    KnobColumn(name="commit_threads", role=KnobRole.COMMIT_THREADS, label="Commit threads", column="commit_threads"),
)
"""Those of every plan that was stored before plans said theirs."""
