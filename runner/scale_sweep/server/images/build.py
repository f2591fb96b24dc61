"""Makes an image of an installed server under the name that `--runtime docker` starts."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.server.images.root_files import (
    JAVA_ALONE,
    LIBRARIES,
    RELEASE,
    SHELL,
    ZONE,
    is_of_system,
    needed_libraries,
    system_files,
    tree,
    write_root,
)
from scale_sweep.server.runtimes.docker_engine import BUILT_FROM, import_image, labels_of
from scale_sweep.server.targets import Target, all_facts, load_target


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    """image: its name with its tag. version: of the server. files: how many the image has. size_bytes: of them all.
    is_default: `--runtime docker` starts it if neither --version nor --image is given."""

    image: str
    image_id: str
    version: str
    home: str
    files: int
    size_bytes: int
    is_default: bool


def build(name: str, home: str, image: str = "") -> BuiltImage:
    """The image of the target's server that is installed in `home`. image: its name; "": that of the official image,
    with the version of the installation.

    Raises UsageError for a target without such images, or a folder without its server; PreflightError for a missing
    library, or if no Docker Engine answers; ProvisionError if the engine refuses the image.
    """
    target = load_target(name)
    facts = target.facts
    if not facts.image_files:
        able = ", ".join(one.name for one in all_facts() if one.image_files)
        raise UsageError(f"images build: {facts.title} cannot be an image of an installation; possible: {able}")
    installed = target.find(home)
    if installed is None:
        raise UsageError(f"--home {home}: there is no {facts.title}", remedy=facts.to_install)
    if not installed.version:
        raise PreflightError(
            f"--home {home}: {facts.title} does not report its version", remedy="was it built for another machine?"
        )
    wanted = image or facts.default_image(installed.version)
    _refuse_foreign(wanted)
    inside = _files(target, Path(installed.home))
    with tempfile.TemporaryFile() as archive:
        size_bytes = write_root(archive, inside)
        archive.seek(0)
        image_id = import_image(archive, wanted, {BUILT_FROM: installed.home})
    return BuiltImage(
        image=wanted,
        image_id=image_id,
        version=installed.version,
        home=installed.home,
        files=len(inside),
        size_bytes=size_bytes,
        is_default=wanted == facts.default_image(""),
    )


def _refuse_foreign(image: str) -> None:
    labels = labels_of(image)
    if labels is not None and BUILT_FROM not in labels:
        raise UsageError(
            f"image {image} is here already, and `scale` has not built it",
            remedy=f"name another one with --image, or remove it: docker image rm {image}",
        )


def _files(target: Target, home: Path) -> Mapping[str, Path]:
    """The files of this machine that the image gets, by their paths in it. Raises UsageError for a missing one."""
    facts = target.facts
    inside: dict[str, Path] = {}
    for path, names in facts.image_files.items():
        there = next((home / name for name in names if (home / name).exists()), None)
        if there is None and path not in facts.image_extras:
            raise UsageError(f"--home {home}: there is no {' or '.join(names)}", remedy=facts.to_install)
        if there is not None:
            inside |= tree(there, path) if path.endswith("/") else {path: there}
    if facts.image_java:
        inside |= tree(Path(target.java_runtime(str(home))), f"{facts.image_java}/", JAVA_ALONE)
    for path, folder in target.image_folders().items():
        inside |= tree(Path(folder), path)
    of_system = [path for path in (SHELL, RELEASE, ZONE) if path.is_file()]
    tools = system_files(facts.image_tools)
    folders = tuple(dict.fromkeys(path.parent for path in inside.values()))
    own = {path.resolve() for path in inside.values()}
    for library in needed_libraries((*inside.values(), *tools, SHELL), folders):
        if library.resolve() not in own:
            inside[str(library) if is_of_system(library) else f"{LIBRARIES}/{library.name}"] = library
    return {**inside, **{str(path): path for path in (*of_system, *tools)}}
