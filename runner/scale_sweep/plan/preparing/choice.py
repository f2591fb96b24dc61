"""Chooses a server for every combination: the best target and runtime here where `auto` leaves it open."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.experiment.axes import Axis, axis_of
from scale_sweep.model.declared import Sweep, Tls
from scale_sweep.model.resources import GIVEN_BY_THE_LOAD, MEMORY, ServerSource
from scale_sweep.server.runtimes import RUNTIMES, Capabilities, load_runtime
from scale_sweep.server.targets import Facts, Installation, Target, all_facts, load_facts, load_target
from scale_sweep.sweep.vary import SUBJECT_FIELDS, variants

ANY = "auto"
NOTHING = "nothing to measure here: "


class RequestedServer(Protocol):
    """ "auto" and "" leave the choice open."""

    @property
    def target(self) -> str: ...
    @property
    def runtime(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def image(self) -> str: ...
    @property
    def home(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def tls(self) -> Tls | None: ...


def subject_key(request: RequestedServer) -> str:
    return "|".join(getattr(request, name) for name in SUBJECT_FIELDS)


def source_of(runtime: str) -> ServerSource | None:
    """None for `auto`. Raises UsageError for an unknown runtime."""
    return None if runtime == ANY else load_runtime(runtime).CAN.source


def refuse_two_places(request: RequestedServer) -> None:
    """Raises UsageError. With --endpoint, --home is the client library's directory."""
    wanted = source_of(request.runtime)
    runs = bool(request.endpoint) or wanted is ServerSource.ENDPOINT
    flag_of = {
        ServerSource.ENDPOINT: "--endpoint" if request.endpoint else "",
        ServerSource.IMAGE: "--image" if request.image else "--version" if request.version else "",
        ServerSource.INSTALLATION: "--home" if request.home and not runs else "",
        ServerSource.SIMULATION: "",
    }
    flags = [flag or (f"--runtime {request.runtime}" if source is wanted else "") for source, flag in flag_of.items()]
    flags = [flag for flag in flags if flag]
    if len(flags) > 1:
        raise UsageError(
            f"{' and '.join(flags)}: a server either runs already, or is in an image, or is installed",
            remedy="leave out one of the two"
            if "--version" not in flags
            else "leave out --version, which names an image",
        )
    if wanted is ServerSource.ENDPOINT and not request.endpoint:
        raise UsageError(f"--runtime {request.runtime}: where does the server run?", remedy="give --endpoint HOST:PORT")


@dataclass(frozen=True, kw_only=True)
class ChosenArm:
    """One combination."""

    variant: Mapping[str, str]
    sweep: Sweep  # with its server, and of the varied values only its own
    choice: ServerChoice


def chosen_arms(sweep: Sweep, find: Find | None = None) -> tuple[ChosenArm, ...]:
    """In the order of the variants. Each distinct server is searched once. PreflightError names all that lack."""
    find = find or choose
    choices: dict[str, ServerChoice] = {}
    arms, lacking = [], dict[str, PreflightError]()
    for variant in variants(sweep):
        own_fields: dict[str, Any] = {name: variant[name] for name in SUBJECT_FIELDS if name in variant}
        request = replace(sweep, **own_fields)
        key = subject_key(request)
        try:
            choice = choices[key] if key in choices else find(request)
        except PreflightError as error:
            if "target" not in variant:
                raise
            lacking[request.target] = error
            continue
        choices[key] = choice
        chosen = replace(
            request, target=choice.facts.name, runtime=choice.runtime, image=choice.image, home=choice.home
        )
        arms.append(ChosenArm(variant=variant, sweep=chosen, choice=choice))
    if lacking:
        there = ", ".join(dict.fromkeys(arm.sweep.target for arm in arms))
        skip = f"; --skip-unavailable measures {there} alone" if there else ""
        remedies = "; ".join(dict.fromkeys(error.remedy for error in lacking.values()))
        raise PreflightError("; ".join(error.message for error in lacking.values()), remedy=remedies + skip)
    return tuple(arms)


@dataclass(frozen=True, kw_only=True)
class ServerChoice:
    target: Target
    runtime: str
    image: str
    home: str  # the server's installation, as the runtime sees it
    version: str
    sentence: str  # what was chosen and why
    missing: str = ""  # why a server that a plan only assumes was not found

    @property
    def facts(self) -> Facts:
        return self.target.facts

    @property
    def can(self) -> Capabilities:
        return load_runtime(self.runtime).CAN


Find = Callable[[RequestedServer], ServerChoice]


def choose(request: RequestedServer) -> ServerChoice:
    """The first requested server that the machine has. Raises PreflightError with what to install."""
    result = search(request)
    if isinstance(result, ServerChoice):
        return result
    raise PreflightError(NOTHING + "; ".join(result), remedy=to_have(request))


def search(request: RequestedServer) -> ServerChoice | tuple[str, ...]:
    """The server, or the reasons why the machine has none. Raises UsageError for a pair that does not exist,
    PreflightError if a runtime would start it on another machine and no other can."""
    refuse_wrong_request(request)
    missing: list[str] = []
    elsewhere = ""
    for facts, runtime in candidates(request):
        obstacle = load_runtime(runtime).obstacle(image_of(request, facts, runtime))
        result = obstacle.sentence if obstacle else _try(request, facts, runtime)
        if isinstance(result, ServerChoice):
            skipped = f" ({'; '.join(missing)})" if missing else ""
            return replace(result, sentence=result.sentence + skipped)
        missing.append(result)
        elsewhere = obstacle.remedy if obstacle and obstacle.is_elsewhere else elsewhere
    reasons = tuple(dict.fromkeys(missing))
    if elsewhere:
        raise PreflightError(NOTHING + "; ".join(reasons), remedy=elsewhere)
    return reasons


def refuse_wrong_request(request: RequestedServer) -> None:
    """Raises UsageError for a request that no machine can meet."""
    refuse_two_places(request)
    if request.endpoint and request.target == ANY:
        raise UsageError("--endpoint: which database is it?", remedy="name it with --target")
    if request.target != ANY:
        _refuse_pair(request, load_facts(request.target))
    if request.home and not os.path.isdir(request.home):
        what = "is not a directory" if os.path.exists(request.home) else "does not exist"
        raise UsageError(f"--home {request.home}: {what}", remedy="give the directory of an installed server")


def runtimes_of(facts: Facts) -> tuple[str, ...]:
    by_source = {name: load_runtime(name).CAN.source for name in RUNTIMES.names()}
    return tuple(name for source in facts.runs_from for name, offers in by_source.items() if offers is source)


def _refuse_pair(request: RequestedServer, facts: Facts) -> None:
    runs_as = ", ".join(runtimes_of(facts))
    if request.runtime not in (ANY, *runtimes_of(facts)):
        raise UsageError(f"--runtime: {facts.name} does not run as {request.runtime}; it runs as {runs_as}")
    if request.endpoint and ServerSource.ENDPOINT not in facts.runs_from:
        raise UsageError(
            f"--endpoint: a {facts.name} server that already runs is not swept; {facts.name} runs as {runs_as}",
            remedy="leave out --endpoint: a server is started for each trial",
        )
    if request.home and ServerSource.SIMULATION in facts.runs_from:
        raise UsageError(f"--home: {facts.name} has no installation; it runs as {runs_as}", remedy="leave out --home")
    if (request.image or request.version) and ServerSource.IMAGE not in facts.runs_from:
        flag = "--image" if request.image else "--version"
        sentence = f"{flag}: {facts.name} does not run from an image; it runs as {runs_as}"
        raise UsageError(sentence, remedy=f"leave out {flag}")


def candidates(request: RequestedServer) -> list[tuple[Facts, str]]:
    ranked = sorted((f for f in all_facts() if f.auto_rank is not None), key=lambda f: f.auto_rank or 0)
    targets = ranked if request.target == ANY else [load_facts(request.target)]
    return [
        (facts, name)
        for facts in targets
        for name in runtimes_of(facts)
        if request.runtime in (ANY, name) and _fits(request, load_runtime(name).CAN.source)
    ]


def _fits(request: RequestedServer, source: ServerSource) -> bool:
    if request.endpoint:
        return source is ServerSource.ENDPOINT
    named = {ServerSource.IMAGE: request.image or request.version, ServerSource.INSTALLATION: request.home}
    named[ServerSource.SIMULATION] = ""
    return source in named and not any(named[other] for other in named if other is not source)


def _try(request: RequestedServer, facts: Facts, name: str) -> ServerChoice | str:
    runtime = load_runtime(name)
    source = runtime.CAN.source
    image = image_of(request, facts, name)
    chosen = ServerChoice(target=load_target(facts.name), runtime=name, image=image, home="", version="", sentence="")
    if source is ServerSource.IMAGE:
        sentence = f"{facts.name} {runtime.phrase(image)}, {_how(request)}"
        return replace(chosen, home=facts.image_home, sentence=sentence)
    installation = chosen.target.find(request.home)
    if source is ServerSource.ENDPOINT:
        home = installation.home if installation else request.home
        return replace(chosen, home=home, sentence=f"{facts.name} {runtime.phrase(request.endpoint)}")
    if installation is None:
        return f"no {facts.name} server {f'in {request.home}' if request.home else 'on this machine'}"
    if request.target == ANY and (why_not := _unusable(chosen.target, installation)):
        return why_not
    sentence = f"{facts.name} {installation.version} {runtime.phrase(installation.source)}, {_how(request)}"
    if facts.remark:
        sentence = f"target {facts.name}, as requested: {facts.remark}"
    return replace(chosen, home=installation.home, version=installation.version, sentence=sentence)


def image_of(request: RequestedServer, facts: Facts, runtime: str) -> str:
    is_image = load_runtime(runtime).CAN.source is ServerSource.IMAGE
    return (request.image or facts.default_image(request.version)) if is_image else ""


def _how(request: RequestedServer) -> str:
    if request.target == ANY:
        return "the best that this machine offers"
    return "as requested" if request.runtime != ANY else "as requested, in the best runtime of this machine"


def _unusable(target: Target, installation: Installation) -> str:
    where = f"{target.facts.name} in {installation.home} ({installation.source})"
    if not installation.version:
        return f"{where} does not report its version"
    blocking = [f for f in target.check_client(installation.home, installation.version) if f.blocking]
    return f"{where}: {blocking[0].subject}: {blocking[0].sentence}" if blocking else ""


def to_have(request: RequestedServer) -> str:
    """Names what to install or to correct if the machine lacks the server."""
    wanted = all_facts() if request.target == ANY else (load_facts(request.target),)
    installs = [facts.to_install for facts in wanted if facts.to_install]
    runtime = request.runtime
    if runtime == ANY and request.version and request.target != ANY:  # of an image
        runtime = next((name for _, name in candidates(request)), ANY)
    if runtime == ANY:
        return "; ".join(installs)
    obstacle = load_runtime(runtime).obstacle(request.image or wanted[0].default_image(request.version))
    if obstacle is None:
        return "; ".join(installs)
    if obstacle.lacks_image and not request.image and wanted[0].is_image_built:
        return load_target(wanted[0].name).to_have_image(wanted[0].default_image(request.version))
    return "; ".join([obstacle.remedy, *(installs if obstacle.installing_helps else [])])


def refuse_unable(sweep: Sweep, choice: ServerChoice) -> None:
    """Raises UsageError for a quantity that the runtime does not give."""
    where = "--endpoint" if sweep.endpoint else f"--runtime {choice.runtime}"
    constants = [(axis_of(name), (level,)) for name, level in sweep.constants.items()]
    for axis, levels in [(axis_of(sweep.axis), sweep.levels), *constants]:
        is_fixed = len(levels) == 1 and axis.facts.one_without != ""
        lacking = _lacking(axis, levels[0], choice)
        if lacking and not is_fixed:
            raise UsageError(
                f"{where}: {_why_not(choice, lacking)}, so its {axis.facts.name} cannot be swept",
                remedy=axis.facts.one_without or f"let the sweep start the server: --runtime {_able(choice, lacking)}",
            )
    if sweep.memory_bytes is not None and MEMORY not in choice.can.gives:
        raise UsageError(f"--memory: {_why_not(choice, MEMORY)}", remedy="leave it out")


def _lacking(axis: Axis, level: float, choice: ServerChoice) -> str:
    available = choice.can.gives | GIVEN_BY_THE_LOAD
    return next((quantity for quantity in axis.amounts(level) if quantity not in available), "")


def _why_not(choice: ServerChoice, quantity: str) -> str:
    return choice.can.why_not.get(quantity, f"{choice.runtime} gives a server no {quantity}")


def _able(choice: ServerChoice, quantity: str) -> str:
    names = [name for name in RUNTIMES.names() if name in runtimes_of(choice.facts)]
    return " or ".join(name for name in names if quantity in load_runtime(name).CAN.gives)
