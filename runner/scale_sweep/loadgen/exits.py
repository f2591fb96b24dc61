"""The exit codes of the load generator in words."""

from __future__ import annotations

import signal

from scale_sweep.base.errors import LoadError

EXIT_MEANINGS = {
    2: "refused its spec",
    3: "found no driver or client library",
    4: "could not connect",
    5: "met a fatal error",
    7: "has an internal error",
    8: "was not ready when all were to begin",
}


class GeneratorDied(LoadError):
    """A signal ended a process of the load generator."""

    usual_remedy = "dmesg names a process that the kernel killed, for example because memory was short"


def ended(name: str, code: int, words: str) -> LoadError:
    """The error for a process that ended with another code than 0, a negative one for a signal. words: its own, or
    ""."""
    more = f": {words}" if words else ""
    if code >= 0:
        return LoadError(f"{name} {EXIT_MEANINGS.get(code, f'ended with code {code}')}{more}")
    known = {one.value: f" ({one.name})" for one in signal.Signals}
    return GeneratorDied(f"{name} died of signal {-code}{known.get(-code, '')}{more}")
