"""The exit codes of the load generator in words."""

from __future__ import annotations

EXIT_MEANINGS = {
    2: "refused its spec",
    3: "found no driver or client library",
    4: "could not connect",
    5: "met a fatal error",
    7: "has an internal error",
    8: "was not ready when all were to begin",
}


def exit_words(code: int) -> str:
    """The end of a process, after its name. A negative code is that of a signal."""
    return EXIT_MEANINGS.get(code, f"died of signal {-code}" if code < 0 else f"ended with code {code}")
