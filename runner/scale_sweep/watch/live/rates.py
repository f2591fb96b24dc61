"""Resource use of the running trial between its last two samples. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model import DiskSample
from scale_sweep.watch.live.state import Running


@dataclass(frozen=True, kw_only=True)
class DiskRates:
    """One disk: bytes written per second, share of the time with requests in flight (0..1), mean requests in flight."""

    write_bytes_per_s: float | None
    busy_ratio: float | None
    queue: float | None


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Cores used by server and by load generator, and each disk's rates; None until there are two samples."""

    server_cores: float | None = None
    generator_cores: float | None = None
    disks: Mapping[str, DiskRates] = field(default_factory=dict)


def rates(running: Running) -> Rates:
    old, new = running.before, running.sample
    if old is None or new is None or new.monotonic_ns <= old.monotonic_ns:
        return Rates()
    seconds = (new.monotonic_ns - old.monotonic_ns) / 1e9
    return Rates(
        server_cores=_rate(old.server.cpu_s_total, new.server.cpu_s_total, seconds),
        generator_cores=_rate(old.generator.cpu_s_total, new.generator.cpu_s_total, seconds),
        disks={name: _disk(old.disks[name], disk, seconds) for name, disk in new.disks.items() if name in old.disks},
    )


def _disk(old: DiskSample, new: DiskSample, seconds: float) -> DiskRates:
    busy = _rate(old.busy_s_total, new.busy_s_total, seconds)
    return DiskRates(
        write_bytes_per_s=_rate(old.written_bytes_total, new.written_bytes_total, seconds),
        busy_ratio=min(1.0, busy) if busy is not None else None,
        queue=_rate(old.queue_s_total, new.queue_s_total, seconds),
    )


def _rate(old: float | None, new: float | None, seconds: float) -> float | None:
    return max(0.0, new - old) / seconds if old is not None and new is not None else None
