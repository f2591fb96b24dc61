"""Servers that the machine lacks: a plan assumes them, before anything is installed, or a sweep leaves them out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scale_sweep.base.errors import PreflightError
from scale_sweep.model.declared import Sweep
from scale_sweep.model.planned import Finding
from scale_sweep.model.resources import ServerSource
from scale_sweep.plan.preparing.choice import (
    RequestedServer,
    ServerChoice,
    candidates,
    image_of,
    refuse_wrong_request,
    search,
    to_have,
)
from scale_sweep.plan.preparing.machine_findings import caution
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.targets import Facts, load_target

ELSEWHERE = "the machine is described by --machine"
NOT_CHECKED = "versions, client libraries and the settings that only a server can check are not checked"


def choose_or_assume(request: RequestedServer) -> ServerChoice:
    """The first requested server that the machine has; else an assumed one in a runtime that the machine has."""
    result = search(request)
    if isinstance(result, ServerChoice):
        return result
    possible = candidates(request)
    usable = [one for one in possible if load_runtime(one[1]).obstacle(image_of(request, *one)) is None]
    return _assumed(request, usable or possible, "; ".join(result))


def without_unavailable(sweep: Sweep) -> tuple[Sweep, str]:
    """Without the databases of several that this machine lacks, and a sentence about them. Raises PreflightError if it
    lacks all."""
    targets = sweep.vary.get("target", ())
    reasons = {name: search(replace(sweep, target=name)) for name in targets}
    lacking = {name: why for name, why in reasons.items() if not isinstance(why, ServerChoice)}
    if len(targets) < 2 or not lacking or len(lacking) == len(targets):
        return sweep, ""
    there = tuple(name for name in targets if name not in lacking)
    others = {name: values for name, values in sweep.vary.items() if name != "target"}
    vary = {"target": there, **others} if len(there) > 1 else others
    words = "; ".join(f"{name} ({'; '.join(why)})" for name, why in lacking.items())
    return replace(sweep, target=there[0], vary=vary), f"--skip-unavailable leaves out {words}"


def assume(request: RequestedServer) -> ServerChoice:
    refuse_wrong_request(request)
    return _assumed(request, candidates(request), ELSEWHERE)


def not_found(requests: Iterable[tuple[RequestedServer, ServerChoice]]) -> list[Finding]:
    """One finding for all assumed servers; none if all were found."""
    assumed = [(request, choice) for request, choice in requests if choice.missing]
    if not assumed:
        return []
    reasons = "; ".join(dict.fromkeys(choice.missing for _, choice in assumed))
    names = ", ".join(dict.fromkeys(choice.facts.title for _, choice in assumed))
    remedies = dict.fromkeys(to_have(request) for request, choice in assumed if choice.missing != ELSEWHERE)
    sentence = f"{reasons}: the plan assumes {names}; {NOT_CHECKED}"
    return [caution("server", sentence, "; ".join(filter(None, remedies)))]


def _assumed(request: RequestedServer, possible: list[tuple[Facts, str]], why: str) -> ServerChoice:
    if not possible:
        raise PreflightError(f"nothing to measure: no runtime runs {request.target}", remedy=to_have(request))
    facts, name = possible[0]
    runtime = load_runtime(name)
    return ServerChoice(
        target=load_target(facts.name),
        runtime=name,
        image=image_of(request, facts, name),
        home=facts.image_home if runtime.CAN.source is ServerSource.IMAGE else request.home,
        version="",
        sentence=f"{facts.name} {runtime.phrase(request.endpoint or 'assumed')}",
        missing=why,
    )
