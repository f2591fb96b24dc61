"""How often does a trial find what a server falsifies? Whole sweeps of `scale`, each of many short trials.

Answers: a proxy between the load generator and the server falsifies each answer of the load. At times: it falsifies
some of them, of a load of 64 requests/s. Rows: another connection changes rows of six devices while they are loaded.
Each case is one command as a user types it, in a process in which the load goes through the proxy. Without a lie, no
trial may be accused.

    PATH=$PATH:/usr/sbin python bench/falsified.py --runs 20 [--target influxdb] [--only answers|rows]
    python bench/falsified.py --runs 10 --only times --seconds 20
    python bench/falsified.py --runs 3 --only fresh --seconds 20     1 answer of 5, in five other ways
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("runner", "", "tests/loadgen")]
from scale_sweep.cli import main as scale
from scale_sweep.server.targets import Session
from scale_sweep.server.targets.influxdb.influxdb_session import InfluxdbSession
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from tests.integration.changing import differing_in
from tests.integration.test_changed_rows import CHANGES
from tests.loadgen.lying_http import HTTP_LIES, LyingHttp
from tests.loadgen.lying_postgres import FLOAT4, LIES, Answer, LyingPostgres, Row
from tests.loadgen.proxy import WHEN, at_times

SWEEP = (
    "sweep cpu --cores 1 --runtime process --warmup 1s --window-max 0 --tables 10 --drift-check off"
    " --connections-check off --yes --no-metrics"
)
READS = "--mix range --preload 20k --step-ms 10000 --operation range.span=20m"
WRITES = "--rate 50k --rows-per-request 100"
SLOW = f"{READS} --rate 64"
FRESH = f"{SLOW} --columns a:float,b:float,n:int,t:binary(12)"
NOTHING = "nothing"
CHANGED = (
    "a value × 1000",
    "a time + 1 ms",
    "a copy of the neighbour",
    "all values NULL",
    "an integer + 1",
    "one NULL",
)
ROWS_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """name: of the lie. flags: of the sweep. verdict: what each trial must end as; "" if it must not be accused. patch:
    what brings the lie into the process of the command."""

    name: str
    flags: str
    verdict: str
    patch: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Proxied:
    """A database whose load can go through a proxy. proxy: with this lie; None: with none."""

    session: type[Session]
    lies: Mapping[str, Any]
    honest: Callable[[Any], Any]
    proxy: Callable[[Any], AbstractContextManager[Any]]


TARGETS = {
    "postgres": Proxied(
        session=PostgresSession,
        lies=LIES,
        honest=lambda answer: answer.rows,
        proxy=LyingPostgres,
    ),
    "influxdb": Proxied(
        session=InfluxdbSession,
        lies=HTTP_LIES,
        honest=lambda answer: None,
        proxy=lambda lie: LyingHttp(lie, posted="/nothing"),
    ),
}


def _with_rows(change: Callable[[Answer, Row], Row]) -> Callable[[Answer], list[Row]]:
    """The answer with each row changed."""
    return lambda answer: [change(answer, row) for row in answer.rows]


def _turned(answer: Answer, row: Row) -> Row:
    """The first two floats of a row change places."""
    a, b = [at for at, kind in enumerate(answer.types) if kind == FLOAT4][:2]
    return [row[b] if at == a else row[a] if at == b else cell for at, cell in enumerate(row)]


def _nudged(answer: Answer, row: Row) -> Row:
    """The last bit of each float."""
    return [cell[:-1] + bytes([cell[-1] ^ 1]) if kind == FLOAT4 and cell else cell
            for kind, cell in zip(answer.types, row, strict=True)]  # fmt: skip


def _retold(answer: Answer, row: Row) -> Row:
    """The letters of a text in reverse."""
    return [cell[::-1] if kind in TEXTS and cell else cell for kind, cell in zip(answer.types, row, strict=True)]


def _shifted(answer: Answer) -> list[Row]:
    """The first float of each row is that of the row before."""
    at = answer.types.index(FLOAT4)
    values = [row[at] for row in answer.rows]
    moved = [*values[-1:], *values[:-1]]
    return [[*row[:at], one, *row[at + 1 :]] for row, one in zip(answer.rows, moved, strict=True)]


TEXTS = (25, 1042, 1043)
AS_FRESH = {  # PostgreSQL alone
    "two values of a row change places": _with_rows(_turned),
    "the last bit of each float": _with_rows(_nudged),
    "letters of a text reversed": _with_rows(_retold),
    "a column moved by one row": _shifted,
    "the last tenth of the rows is missing": lambda answer: answer.rows[: len(answer.rows) * 9 // 10],
}


def through_proxy(database: Proxied, lie: Any) -> None:
    """From now on in this process, the load of each trial goes through a proxy with this lie."""
    direct, open_ = database.session.load_spec, contextlib.ExitStack()
    lying = open_.enter_context(database.proxy(lie or database.honest))

    def load_spec(self: Any) -> Mapping[str, str]:
        spec = direct(self)
        host, port = spec["host"], spec["port"]
        there = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, int(port))
        return {**spec, "host": "127.0.0.1", "port": str(lying.listen(there))}

    database.session.load_spec = load_spec  # type: ignore[method-assign]


def with_changes() -> None:
    """From now on in this process, rows of the devices 1 to 6 are changed in each trial, before they are counted."""
    load_spec, count = PostgresSession.load_spec, PostgresSession.count
    changing: dict[PostgresSession, threading.Thread] = {}  # of each trial's session, which is kept: ids come again

    def started(self: PostgresSession) -> Mapping[str, str]:
        if self not in changing:
            changing[self] = threading.Thread(target=change_rows, args=(self,), daemon=True)
            changing[self].start()
        return load_spec(self)

    def ended(self: PostgresSession) -> Any:
        changing[self].join(ROWS_S)
        return count(self)

    PostgresSession.load_spec, PostgresSession.count = started, ended  # type: ignore[method-assign]


def change_rows(session: PostgresSession) -> None:
    """Once each of the devices has some rows."""
    until = time.monotonic() + ROWS_S
    while time.monotonic() < until:
        with contextlib.suppress(psycopg.Error), session._connected() as second:
            held = second.execute("SELECT count(*) FROM measurement WHERE device_id BETWEEN 1 AND 6 GROUP BY device_id")
            if len(found := held.fetchall()) == len(CHANGES) and min(found) > (100,):
                for device, change in enumerate(CHANGES, 1):
                    assert second.execute(change.format(device=device).encode()).rowcount
                return
        time.sleep(0.05)


def cases(target: str, only: str) -> Iterator[Case]:
    """Each lie, and none."""
    database = TARGETS[target]
    each, one = database.lies, database.lies["floats times 11"]
    lies = [(READS, name, lie) for name, lie in [*each.items(), (NOTHING, None)] if only in ("", "answers")]
    lies += [
        (SLOW, f"floats times 11, {when}", at_times(one, database.honest, is_then))
        for when, is_then in WHEN.items()
        if only == "times"
    ]
    if only == "fresh":
        one_in_five = WHEN["1 in 5"]
        lies = [(FRESH, name, at_times(lie, database.honest, one_in_five)) for name, lie in AS_FRESH.items()]
        lies.append((FRESH, NOTHING, None))
    for flags, name, lie in lies:
        yield Case(
            name=name,
            flags=flags,
            verdict="WRONG_ANSWER" if lie else "",
            patch=lambda lie=lie: through_proxy(database, lie),  # type: ignore[misc]
        )
    if only in ("", "rows") and target == "postgres":
        yield Case(name="rows changed", flags=WRITES, verdict="WRONG_ROWS", patch=with_changes)
        yield Case(name=NOTHING, flags=WRITES, verdict="", patch=lambda: None)


def command(case: Case, words: Sequence[str]) -> None:
    """One command in this process, without its output."""
    with open(os.devnull, "w") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
    case.patch()
    sys.argv = ["scale", *words]
    scale()


def trials(case: Case, target: str, runs: int, seed: int, seconds: float) -> list[tuple[str, dict[str, Any]]]:
    """The verdict and the facts of each trial of one sweep."""
    with tempfile.TemporaryDirectory(prefix="scale-falsified-", dir="/var/tmp") as folder:
        words = (
            f"{SWEEP} {case.flags} --target {target} --duration {seconds}s --replicates {runs} --seed {seed}".split()
        )
        process = multiprocessing.get_context("fork").Process(
            target=command, args=(case, [*words, "--results", folder])
        )
        process.start()
        process.join()
        (run,) = (path for path in Path(folder).iterdir() if (path / "points.csv").exists())
        with open(run / "points.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [
            (row["verdict"], json.loads((run / f"trials/{row['trial_id']}/facts.json").read_text())) for row in rows
        ]


def told(case: Case, found: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Lines of the table: of rows, one for each change."""
    accused = [verdict for verdict, _ in found if verdict in ("WRONG_ANSWER", "WRONG_ROWS", "LOST_ROWS")]
    others = sorted({verdict for verdict, _ in found if verdict != case.verdict})
    what = "rows" if case.flags == WRITES else "answers"
    if not case.verdict:
        yield f"| {what} | nothing | {len(accused)} of {len(found)} accused | {', '.join(others)} |"
    elif case.verdict == "WRONG_ANSWER":
        yield f"| {what} | {case.name} | {accused.count(case.verdict)} of {len(found)} | {', '.join(others)} |"
    else:
        wrong = [differing_in(facts["summed"]) for verdict, facts in found if verdict == case.verdict]
        for device, change in enumerate(CHANGED, 1):
            times = sum(str(device) in devices for devices in wrong)
            yield f"| {what} | {change} | {times} of {len(found)} | {', '.join(others)} |"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=20, help="trials of each case")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--target", choices=TARGETS, default="postgres")
    p.add_argument("--only", choices=("answers", "times", "rows", "fresh"), default="")
    p.add_argument("--lie", default="", help="only the lie of this name")
    p.add_argument("--seconds", type=float, default=1, help="of each window")
    given = p.parse_args()
    print("| what | falsified | found | other verdicts |\n|---|---|---|---|", flush=True)
    for case in cases(given.target, given.only):
        if given.lie in ("", case.name):
            for line in told(case, trials(case, given.target, given.runs, given.seed, given.seconds)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
