"""`scale images`: a Docker image of an installed database server. Wiring only."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep.cli import completion
from scale_sweep.cli.arguments import JSON, require_directory


def register(app: typer.Typer) -> None:
    """Adds the command."""
    example = "Example: scale images build tdengine --home /usr/local/taos"
    line = "Build a Docker image of an installed database server, without a registry."
    group = typer.Typer(no_args_is_help=True, help=line, epilog=example)
    group.callback()(lambda: None)
    group.command("build", epilog=example)(build)
    app.add_typer(group, name="images")


def build(
    name: Annotated[str, typer.Argument(help="The database.", metavar="TARGET", autocompletion=completion.targets)],
    home: Annotated[Path, typer.Option("--home", help="The directory of its installation.", metavar="DIR")],
    image: Annotated[
        str,
        typer.Option("--image", help="The image's name. Default: the one of the official image.", metavar="NAME:TAG"),
    ] = "",
    as_json: JSON = False,
) -> None:
    """Build an image of an installed server, under the name that `--runtime docker` starts."""
    from scale_sweep.cli import console
    from scale_sweep.server import images

    require_directory(home, "--home")
    made = images.build(name, str(home), image)
    if as_json:
        console.show_json(asdict(made))
        return
    console.say(f"{made.image}: {made.size_bytes / 1e6:.0f} MB of {made.home}")
    more = "" if made.is_default else f" --image {made.image}"
    console.say(f"use it: scale sweep cpu --target {name} --runtime docker{more}")
