"""The command `scale`: defines commands, calls packages, and shows their results."""

import os
import sys

_INTERRUPTED, _OUTPUT_GONE = 130, 6  # of scale_sweep/base/errors.py


def main() -> None:
    """A signal ends the process at once before anything runs and after everything ended."""
    _leave_on_signals()
    from scale_sweep.base.output import OutputGone, guard
    from scale_sweep.base.spawning import go_direct

    guard()
    go_direct()
    from scale_sweep.cli.commands import run

    try:
        run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except OutputGone as gone:
        sys.exit(_end_without_output(gone.reason, is_read=not gone.has_no_reader))
    finally:
        _leave_on_signals()
    sys.exit(0)


def __getattr__(name: str) -> object:
    if name != "app":
        raise AttributeError(name)
    from scale_sweep.cli.commands import app

    return app


def _end_without_output(reason: str, *, is_read: bool) -> int:
    if not is_read:
        return 0
    from scale_sweep.base.errors import StoreError
    from scale_sweep.cli import console

    remedy = "direct it to a file on a disk with free space"
    console.show_error(StoreError(f"standard output cannot be written: {reason}", remedy=remedy))
    return _OUTPUT_GONE


def _leave_on_signals() -> None:
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(*_: object) -> None:
    os._exit(_INTERRUPTED)
