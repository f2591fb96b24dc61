"""Copies single files out of a Docker image, so that the load generator can open the server's own client library."""

from __future__ import annotations

import contextlib
import io
import posixpath
import tarfile
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError, ScaleError
from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.state import keep_file, kept_file
from scale_sweep.server.runtimes.docker_facts import client, image_state

LINKS_MAX = 10
BYTES_MAX = 1 << 30


def copy_out(image: str, path: str) -> Path:
    """The file at `path` in the image (links followed), copied once. A copy that was changed is made again.

    Raises ProvisionError if the image or the file does not exist.
    """
    engine = client()
    if engine is None:
        raise ProvisionError("no Docker Engine answers", remedy="start dockerd, or use --runtime process")
    try:
        if image_state(image) != "local":
            engine.images.pull(image)
        key = str(engine.images.get(image).id).partition(":")[2][:12]
        inside = f"lib/{posixpath.basename(path)}"
        if there := kept_file(key, inside, "clients"):
            return there
        with deferred():
            return keep_file(_copied(engine, image, path), key, inside, "clients")
    except ScaleError:
        raise
    except Exception as error:
        raise ProvisionError(f"{path} cannot be taken from image {image}: {error}") from None


def _copied(engine: Any, image: str, path: str) -> bytes:
    container = engine.containers.create(image, entrypoint=["/bin/true"], labels={"scale.run": "copy"})
    try:
        return _content(container, path)
    finally:
        with contextlib.suppress(Exception):
            container.remove(force=True, v=True)


def _content(container: Any, path: str) -> bytes:
    for _ in range(LINKS_MAX):
        stream, _ = container.get_archive(path)
        with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
            entry = tar.getmembers()[0]
            if entry.issym():
                path = posixpath.join(posixpath.dirname(path), entry.linkname)
                continue
            file = tar.extractfile(entry)
            if file is None or entry.size > BYTES_MAX:
                raise ProvisionError(f"{path} in the image is not a file of sensible size")
            return file.read()
    raise ProvisionError(f"{path} in the image is a chain of links without end")
