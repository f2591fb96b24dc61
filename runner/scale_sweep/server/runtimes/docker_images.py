"""Makes an image of the Docker Engine from a tar archive of its files, and reads the labels of an image."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from scale_sweep.base.errors import PreflightError, ProvisionError
from scale_sweep.server.runtimes.docker_facts import client

BUILT_FROM = "scale.built-from"  # the folder of the installation


def labels_of(image: str) -> Mapping[str, str] | None:
    """The labels of an image of this engine; None if it has no such image. Raises PreflightError without an engine."""
    from docker.errors import APIError, NotFound

    try:
        return dict(_engine().images.get(image).labels)
    except NotFound:
        return None
    except APIError as error:
        raise ProvisionError(f"image {image}: {error.explanation or error}") from None


def import_image(archive: BinaryIO, image: str, labels: Mapping[str, str]) -> str:
    """The id of the image with these files, under the name `image`. Raises ProvisionError if the engine refuses it."""
    from docker.errors import APIError

    repository, _, tag = image.rpartition(":")
    changes = [f"LABEL {json.dumps(name)}={json.dumps(value)}" for name, value in labels.items()]
    changes.append("ENV PATH=/usr/bin:/bin")
    try:
        answer = _engine().api.import_image_from_data(archive, repository=repository, tag=tag, changes=changes)
        lines = [json.loads(line) for line in answer.splitlines() if line.strip()]
    except (APIError, ValueError, OSError) as error:
        raise ProvisionError(f"image {image} was not made: {getattr(error, 'explanation', None) or error}") from None
    if refused := [line["error"] for line in lines if "error" in line]:
        raise ProvisionError(f"image {image} was not made: {refused[0]}")
    return str(lines[-1].get("status", "")) if lines else ""


def _engine() -> Any:
    engine = client()
    if engine is None:
        raise PreflightError(
            "no Docker Engine answers", remedy="apt-get install docker.io, and start it; or use --runtime process"
        )
    return engine
