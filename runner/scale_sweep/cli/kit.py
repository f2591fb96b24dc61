"""`scale kit`: one script and one page for a machine that somebody has for an hour."""

from __future__ import annotations

import math
import re
import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep import __version__
from scale_sweep.base.errors import UsageError
from scale_sweep.cli.sweep_files import refuse_unknown
from scale_sweep.cli.sweep_help import Flags, SweepHelp, with_settings
from scale_sweep.cli.sweep_request import WHAT
from scale_sweep.cli.sweeps import MACHINE

FILES = Path(__file__).with_name("kit_files")
_ARCHIVE = ".tar.gz"
_GB_PER_S, _GB_PER_ROW = 0.5, 2e-7  # that a trial may write; of a row, with its log
OUT = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A new folder, or a new file NAME.tar.gz. [default: scale-kit-AXIS]")
]


def register(app: typer.Typer) -> None:
    app.command("kit", cls=SweepHelp, epilog="Example: scale kit cpu --target postgres --out kit.tar.gz")(
        with_settings(kit)
    )


def kit(flags: Flags, what: WHAT, out: OUT = None, machine: MACHINE = None) -> None:
    """Write a script and a page to carry to another machine, which make one redacted file to send back.

    The script checks the machine, shows the plan with its time and disk space, and measures. Without levels it takes
    those of the machine by powers of two. With --machine the page has the plan's duration.
    """
    from scale_sweep.cli import console
    from scale_sweep.fleet.run import files_of, flag_words
    from scale_sweep.machine.host.host_facts import read_host
    from scale_sweep.machine.host.machine_file import read_machine
    from scale_sweep.plan.preparing.prepared import prepare_elsewhere
    from scale_sweep.plan.summary import plan_sentence
    from scale_sweep.results.store.outside import write_outside
    from scale_sweep.results.store.stored import is_there, new_folder, own_folder, remove_folder, unwritable, write
    from scale_sweep.sweep.resolve import resolve_sweep
    from scale_sweep.verify.archive import packed

    flags = _with_levels(what, flags)
    host = read_host() if machine is None else read_machine(machine)
    sweep = resolve_sweep(what, flags, host)
    refuse_unknown(sweep.target)
    time = "step 3 shows it, before anything starts"
    if machine is not None:
        time = f"on {host.hostname}: {plan_sentence(prepare_elsewhere(sweep, host, Path('results')).plan)}"
    load = sweep.load
    seconds = load.warmup_s + (load.window_max_s or load.duration_s or 0.0)
    rows = (load.rows or 0) * (max(sweep.levels) if load.rows_by_level else 1) + sweep.work.preload_rows
    values = {
        "WORDS": shlex.join(flag_words(what, flags)),
        "VERSION": __version__,
        "DATA": shlex.quote(sweep.data_dir or "/var/tmp"),
        "SPACE": str(math.ceil(1 + _GB_PER_S * seconds + _GB_PER_ROW * rows)),
        "SECONDS": f"{seconds:g}",
        "TIME": time,
    }
    texts = {path.name: path.read_text(encoding="utf-8") for path in FILES.iterdir()}
    files = {name: re.sub(r"@([A-Z]+)@", lambda mark: values[mark[1]], text) for name, text in texts.items()}
    place = out or Path(f"scale-kit-{Path(what).stem}")
    if is_there(own_folder(place.parent), place.name):
        raise UsageError(f"--out {place} exists already", remedy="name another one")
    with tempfile.TemporaryDirectory(prefix="scale-kit-") as made:
        is_archive = place.name.endswith(_ARCHIVE)
        folder = new_folder(Path(made, place.name.removesuffix(_ARCHIVE)) if is_archive else place)
        try:
            for name, text in {**files, **files_of(what)}.items():
                write(folder, name, text.encode())
        except OSError as error:
            remove_folder(own_folder(folder.path.parent), folder.path.name)
            raise unwritable(place, error) from None
        if is_archive:
            write_outside(place, packed(folder.path))
    console.show_line(str(place))
    console.say("carry it to the machine, read README.md, and run: sh run.sh")


def _with_levels(what: str, flags: Flags) -> Flags:
    """Without levels, those of the axis' example by powers of two."""
    from scale_sweep.sweep.axis import axis_of_command

    axis = axis_of_command(what)
    levels = axis.facts.example.split()[-1] if axis is not None and axis.key not in flags else ""
    return {**flags, axis.key: f"{levels}:x2"} if axis is not None and levels.endswith("all") else flags
