"""Another program as the load of a sweep: what its row says about its window, and what a plan says of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from scale_sweep.loadgen.placeholders import SECONDS_WORD, names_in
from scale_sweep.loadgen.readers import reader_of_load, with_progress
from scale_sweep.model.declared import Origin, Sweep
from scale_sweep.model.declared_parts import Load
from scale_sweep.server.targets import Facts


def as_tool(load: Load, origin: Mapping[str, Origin]) -> Load:
    """With the flags that make it report progress. A warm-up needs progress; without {seconds} the program decides how
    long it runs, and only a warm-up that the user named is left out. Raises UsageError for --rate-from."""
    command = load.command
    if command is None:
        return load
    reader, is_timed = reader_of_load(command), SECONDS_WORD in names_in(command.argv)
    argv = with_progress(reader, command.argv) if reader is not None else command.argv
    warms_up = reader is not None and reader.progress and (is_timed or origin.get("load.warmup") != "default")
    if not warms_up:
        load = replace(load, warmup_s=0.0, warmup_least_s=None)
    if not is_timed:
        load = replace(load, duration_s=None, carries_claim=True)
    return replace(
        load,
        command=replace(command, argv=argv),
        generator=reader.name if reader is not None and reader.programs else PurePath(argv[0]).name,
        window_max_s=None,
        may_discard=False,
    )


def tool_sentence(sweep: Sweep) -> str:
    """The part of the program's run that counts; "" for scale's load."""
    load = sweep.load
    if load.command is None:
        return ""
    if reader_of_load(load.command) is None:
        return f"the output of {load.generator} cannot be read: a rate needs --rate-from REGEX"
    if not load.warmup_s:
        return (
            f"the whole run of {load.generator} is the window: without {{seconds}}, or without a report of each second"
        )
    return ""


def generator_mistakes(load: Load, facts: Facts) -> list[str]:
    if load.command is not None:
        return []
    mistakes = []
    if load.generator not in facts.load_generators:
        mistakes.append(f"--load-generator: {facts.name} can be loaded by {', '.join(facts.load_generators)}")
    if not load.is_ours and load.rows is None:
        mistakes.append(f"--load-generator: {load.generator} supports fixed work only; give --rows")
    return mistakes
