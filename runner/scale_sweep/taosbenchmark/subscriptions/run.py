"""Makes the topics of a subscribe file and lets its consumers read them, one following after another.

Refuses to print: lines go to `say` and into the result file. Ctrl-C stops the consumers; the lines show what was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.loadgen.protocol import answers_of_workers
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.loadgen.watched import Every
from scale_sweep.model import Interval
from scale_sweep.taosbenchmark.job import Refusals, ScaleOptions
from scale_sweep.taosbenchmark.loading import RESULT, LoadsDone, Say, need_library, run_load, saying
from scale_sweep.taosbenchmark.subscriptions import output
from scale_sweep.taosbenchmark.subscriptions.delay import measured_delay
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob
from scale_sweep.taosbenchmark.subscriptions.spec import create_statements, follow_spec, statements_spec

REPORT_EVERY_S = 10.0


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
    statements = create_statements(following)
    answers = run_statements(program, statements_spec(job, own), statements, job.password)
    for statement, answer, topic in zip(statements, answers, following.topics, strict=True):
        if not answer.ok:
            raise TargetError(f"TDengine refused {statement[:200]!r}: {answer.code} {answer.message}")
        say("INFO", f"successfully create topic: {topic.name}")


def _follow(
    job: SubscribeJob, own: ScaleOptions, program: str, following: Following, result: SubscribeResult, say: Say
) -> None:
    done = run_load(program, follow_spec(job, own, following), job.password, _reports(say))
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
    for line in output.lines(followed):
        say(RESULT, line)
    if done.summary.outcome == "errors" and result.failure is None:
        result.failure = LoadError(f"a consumer failed: {'; '.join(done.troubles[:3])}", remedy="see the server's log")


def _reports(say: Say) -> Callable[[Interval], None]:
    due, messages, before = Every(REPORT_EVERY_S), 0, 0

    def report(second: Interval) -> None:
        nonlocal messages, before
        messages += second.requests
        if (elapsed_s := due.elapsed_s()) is not None:
            rate = (messages - before) / elapsed_s
            say(RESULT, f"has poll total msgs: {messages}, period rate: {rate:.3f} msgs/s")
            before = messages

    return report
