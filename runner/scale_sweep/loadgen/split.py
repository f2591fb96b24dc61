"""Splits a load into several processes: some client libraries serve only a limited number of threads, and a slow query
shall delay only requests of its own group of operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.loadgen.spec import spec_text
from scale_sweep.model import Operation, Work

START_DELAY_NS = 3_000_000_000  # time to connect before all begin together,
START_DELAY_THREAD_NS = 20_000_000  # and for each connection: a later process is refused
ELSEWHERE_LEAST_NS = 500_000_000  # where the time of a start was measured just now,
STARTS = 5.0  # and so many times that time


def start_ns(now_ns: int, threads: int) -> int:
    """When processes with so many threads together can begin at the same moment."""
    return now_ns + START_DELAY_NS + threads * START_DELAY_THREAD_NS


def delay_elsewhere_ns(threads: int, cores: float, started_s: float) -> int:
    """The time until processes on other hosts can begin at the same moment, in nanoseconds: at most that of `start_ns`.

    threads: of all processes. cores: of the server, which accepts their connections. started_s: the time that a start
    of a process on every host took just now.
    """
    connecting_ns = threads * START_DELAY_THREAD_NS / min(1.0, cores)
    return min(start_ns(0, threads), round(ELSEWHERE_LEAST_NS + STARTS * started_s * 1e9 + connecting_ns))


def seconds_to_begin(threads: int, threads_per_process: int) -> float:
    """The time from the start of several processes until they begin together, in seconds; 0.0 for one process.
    threads_per_process: as for `split_spec`."""
    return start_ns(0, threads) / 1e9 if 0 < threads_per_process < threads else 0.0


def split_spec(spec: Mapping[str, str], threads_per_process: int, now_ns: int, least: int = 1) -> list[dict[str, str]]:
    """The specs of as many processes as the threads need, evenly. threads_per_process: 0 means one process for all.
    least: so many processes, if there are as many threads.

    now_ns: CLOCK_MONOTONIC. The processes begin together a moment later, so that their windows are the same.
    """
    threads = int(spec["threads"])
    needed = -(-threads // threads_per_process) if threads_per_process else 1
    count = max(needed, min(least, threads))
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


_ASK = "ask."


def group_specs(spec: Mapping[str, str], work: Work) -> list[dict[str, str]]:
    """The spec of each group, in the order of `Work.groups`. spec: of all operations together, with the trial's
    connections. The rate of a group that only writes is rows per second, of any other requests per second."""
    if len(work.groups) == 1:
        return [dict(spec)]
    return [_of_group(spec, group, work) for group in work.groups]


def begun_together(specs: Sequence[Mapping[str, str]], now_ns: int) -> list[dict[str, str]]:
    """The same specs, with one start for all if there are several. now_ns: CLOCK_MONOTONIC."""
    if len(specs) < 2:
        return [dict(spec) for spec in specs]
    start = str(start_ns(now_ns, sum(int(spec["threads"]) for spec in specs)))
    return [{**spec, "start_at_ns": start} for spec in specs]


def specs_text(specs: Sequence[Mapping[str, str]]) -> str:
    """The specs as one text. Of several groups, a comment line begins each."""
    if len(specs) == 1:
        return spec_text(specs[0])
    return "".join(f"# group {number} of {len(specs)}\n{spec_text(spec)}" for number, spec in enumerate(specs, 1))


def _of_group(spec: Mapping[str, str], group: Sequence[Operation], work: Work) -> dict[str, str]:
    first, names = group[0], {operation.name for operation in group}
    kept = {k: v for k, v in spec.items() if not k.startswith(_ASK) or k.split(".")[1] in names}
    kept["operations"] = ",".join(f"{operation.name}:{operation.weight:g}" for operation in group)
    if first.is_apart:
        kept |= {"threads": str(first.connections or spec["threads"]), "rate": f"{first.rate:.12g}"}
    if "trace_max" in spec:  # its part, by connections
        all_threads = work.connections(int(spec["threads"]))
        kept["trace_max"] = str(max(1, int(spec["trace_max"]) * int(kept["threads"]) // all_threads))
    return kept
