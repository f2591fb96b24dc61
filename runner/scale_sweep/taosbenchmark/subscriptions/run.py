"""Makes the topics of a subscribe file and lets its consumers read them, one following after another.

Refuses to print: lines go to `say` and into the result file. Ctrl-C stops the consumers; the lines show what was read.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.protocol import answers_of_workers
from scale_sweep.loadgen.statements import run_statements
from scale_sweep.model import Interval
from scale_sweep.taosbenchmark.job import Refusals, ScaleOptions
from scale_sweep.taosbenchmark.loading import RESULT, Say, drain, need_library, saying
from scale_sweep.taosbenchmark.subscriptions import output
from scale_sweep.taosbenchmark.subscriptions.delay import measured_delay
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob
from scale_sweep.taosbenchmark.subscriptions.spec import create_statements, follow_spec, statements_spec

REPORT_EVERY_S = 10.0
LIMIT_S = 30 * 86_400.0


@dataclass(kw_only=True)
class SubscribeResult:
    """All that was read. failure: why it ended early; the caller raises it after the lines were shown."""

    done: list[output.Followed] = field(default_factory=list)
    interrupted: bool = False
    failure: LoadError | None = None


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
            if result.interrupted or result.failure:
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
    spec = follow_spec(job, own, following)
    with LoadProcesses(program, [spec], tuple(sorted(os.sched_getaffinity(0))), job.password) as processes:
        try:
            _watch(processes, say)
        except KeyboardInterrupt:
            result.interrupted = True
            processes.stop()
            result.failure = drain(processes)
        except LoadError as error:
            result.failure = error
        summary, raw = processes.summary(), list(processes.raw)
        troubles = tuple(f"{t.code} {t.message}" for t in processes.troubles)
    if summary is None:
        return
    followed = output.Followed(
        following=following,
        consumers=answers_of_workers(raw),
        summary=summary,
        delay=measured_delay(summary.response) if own.row_times else None,
        troubles=troubles,
    )
    result.done.append(followed)
    for line in output.lines(followed):
        say(RESULT, line)
    if summary.outcome == "errors" and result.failure is None:
        result.failure = LoadError(f"a consumer failed: {'; '.join(troubles[:3])}", remedy="see the server's log")


def _watch(processes: LoadProcesses, say: Say) -> None:
    told, messages, before = time.monotonic(), 0, 0
    for line in processes.lines(LIMIT_S):
        if isinstance(line, Interval):
            messages += line.requests
            now = time.monotonic()
            if now - told >= REPORT_EVERY_S:
                rate = (messages - before) / (now - told)
                say(RESULT, f"has poll total msgs: {messages}, period rate: {rate:.3f} msgs/s")
                told, before = now, messages
