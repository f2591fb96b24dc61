"""The messages of consumers → the lines that scripts written for taosBenchmark read, and the JSON document. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scale_sweep.loadgen.protocol import WorkerAnswers
from scale_sweep.model import LoadSummary
from scale_sweep.taosbenchmark.output import delays
from scale_sweep.taosbenchmark.subscriptions.delay import Delay, delay_document, delay_lines
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob


@dataclass(frozen=True, kw_only=True)
class Followed:
    """One following, finished or not."""

    following: Following
    consumers: tuple[WorkerAnswers, ...]
    summary: LoadSummary
    delay: Delay | None  # from the time in a row to its delivery; None: not asked for
    troubles: tuple[str, ...]

    @property
    def messages(self) -> int:
        return sum(one.answers for one in self.consumers)

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.consumers)


def lines(followed: Followed) -> tuple[str, ...]:
    """Each consumer's messages and rows, their sums, and how fast they came."""
    texts = [
        f"consumerId: {one.worker}, consume msgs: {one.answers}, consume rows: {one.rows}" for one in followed.consumers
    ]
    texts.append(f"Consumed total msgs: {followed.messages}, total rows: {followed.rows}")
    spent = followed.summary.window_s
    messages, rows = _rate(followed.messages, spent), _rate(followed.rows, spent)
    texts.append(f"Spend {spent:.4f} second, {messages:.3f} msgs/s, {rows:.3f} rows/s")
    return (*texts, *(delay_lines(followed.delay) if followed.delay else ()))


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0


def settings_lines(job: SubscribeJob) -> tuple[str, ...]:
    """The lines that say what will be done, without the password."""
    texts = [f"host: {job.host}:{job.port}, user: {job.user}, output: {job.result_file}"]
    texts += [f"topic {topic.name}: {topic.statement}" for following in job.followings for topic in following.topics]
    return tuple(texts)


def document(job: SubscribeJob, done: Sequence[Followed], *, interrupted: bool) -> dict[str, Any]:
    """For --json. What could not be measured is null."""
    return {
        "schema": 1,
        "host": job.host,
        "port": job.port,
        "interrupted": interrupted,
        "notes": list(job.notes),
        "subscriptions": [_document(followed) for followed in done],
    }


def _document(followed: Followed) -> dict[str, Any]:
    spent, polled, delay = followed.summary.window_s, delays(followed.summary.service), followed.delay
    return {
        "topics": [topic.name for topic in followed.following.topics],
        "consumers": [
            {"consumer": one.worker, "messages": one.answers, "rows": one.rows} for one in followed.consumers
        ],
        "messages": followed.messages,
        "rows": followed.rows,
        "spent_s": spent,
        "messages_per_s": _rate(followed.messages, spent) if spent > 0 else None,
        "rows_per_s": _rate(followed.rows, spent) if spent > 0 else None,
        "generator_cpu_s": followed.summary.cpu_window_s,
        "poll": asdict(polled) if polled else None,
        "delay": delay_document(delay) if delay else None,
        "error_kinds": list(followed.troubles),
    }
