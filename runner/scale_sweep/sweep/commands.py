"""A server that a command starts, and another program as the load: their settings, and what excludes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scale_sweep.base.texts import command_text
from scale_sweep.experiment.work.operation import COMMAND
from scale_sweep.model.declared import Operation, Origin
from scale_sweep.model.declared_parts import LoadCommand
from scale_sweep.server.targets import all_facts

AUTO = "auto"
# What scale's own load has and another program's has not: keys of settings, or their sections.
_OF_OUR_LOAD = (
    "workload. mix operation preload. method.cache method.confirm load.method load.rate load.arrival load.slo "
    "load.soak load.rows load.rows_per_level load.trace load.trace_max load.window_max load.drain load.request_timeout "
    "load.generator load.placement"
).split()
_BESIDE_LOAD = ("load.prepare", "load.count", "load.rate_from")
OPERATION = Operation(name=COMMAND.name, unit=COMMAND.unit)

Values = Mapping[str, Any]
Origins = Mapping[str, Origin]


def target_of(values: Values) -> str:
    """The targets as the user named them; any server where only its command, its image or its address is named."""
    names = str(values["target.name"])
    is_any = values["target.command"] or (values["load.command"] and _has_place(values))
    return next(facts.name for facts in all_facts() if facts.by_command) if names == AUTO and is_any else names


def _has_place(values: Values) -> bool:
    return bool(values["target.image"] or values["target.endpoint"] or {"image", "endpoint"} & {*values["vary"]})


def load_command(values: Values) -> LoadCommand | None:
    if values["load.command"] is None:
        return None
    return LoadCommand(
        argv=values["load.command"],
        rate_from=values["load.rate_from"] or "",
        prepare=values["load.prepare"] or (),
        count=values["load.count"] or (),
    )


def server_command(values: Values) -> dict[str, str]:
    return {"command": command_text(values["target.command"] or ()), "ready": values["target.ready"] or ""}


def of_our_load(key: str) -> bool:
    return any(key == one or one[-1] == "." and key.startswith(one) for one in _OF_OUR_LOAD)


def mistakes(values: Values, origins: Origins, flags: Mapping[str, str]) -> Iterator[str]:
    """flags: by key."""
    is_any = any(facts.by_command for facts in all_facts() if facts.name == target_of(values))
    has_command = values["target.command"] or "command" in [*values["vary"]]
    if values["target.command"] and not is_any:
        yield f"--server: names any server; leave out --target {values['target.name']}"
    if values["target.ready"] and not is_any:
        yield "--ready: is for a server that --server or --image names"
    if values["load.command"] is None:
        if is_any and origins["load.command"] == "default":
            yield "--load: missing; name the program that loads this server"
        yield from (
            f"{flags[key]}: is for a sweep with --load CMD, which is missing" for key in _BESIDE_LOAD if values[key]
        )
        return
    if is_any and not (has_command or _has_place(values)):
        yield "--server: missing; name the command that starts the server, or its --image"
    if values["target.name"] == AUTO and not is_any:
        yield "--load: of which server? Give --server CMD, --image IMAGE or --target NAME"
    if origins["load.duration"] != "default" and not any("{seconds}" in word for word in values["load.command"]):
        yield "--duration: the program of --load gets no {seconds}, and decides itself how long it runs"
    for key, origin in origins.items():
        if origin != "default" and of_our_load(key):
            yield f"{flags[key]}: is a setting of scale's own load; leave it out, or leave out --load"
