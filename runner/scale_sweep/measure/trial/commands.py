"""The commands of a trial: what prepares its server, the program that loads it, and what counts the stored things."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.interrupts import Stop
from scale_sweep.base.texts import command_text
from scale_sweep.loadgen.command_load import CommandLoad, ToolCommand, run_to_end
from scale_sweep.loadgen.placeholders import CLIENTS_WORD, filled, names_in, values_of
from scale_sweep.loadgen.readers import VARIABLE_ROLES, Reader, reader_of, reader_of_load, result_of, value_of
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model.declared_parts import LoadCommand
from scale_sweep.model.loads import Counted, LoadProgram

PREPARE_S, COUNT_S = 3600.0, 600.0
_KEPT = ("PATH", "LANG", "TZ")  # of the environment
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


class TrialCommands:
    """home: a directory of this trial, which the commands have as their home."""

    def __init__(self, order: TrialOrder, command: LoadCommand, reached: Reached, home: str) -> None:
        self._order, self._command, self._reached, self._home = order, command, reached, home
        address, trial = reached.address, order.trial
        self._values = values_of(trial, address.host, address.port, address.data_dir, address.disks)
        self._reader = reader_of_load(command)
        self._cpus = trial.placement.generator_cpus or tuple(sorted(os.sched_getaffinity(0)))
        self._before: int | None = None
        self._load: CommandLoad | None = None

    def load(self) -> CommandLoad:
        load, reader = self._order.trial.load, self._reader
        self._load = self._started(
            ToolCommand(
                program=program_of(self._command, reader),
                argv=filled(self._command.argv, self._values),
                env=self._environment(reader),
                reader=reader,
                clients=load.connections,
                warmup_s=load.warmup_s,
                writes_rows=reader is not None and reader.unit == "rows",
            )
        )
        return self._load

    def prepare(self, stop: Stop) -> None:
        if self._command.prepare:
            self._run(self._command.prepare, PREPARE_S, stop)

    def count_before(self, stop: Stop) -> None:
        self._before = self._count(stop)

    def counted(self, stop: Stop) -> tuple[Counted | None, str]:
        """The rows that the load added, to compare with those that its program reports, if these are rows; else a
        sentence."""
        after = self._count(stop)
        if after is None or self._before is None:
            return None, ""
        added, name = after - self._before, self._order.trial.load.generator
        printed = "\n".join(line.text for line in self._load.kept) if self._load is not None else ""
        result = result_of(self._reader, printed) if self._reader is not None else None
        if result is not None and result.rows is not None:
            return Counted(rows=added), ""
        of_tool = "no number"
        if result is not None and result.count is not None:
            of_tool = f"{result.count:,.0f} {result.unit}"
        return None, f"--count: {added:,} more after the load than before it; {name} reports {of_tool}"

    def _count(self, stop: Stop) -> int | None:
        if not self._command.count:
            return None
        printed = self._run(self._command.count, COUNT_S, stop)
        numbers = re.findall(r"\d+", printed)
        if len(numbers) != 1:
            raise LoadError(f"--count: {command_text(self._command.count)} prints no single number: {printed[:200]!r}")
        return int(numbers[0])

    def _run(self, words: Sequence[str], limit_s: float, stop: Stop) -> str:
        argv = filled(words, self._values)
        env = {**self._environment(self._reader), **self._environment(reader_of(argv))}
        step = ToolCommand(program=LoadProgram(name=command_text(words)), argv=argv, env=env)

        def look() -> None:
            stop.look()
            if not self._reached.server.alive():
                raise LoadError(f"the server ended while {step.program.name} ran")

        return run_to_end(self._started(step), limit_s, look)

    def _started(self, command: ToolCommand) -> CommandLoad:
        return CommandLoad(command, self._cpus, self._reached.server.network_namespace)

    def _environment(self, reader: Reader | None) -> dict[str, str]:
        own = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {"PATH": _USUAL_PATH, **own, "HOME": self._home, **self._how_to_reach(reader)}

    def _how_to_reach(self, reader: Reader | None) -> Mapping[str, str]:
        """In the variables that the program reads."""
        address = self._reached.address
        try:
            spec = self._reached.session.load_spec()
        except TargetError:
            spec = {}
        roles = dict(zip(VARIABLE_ROLES, reader.variables if reader else (), strict=False))
        known = {
            "address": address.host,
            "port": str(address.port),
            "user": spec.get("user", ""),
            "password": address.secret,
            "database": spec.get("database", ""),
        }
        return {name: known[role] for role, name in roles.items() if name and known[role]}


def program_of(command: LoadCommand, reader: Reader | None) -> LoadProgram:
    """For results: the command as it was named, without a password of the server."""
    shown = command_text(command.argv)
    if reader is None:
        return LoadProgram(name=os.path.basename(command.argv[0]), command=shown)
    threads = value_of(command.argv, reader.threads) or "1"
    twice = 2 * int(threads) if threads.isdigit() else 2
    return LoadProgram(
        name=reader.name if reader.programs else os.path.basename(command.argv[0]),
        command=shown,
        rows=reader.unit,
        more_threads=reader.more_threads.format(threads=twice),
        more_clients="--connections" if CLIENTS_WORD in names_in(command.argv) else "",
    )
