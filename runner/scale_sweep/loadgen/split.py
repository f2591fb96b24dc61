"""Splits a load into several processes, because some client libraries serve only a limited number of threads. Pure."""

from __future__ import annotations

from collections.abc import Mapping

START_DELAY_NS = 3_000_000_000  # time to connect before all begin together,
START_DELAY_THREAD_NS = 20_000_000  # and for each connection: a later process is refused


def start_ns(now_ns: int, threads: int) -> int:
    """When processes with so many threads together can begin at the same moment."""
    return now_ns + START_DELAY_NS + threads * START_DELAY_THREAD_NS


def split_spec(spec: Mapping[str, str], threads_per_process: int, now_ns: int) -> list[dict[str, str]]:
    """The specs of as many processes as the threads need, evenly. threads_per_process: 0 means one process for all.

    now_ns: CLOCK_MONOTONIC. The processes begin together a moment later, so that their windows are the same.
    """
    threads = int(spec["threads"])
    count = -(-threads // threads_per_process) if threads_per_process else 1
    if count < 2:
        return [dict(spec)]
    start = str(start_ns(now_ns, threads))
    edges = [threads * i // count for i in range(count + 1)]
    return [
        {
            **spec,
            "threads": str(last - first),
            "first_worker": str(first),
            "workers_total": str(threads),
            "start_at_ns": start,
        }
        for first, last in zip(edges, edges[1:], strict=False)
    ]
