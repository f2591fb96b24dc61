"""`auto`: which target on which runtime this machine offers best, and why, in one sentence.

TDengine in Docker if the engine answers and the image is there or can be pulled, else a local taosd, else the embedded
default, PostgreSQL from a wheel. What is there but could not be used is passed over. Asking by name for what is
not there is an error with what to install.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from runner.errors import PreflightError, UsageError
from runner.model import Sweep
from runner.runtimes.docker_facts import can_pull, docker_facts, image_state
from runner.targets import TARGETS, Installation, Target, load_target

_RUNS = {
    "tdengine": ("docker", "process", "endpoint"),
    "postgres": ("process", "docker"),
    "null": ("process",),
}
AUTO_ORDER = (("tdengine", "docker"), ("tdengine", "process"), ("postgres", "process"), ("postgres", "docker"))


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen. home: the server's installation, as the runtime sees it; sentence: which and why."""

    target: Target
    runtime: str
    image: str
    home: str
    version: str
    sentence: str


def choose(sweep: Sweep) -> Choice:
    """The first of AUTO_ORDER that the sweep allows and the machine has.

    Raises UsageError for a pair that does not exist, PreflightError with what to install.
    """
    _refuse_two_places(sweep)
    if sweep.endpoint and sweep.target == "auto":
        raise UsageError("--endpoint: which database is it?", remedy="name it with --target")
    if sweep.runtime == "endpoint" and not sweep.endpoint:
        raise UsageError("--runtime endpoint: where does the server run?", remedy="give --endpoint HOST:PORT")
    if sweep.target != "auto":
        target = load_target(sweep.target)
        if sweep.runtime not in ("auto", *_RUNS[target.facts.name]):
            raise UsageError(
                f"--runtime: {target.facts.name} does not run as {sweep.runtime}; it runs as {', '.join(_RUNS[target.facts.name])}"
            )
        if sweep.endpoint and "endpoint" not in _RUNS[target.facts.name]:
            raise UsageError(
                f"--endpoint: a {target.facts.name} server that already runs is not swept; "
                f"{target.facts.name} runs as {', '.join(_RUNS[target.facts.name])}",
                remedy="leave out --endpoint: a server is started for each trial",
            )
        if sweep.target == "null":
            return Choice(
                target=target,
                runtime="process",
                image="",
                home="",
                version="1",
                sentence="target null, as asked: nothing is stored, only the generator is measured",
            )
    missing: list[str] = []
    for name, runtime in _candidates(sweep):
        found = _try(sweep, load_target(name), runtime)
        if isinstance(found, Choice):
            passed_over = f" ({'; '.join(missing)})" if missing else ""
            return replace(found, sentence=found.sentence + passed_over)
        missing.append(found)
    raise PreflightError("nothing to measure here: " + "; ".join(missing), remedy=_remedy(sweep))


def _refuse_two_places(sweep: Sweep) -> None:
    """A server runs already, or comes from an image, or from an installation. Raises UsageError for two at once.

    With --endpoint, --home is where the client library is.
    """
    runs = "--endpoint" if sweep.endpoint else ""
    container = "--image" if sweep.image else "--runtime docker" if sweep.runtime == "docker" else ""
    home = "--home" if sweep.home and not runs else ""
    installed = home or ("--runtime process" if sweep.runtime == "process" else "")
    asked = [flag for flag in (runs, container, installed) if flag]
    if len(asked) > 1:
        raise UsageError(
            f"{' and '.join(asked)}: a server either runs already, or is in an image, or is installed",
            remedy="leave out one of the two",
        )


def _candidates(sweep: Sweep) -> list[tuple[str, str]]:
    if sweep.endpoint:
        return [(sweep.target, "endpoint")]
    return [
        (t, r)
        for t, r in AUTO_ORDER
        if t in TARGETS
        and sweep.target in ("auto", t)
        and sweep.runtime in ("auto", r)
        and not (sweep.home and r == "docker")
        and not (sweep.image and r == "process")
    ]


def _try(sweep: Sweep, target: Target, runtime: str) -> Choice | str:
    """The choice, or why not."""
    how = "as asked" if sweep.target != "auto" and sweep.runtime != "auto" else "the best that this machine offers"
    if runtime == "docker":
        image = sweep.image or target.facts.default_image(sweep.version)
        why_not = _docker_why_not(image)
        return why_not or Choice(
            target=target,
            runtime=runtime,
            image=image,
            home=target.facts.image_home,
            version="",
            sentence=f"{target.facts.name} in Docker ({image}), {how}",
        )
    installation = target.find(sweep.home)
    if runtime == "endpoint":
        return Choice(
            target=target,
            runtime=runtime,
            image="",
            home=installation.home if installation else sweep.home,
            version="",
            sentence=f"{target.facts.name} at {sweep.endpoint}, which already runs: neither pinned nor stopped",
        )
    if installation is None:
        where = f"in {sweep.home}" if sweep.home else "on this machine"
        return f"no {target.facts.name} server {where}"
    if sweep.target == "auto" and (why_not := _unusable(target, installation)):
        return why_not
    return Choice(
        target=target,
        runtime=runtime,
        image="",
        home=installation.home,
        version=installation.version,
        sentence=f"{target.facts.name} {installation.version} as a process ({installation.found}), {how}",
    )


def _unusable(target: Target, installation: Installation) -> str:
    """Why `auto` goes on to the next; one that was asked for by name is refused by preflight, with a remedy."""
    where = f"{target.facts.name} in {installation.home} ({installation.found})"
    if not installation.version:
        return f"{where} does not say its version"
    blocking = [f for f in target.check_client(installation.home, installation.version) if f.blocking]
    return f"{where}: {blocking[0].subject}: {blocking[0].sentence}" if blocking else ""


def _docker_why_not(image: str) -> str:
    facts = docker_facts()
    if not facts.reachable:
        return "no Docker Engine answers"
    if image_state(image) == "local" or can_pull(image):
        return ""
    return f"image {image} is not here and cannot be pulled"


def _remedy(sweep: Sweep) -> str:
    names = [sweep.target] if sweep.target != "auto" else list(TARGETS.names())
    installs = [load_target(name).facts.to_install for name in names if name != "null"]
    if sweep.runtime != "docker":
        return "; ".join(installs)
    if docker_facts().reachable:
        image = sweep.image or load_target(names[0]).facts.default_image(sweep.version)
        return f"docker pull {image} says why; correct --version or --image, or bring the image here with docker load"
    return "; ".join(
        ["install Docker Engine (apt-get install docker.io) and have the image, or give --image", *installs]
    )
