"""Splits a load into several processes, and merges their seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.loadgen.merge import merge_interval
from scale_sweep.loadgen.protocol import Line
from scale_sweep.loadgen.spec import spec_text
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.loads import Interval, LoadSummary

START_DELAY_NS = 3_000_000_000  # time to connect before all begin together,
START_DELAY_THREAD_NS = 20_000_000  # and for each connection: a later process is refused
ELSEWHERE_LEAST_NS = 500_000_000  # where the time of a start was measured just now,
STARTS = 5.0  # and so many times that time


def start_ns(now_ns: int, threads: int) -> int:
    """When so many threads can begin at the same moment."""
    return now_ns + START_DELAY_NS + threads * START_DELAY_THREAD_NS


def delay_elsewhere_ns(threads: int, cores: float, started_s: float) -> int:
    """cores: of the server, which accepts the connections. started_s: a start on every host took so long just now."""
    connecting_ns = threads * START_DELAY_THREAD_NS / min(1.0, cores)
    return min(start_ns(0, threads), round(ELSEWHERE_LEAST_NS + STARTS * started_s * 1e9 + connecting_ns))


def seconds_to_begin(threads: int, threads_per_process: int) -> float:
    """Until several processes begin together; 0.0 for one."""
    return start_ns(0, threads) / 1e9 if 0 < threads_per_process < threads else 0.0


def split_spec(spec: Mapping[str, str], threads_per_process: int, now_ns: int, least: int = 1) -> list[dict[str, str]]:
    """threads_per_process: 0 means one process. least: so many processes, if there are as many threads."""
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
    """In the order of `Work.groups`. Rates are rows per second of a group that only writes, else requests."""
    if len(work.groups) == 1:
        return [dict(spec)]
    return [_of_group(spec, group, work) for group in work.groups]


def begun_together(specs: Sequence[Mapping[str, str]], now_ns: int) -> list[dict[str, str]]:
    if len(specs) < 2:
        return [dict(spec) for spec in specs]
    start = str(start_ns(now_ns, sum(int(spec["threads"]) for spec in specs)))
    return [{**spec, "start_at_ns": start} for spec in specs]


def specs_text(specs: Sequence[Mapping[str, str]]) -> str:
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


@dataclass(frozen=True, kw_only=True)
class LineSource:
    process: int
    processes: int


def marked(text: str, source: LineSource) -> str:
    line = text.rstrip()
    if not (line.startswith("{") and line.endswith("}")):
        return text
    return f'{line[:-1]},"process":{source.process},"processes":{source.processes}}}\n'


def source_of(text: str) -> LineSource | None:
    try:
        raw = json.loads(text)
        return LineSource(process=int(raw["process"]), processes=int(raw["processes"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


class Seconds:
    """An interval belongs to the second in which it ended, a process's last one to the second after its last whole one.
    A second is complete when every process has reported it, a later one, or its summary."""

    def __init__(self, processes: int) -> None:
        self._at = [0] * processes  # the last second that each process has reported
        self._rows_total = [0] * processes
        self._ended = [False] * processes
        self._parts: dict[int, dict[int, Interval]] = {}

    def take(self, process: int, line: Line) -> Iterator[Interval]:
        if isinstance(line, Interval):
            self._at[process] = max(self._at[process] + 1, int(line.t_s))
            self._parts.setdefault(self._at[process], {})[process] = line
        elif isinstance(line, LoadSummary):
            self._ended[process] = True
        else:
            return
        whole = [at for at, ended in zip(self._at, self._ended, strict=True) if not ended]
        for second in sorted(s for s in self._parts if not whole or s <= min(whole)):
            yield self._merged(self._parts.pop(second))

    def _merged(self, parts: dict[int, Interval]) -> Interval:
        for process, part in parts.items():
            self._rows_total[process] = part.rows_total
        last = max(parts.values(), key=lambda part: part.monotonic_ns)
        return replace(
            merge_interval([parts[process] for process in sorted(parts)]),
            t_s=last.t_s,
            monotonic_ns=last.monotonic_ns,
            phase=last.phase,
            rows_total=sum(self._rows_total),
        )
