"""Where the server is and who asks: what every kind of taosBenchmark file says at its top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scale_sweep.taosbenchmark.job import Refusals
from scale_sweep.taosbenchmark.keys import ObjectReader


@dataclass(frozen=True, kw_only=True)
class Connection:
    """An address and an account."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)


def read_connection(
    keys: ObjectReader, options: Mapping[str, str], client: Mapping[str, str], password: str, usual_port: int
) -> Connection:
    """From the file, the options beside it and the client's configuration. password: overrules the file's."""
    for option, key in {"host": "host", "port": "port", "user": "user", "password": "password"}.items():
        if option in options and keys.has(key):
            keys.refusals.add(f"--{option}", "is in the file too; give it once")
    keys.text("cfgdir", "")
    named, host, user = keys.text("password", ""), keys.text("host", ""), keys.text("user", "root")
    return Connection(
        host=options.get("host") or host or client.get("host") or "localhost",
        port=_port(keys, options.get("port", ""), usual_port, keys.refusals),
        user=options.get("user") or user,
        password=password or named or "taosdata",
    )


def _port(keys: ObjectReader, text: str, usual: int, refusals: Refusals) -> int:
    named = keys.number("port", usual, "port")
    if text and not (text.isdecimal() and 1 <= int(text) <= 65_535):
        refusals.add("-P (--port)", f"{text!r} is not a port")
        return named
    return int(text) if text else named


def notes_of_idle(idle: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """One sentence for all keys that have no effect for the same reason."""
    reasons = dict.fromkeys(why for _, why in idle)
    paths = {reason: [path for path, why in idle if why == reason] for reason in reasons}
    return tuple(f"{', '.join(p)} {'has' if len(p) == 1 else 'have'} no effect: {why}" for why, p in paths.items())
