"""The job of a subscribe file, in our words. Refuses to read, to print and to know the load generator's spelling."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic and the statement that it delivers the rows of."""

    name: str
    statement: str


@dataclass(frozen=True, kw_only=True)
class Following:
    """Consumers of the same topics."""

    topics: tuple[Topic, ...]
    consumers: int
    settings: tuple[tuple[str, str], ...]  # those of libtaos; {worker} in a value becomes the consumer's number
    poll_ms: int  # a consumer ends when no message comes for so long; -1: it waits on
    expect_rows: int  # it also ends with more rows than that; 0: not
    commits: bool  # each message is committed after it is read
    rows_file: str  # rows are appended to it, with the consumer's number; "" for none
    key: str  # its path in the file, for messages


@dataclass(frozen=True, kw_only=True)
class SubscribeJob:
    """Everything that a subscribe file does, one following after another."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str  # "" where the topics name theirs
    followings: tuple[Following, ...]
    result_file: str
    client_config: str = ""
    notes: tuple[str, ...] = ()
