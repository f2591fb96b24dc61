"""Readers of what the values of a workload are: text in, value out, ValueError with one sentence else. Pure."""

from __future__ import annotations

from collections.abc import Callable

from scale_sweep.base.texts import not_one_of

LAWS = ("walk", "random", "constant", "line", "sine", "square", "normal")
SHARE_MAX = 1_000_000


def laws(text: str) -> str:
    """One law, or LAW=SHARE,... with whole shares, as the user wrote it without blanks."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        _known(parts[0])
        return parts[0]
    shares: dict[str, int] = {}
    for part in parts:
        name, equals, share = (side.strip() for side in part.partition("="))
        _known(name)
        if name in shares:
            raise ValueError(f"{name!r} is named twice")
        if equals and not (share.isdecimal() and int(share) <= SHARE_MAX):
            raise ValueError(f"{part!r}: a share is a whole number of 0 to {SHARE_MAX:,}")
        shares[name] = int(share) if equals else 1
    if not any(shares.values()):
        raise ValueError(f"{text!r}: all shares are 0")
    return ",".join(f"{name}={share}" for name, share in shares.items())


def up_to(high: int, read_number: Callable[[str], int]) -> Callable[[str], int]:
    """A reader for a whole number of 0 to `high`."""

    def read(text: str) -> int:
        value = read_number(text)
        if not 0 <= value <= high:
            raise ValueError(f"{text!r} is not between 0 and {high}")
        return value

    return read


def _known(name: str) -> None:
    if name not in LAWS:
        raise ValueError(not_one_of(name, LAWS))
