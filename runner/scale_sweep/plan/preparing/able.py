"""Checks that the chosen runtime can give a server what the axis varies. Pure; names no axis and no runtime."""

from __future__ import annotations

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import Sweep
from scale_sweep.plan.preparing.choice import Choice, runtimes_of
from scale_sweep.server.runtimes import RUNTIMES, load_runtime


def refuse_unable(sweep: Sweep, choice: Choice) -> None:
    """Raises UsageError if the runtime lacks a capability that the axis needs."""
    axis = load_axis(sweep.axis)
    if not axis.needs or getattr(choice.can, axis.needs) or (axis.one_without and len(sweep.levels) == 1):
        return
    where = "--endpoint" if sweep.endpoint else f"--runtime {choice.runtime}"
    why = choice.can.why_not.get(axis.needs, f"{choice.runtime} lacks {axis.needs.replace('_', ' ')}")
    raise UsageError(
        f"{where}: {why}, so its {axis.name} cannot be swept",
        remedy=axis.one_without or f"let the sweep start the server: --runtime {_able(choice, axis.needs)}",
    )


def _able(choice: Choice, needs: str) -> str:
    names = [name for name in RUNTIMES.names() if name in runtimes_of(choice.facts)]
    return " or ".join(name for name in names if getattr(load_runtime(name).CAN, needs))
