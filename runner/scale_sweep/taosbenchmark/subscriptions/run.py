"""Makes the topics of a subscribe file and lets its consumers read them, one following after another."""

from __future__ import annotations

import os
import time
from pathlib import Path

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.units import counted
from scale_sweep.loadgen.handle import Every
from scale_sweep.loadgen.protocol import answers_of_workers
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model import Interval
from scale_sweep.taosbenchmark.job import Refusals, ScaleOptions
from scale_sweep.taosbenchmark.loading import RESULT, LoadsDone, Say, need_library, run_load, saying
from scale_sweep.taosbenchmark.subscriptions import output
from scale_sweep.taosbenchmark.subscriptions.delay import measured_delay
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob
from scale_sweep.taosbenchmark.subscriptions.spec import (
    OPERATION,
    create_statements,
    follow_spec,
    members_statement,
    row_statements,
    statements_spec,
)

REPORT_EVERY_S = 10.0
ROW_S = 20.0


SubscribeResult = LoadsDone[output.Followed]


def check_files(job: SubscribeJob, refusals: Refusals, *, row_times: bool) -> None:
    """Refuses a file for rows whose directory does not exist, or is not to be written to; any, if delays are wanted."""
    for following in job.followings:
        key = f"{following.key}.{'rows_file' if following.key == 'tmq_info' else 'result'}"
        folder = Path(following.rows_file).parent
        if following.rows_file and row_times:
            refusals.add(key, "delays are not measured while rows are written to a file: leave out this or --row-times")
        elif following.rows_file and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
            refusals.add(key, f"{following.rows_file}: {folder} is not a directory that can be written to")


def run_subscriptions(job: SubscribeJob, own: ScaleOptions, program: str, say: Say) -> SubscribeResult:
    """Reads it all. Raises PreflightError without libtaos, TargetError when the server refuses, StoreError when the
    result file cannot be written."""
    result = SubscribeResult()
    need_library(program, statements_spec(job, own))
    with saying(job.result_file, say) as both:
        for note in job.notes:
            both("INFO", note)
        for following in job.followings:
            _make_topics(job, own, program, following, both)
            _follow(job, own, program, following, result, both)
            if result.is_over:
                break
    return result


def _make_topics(job: SubscribeJob, own: ScaleOptions, program: str, following: Following, say: Say) -> None:
    """Warns of other consumers of the group: rows go to all, and for some seconds also to those that died."""
    statements = create_statements(following)
    texts = [*statements, members_statement(following)]
    *answers, members = run_statements(program, statements_spec(job, own), texts, job.password)
    for statement, answer, topic in zip(statements, answers, following.topics, strict=True):
        if not answer.ok:
            raise TargetError(f"TDengine refused {statement[:200]!r}: {answer.code} {answer.message}")
        say("INFO", f"successfully create topic: {topic.name}")
    if members.ok and (others := int(members.rows[0][0])) > 0:
        who = counted(others, "consumer")
        say("WARN", f"the group of {following.key} has {who} already: they get a part of the rows, for 12 s even dead")


def _follow(
    job: SubscribeJob, own: ScaleOptions, program: str, following: Following, result: SubscribeResult, say: Say
) -> None:
    progress = _Progress(say)
    done = run_load(program, follow_spec(job, own, following), job.password, progress.take)
    result.failure, result.interrupted = done.failure, done.interrupted
    if done.summary is None:
        return
    followed = output.Followed(
        following=following,
        consumers=answers_of_workers(done.raw),
        summary=done.summary,
        delay=measured_delay(done.summary.response) if own.row_times else None,
        troubles=done.troubles,
    )
    result.done.append(followed)
    progress.end(followed.messages)
    for line in output.lines(followed):
        say(RESULT, line)
    if done.summary.outcome == "errors" and result.failure is None:
        result.failure = LoadError(f"a consumer failed: {'; '.join(done.troubles[:3])}", remedy="see the server's log")
    elif not (followed.rows or result.is_over):
        result.failure = _nothing_read(job, own, program, following, say)


def _nothing_read(
    job: SubscribeJob, own: ScaleOptions, program: str, following: Following, say: Say
) -> LoadError | None:
    """The error of a following that read no row although its topics have some; None if they have none, or if the
    server does not say it."""
    statements = row_statements(following)
    try:
        answers = run_statements(program, statements_spec(job, own), list(statements.values()), job.password, ROW_S)
    except TargetError:
        return None
    filled = [name for name, answer in zip(statements, answers, strict=True) if answer.rows]
    if not filled:
        return None
    group = dict(following.settings)["group.id"].replace("{worker}", "0")
    sentence = f"no row came from {' and '.join(filled)}, although the server has rows of it, to group {group}"
    say("WARN", sentence)
    return LoadError(
        sentence,
        remedy="another group.id if it read them before; auto.offset.reset earliest; experimental.snapshot.enable true "
        "if the database keeps no log of them (wal_retention_period 0)",
    )


class _Progress:
    """Tells how many messages came, every ten seconds and at the end."""

    def __init__(self, say: Say) -> None:
        self._say, self._due, self._messages, self._last_said = say, Every(REPORT_EVERY_S), 0, 0
        self._begun = time.monotonic()

    def take(self, second: Interval) -> None:
        self._messages += second.operations.get(OPERATION, 0)
        if (elapsed_s := self._due.elapsed_s()) is not None:
            self._tell(self._messages, elapsed_s)

    def end(self, messages: int) -> None:
        """Tells of the messages after the last line."""
        if messages != self._last_said:
            self._tell(messages, time.monotonic() - self._begun)

    def _tell(self, messages: int, elapsed_s: float) -> None:
        rate = (messages - self._last_said) / elapsed_s
        self._say(RESULT, f"has poll total msgs: {messages}, period rate: {rate:.3f} msgs/s")
        self._last_said, self._begun = messages, time.monotonic()
