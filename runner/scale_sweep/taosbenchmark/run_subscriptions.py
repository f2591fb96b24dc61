"""Makes the topics of a subscribe file, and lets its consumers read one following after another."""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import asdict, dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.units import counted
from scale_sweep.loadgen.handle import Every
from scale_sweep.loadgen.protocol import WorkerAnswers, answers_of_workers
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model.loads import Interval, Latency, LoadSummary
from scale_sweep.taosbenchmark.job import Following, ScaleOptions, SubscribeJob
from scale_sweep.taosbenchmark.loading import (
    RESULT,
    Delays,
    LoadsDone,
    Say,
    delays,
    head,
    in_ms,
    need_library,
    per_second,
    run_load,
    saying,
)
from scale_sweep.taosbenchmark.spec import (
    POLL,
    create_statements,
    follow_spec,
    members_statement,
    row_statements,
    statements_spec,
)

REPORT_EVERY_S = 10.0
ROW_S = 20.0
_STEPS = tuple(step * 10**power / 100 for power in range(9) for step in (1, 2, 5))
_NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class Delay:
    """From row to delivery, in ms."""

    figures: Delays
    steps: tuple[tuple[float, int], ...]  # upper bounds with messages, none before the first or after the last message
    hdr: str  # all delays in ns, as the load generator encodes them


@dataclass(frozen=True, kw_only=True)
class Followed:
    following: Following
    consumers: tuple[WorkerAnswers, ...]
    summary: LoadSummary
    delay: Delay | None  # None: not asked for
    troubles: tuple[str, ...]

    @property
    def messages(self) -> int:
        return sum(one.answers for one in self.consumers)

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.consumers)


def run(job: SubscribeJob, own: ScaleOptions, program: str, say: Say) -> LoadsDone[Followed]:
    """Raises PreflightError without libtaos, TargetError if the server refuses, StoreError for the result file."""
    result: LoadsDone[Followed] = LoadsDone()
    need_library(program, statements_spec(job, own))
    with saying(job, say) as both:
        for following in job.followings:
            _make_topics(job, own, program, following, both)
            _follow(job, own, program, following, result, both)
            if result.is_over:
                break
    return result


def _make_topics(job: SubscribeJob, own: ScaleOptions, program: str, following: Following, say: Say) -> None:
    """Warns of other consumers of the group: rows go to all, for some seconds also to dead ones."""
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
    job: SubscribeJob, own: ScaleOptions, program: str, following: Following, result: LoadsDone[Followed], say: Say
) -> None:
    progress = _Progress(say)
    done = run_load(program, follow_spec(job, own, following), job.password, progress.take)
    result.failure, result.interrupted = done.failure, done.interrupted
    if done.summary is None:
        return
    followed = Followed(
        following=following,
        consumers=answers_of_workers(done.raw),
        summary=done.summary,
        delay=measured_delay(done.summary.response) if own.row_times else None,
        troubles=done.troubles,
    )
    result.done.append(followed)
    progress.end(followed.messages)
    for line in lines(followed):
        say(RESULT, line)
    if done.summary.outcome == "errors" and result.failure is None:
        result.failure = LoadError(f"a consumer failed: {'; '.join(done.troubles[:3])}", remedy="see the server's log")
    elif not (followed.rows or result.is_over):
        result.failure = _nothing_read(job, own, program, following, say)


def _nothing_read(
    job: SubscribeJob, own: ScaleOptions, program: str, following: Following, say: Say
) -> LoadError | None:
    """None if the topics have no rows, or if the server does not tell."""
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
    def __init__(self, say: Say) -> None:
        self._say, self._due, self._messages, self._last_said = say, Every(REPORT_EVERY_S), 0, 0
        self._begun = time.monotonic()

    def take(self, second: Interval) -> None:
        self._messages += second.operations.get(POLL, 0)
        if (elapsed_s := self._due.elapsed_s()) is not None:
            self._tell(self._messages, elapsed_s)

    def end(self, messages: int) -> None:
        if messages != self._last_said:
            self._tell(messages, time.monotonic() - self._begun)

    def _tell(self, messages: int, elapsed_s: float) -> None:
        rate = (messages - self._last_said) / elapsed_s
        self._say(RESULT, f"has poll total msgs: {messages}, period rate: {rate:.3f} msgs/s")
        self._last_said, self._begun = messages, time.monotonic()


def measured_delay(latency: Latency) -> Delay | None:
    """With steps of 1, 2 and 5. None without a message."""
    figures = delays(latency)
    if figures is None:
        return None
    counts = [0] * (len(_STEPS) + 1)
    histogram = HdrHistogram.decode(latency.hdr)
    for recorded in histogram.get_recorded_iterator():
        ms = histogram.get_lowest_equivalent_value(recorded.value_iterated_to) / _NS_PER_MS
        counts[bisect_left(_STEPS, ms)] += recorded.count_added_in_this_iter_step
    bounds = (*_STEPS, figures.max_ms)
    used = [place for place, count in enumerate(counts) if count]
    steps = tuple((bounds[place], counts[place]) for place in range(used[0], used[-1] + 1))
    return Delay(figures=figures, steps=steps, hdr=latency.hdr)


def lines(followed: Followed) -> list[str]:
    """Each consumer's figures, their sums, and how fast they came."""
    texts = [
        f"consumerId: {one.worker}, consume msgs: {one.answers}, consume rows: {one.rows}" for one in followed.consumers
    ]
    texts.append(f"Consumed total msgs: {followed.messages}, total rows: {followed.rows}")
    spent, delay = followed.summary.window_s, followed.delay
    messages, rows = per_second(followed.messages, spent), per_second(followed.rows, spent)
    texts.append(f"Spend {spent:.4f} second, {messages:.3f} msgs/s, {rows:.3f} rows/s")
    if delay:
        steps = ", ".join(f"up to {bound:g}ms: {count}" for bound, count in delay.steps)
        texts += [f"delay from row to delivery, {in_ms(delay.figures)}", f"messages by delay, {steps}"]
    return texts


def settings_lines(job: SubscribeJob) -> tuple[str, ...]:
    topics = [f"topic {topic.name}: {topic.statement}" for following in job.followings for topic in following.topics]
    return (f"host: {job.host}:{job.port}, user: {job.user}, output: {job.result_file}", *topics)


def document(job: SubscribeJob, result: LoadsDone[Followed]) -> dict[str, Any]:
    """For --json."""
    return {
        **head(job, interrupted=result.interrupted),
        "subscriptions": [_document(followed) for followed in result.done],
    }


def _document(followed: Followed) -> dict[str, Any]:
    spent, polled, delay = followed.summary.window_s, delays(followed.summary.service), followed.delay
    steps = [{"up_to_ms": bound, "messages": count} for bound, count in delay.steps] if delay else []
    return {
        "topics": [topic.name for topic in followed.following.topics],
        "consumers": [
            {"consumer": one.worker, "messages": one.answers, "rows": one.rows} for one in followed.consumers
        ],
        "messages": followed.messages,
        "rows": followed.rows,
        "spent_s": spent,
        "messages_per_s": followed.messages / spent if spent > 0 else None,
        "rows_per_s": followed.rows / spent if spent > 0 else None,
        "generator_cpu_s": followed.summary.cpu_window_s,
        "poll": asdict(polled) if polled else None,
        "delay": {**asdict(delay.figures), "histogram": steps, "hdr": delay.hdr} if delay else None,
        "error_kinds": list(followed.troubles),
    }
