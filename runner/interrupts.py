"""Ctrl-C, SIGTERM and SIGHUP: each raises KeyboardInterrupt, and waits while something is made or undone.

What is half made has no name yet by which it could be removed, and what is half undone stays behind for good.
Refuses to lose a signal: the block's end delivers it. Refuses to override a shell that ignores one (`&`, nohup).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    """Of the main thread, the only one that signals interrupt."""

    blocks = 0
    came = False


def listen() -> None:
    """From now on these signals end the program by KeyboardInterrupt. To be called in the main thread, once.

    SIGQUIT gets its default back: a shell starts background jobs with it ignored, and a server that inherits this does
    not hear it as its stop signal while it starts.
    """
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _State.blocks:
        _State.came = True
    else:
        raise KeyboardInterrupt


@contextmanager
def held_back() -> Iterator[Callable[[], bool]]:
    """Signals wait until the outermost block is left, in whatever way. Yields whether one waits: then hurry.

    In any other thread than the main one, which no signal reaches, nothing is held back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    _State.blocks += 1
    try:
        yield lambda: _State.came
    finally:
        _State.blocks -= 1
        if _State.came and not _State.blocks:
            _State.came = False
            raise KeyboardInterrupt
