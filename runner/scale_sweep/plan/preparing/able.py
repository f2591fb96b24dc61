"""Refuses a sweep whose server cannot be given what its axes grant. Pure; names no axis and no runtime."""

from __future__ import annotations

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import Axis, axis_of
from scale_sweep.model import GIVEN_BY_THE_LOAD, MEMORY, Sweep
from scale_sweep.plan.preparing.choice import Choice, runtimes_of
from scale_sweep.server.runtimes import RUNTIMES, load_runtime


def refuse_unable(sweep: Sweep, choice: Choice) -> None:
    """Raises UsageError for a quantity that neither the runtime nor the load generator gives."""
    constants = [(axis_of(name), (level,)) for name, level in sweep.constants.items()]
    for axis, levels in [(axis_of(sweep.axis), sweep.levels), *constants]:
        is_fixed = len(levels) == 1 and axis.facts.one_without != ""
        lacking = _lacking(axis, levels[0], choice)
        if lacking and not is_fixed:
            raise UsageError(
                f"{_where(sweep, choice)}: {_why_not(choice, lacking)}, so its {axis.facts.name} cannot be swept",
                remedy=axis.facts.one_without or f"let the sweep start the server: --runtime {_able(choice, lacking)}",
            )
    if sweep.memory_bytes is not None and MEMORY not in choice.can.gives:
        raise UsageError(f"--memory: {_why_not(choice, MEMORY)}", remedy="leave it out")


def _lacking(axis: Axis, level: float, choice: Choice) -> str:
    """The first granted quantity that nothing gives; "" if there is none."""
    given = choice.can.gives | GIVEN_BY_THE_LOAD
    return next((quantity for quantity in axis.amounts(level) if quantity not in given), "")


def _where(sweep: Sweep, choice: Choice) -> str:
    return "--endpoint" if sweep.endpoint else f"--runtime {choice.runtime}"


def _why_not(choice: Choice, quantity: str) -> str:
    return choice.can.why_not.get(quantity, f"{choice.runtime} gives a server no {quantity}")


def _able(choice: Choice, quantity: str) -> str:
    names = [name for name in RUNTIMES.names() if name in runtimes_of(choice.facts)]
    return " or ".join(name for name in names if quantity in load_runtime(name).CAN.gives)
