"""Docker images made of programs that are installed here, without a registry: the real programs, not the published images.

Prometheus: the Debian package's two programs. Grafana: a directory of its release or its build (SCALE_GRAFANA_HOME). What
such an image cannot show is that the published one has its programs and pages where dashboards/compose.yaml expects them.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.server.runtimes.docker_facts import docker_facts
from tests.integration.docker_image import libraries, readable
from tests.needs import missing, need

GRAFANA_HOME = "/usr/share/grafana"


def require_docker() -> None:
    """Skips or fails without an engine."""
    if not docker_facts().reachable:
        missing("no Docker Engine answers: apt-get install docker.io, and start dockerd")


def prometheus_image() -> str:
    """The image's name; made once, then reused."""
    programs = [Path(need(name)) for name in ("prometheus", "promtool")]
    return _image("scale-test/prometheus:debian", {f"usr/bin/{p.name}": p for p in programs}, "/usr/bin")


def grafana_image(home: Path) -> str:
    """Likewise, with the pages of the directory."""
    inside = {f"{GRAFANA_HOME[1:]}/{name}": home / name for name in ("bin/grafana", "conf", "public")}
    return _image("scale-test/grafana:built", inside, f"{GRAFANA_HOME}/bin")


def _image(name: str, inside: Mapping[str, Path], path: str) -> str:
    import docker

    engine = docker.from_env()
    if not engine.images.list(name=name):
        repository, _, tag = name.partition(":")
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            _fill(file, inside)
            file.seek(0)
            engine.api.import_image_from_data(file, repository=repository, tag=tag, changes=[f"ENV PATH={path}"])
    return name


def _fill(file: io.BufferedRandom | object, inside: Mapping[str, Path]) -> None:
    programs = [p for p in inside.values() if p.is_file()]
    with tarfile.open(fileobj=file, mode="w") as tar:  # type: ignore[call-overload]
        for where, source in inside.items():
            tar.add(source.resolve(), where, filter=readable)
        for library in libraries(programs):
            tar.add(Path(library).resolve(), library, filter=readable)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
