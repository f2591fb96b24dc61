"""Runs the commands of the tutorial whose output is shown, in order, in an empty folder, and compares. Then runs the
commands of README and of the page of commands that only read a stored run, and shows those that fail.

    python -m tools.walkthrough            compare; ends with 1 and lists the lines that differ
    python -m tools.walkthrough --write    write the new outputs into the tutorial, and the table into README

README shows an excerpt of the same sweep. Refuses a command that does not start with `scale`, and ends a command that
takes more than five minutes. Leaves nothing outside of a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.walkthrough.forms import differences
from tools.walkthrough.pages import COMMANDS, README, TUTORIAL, steps_of, with_outputs
from tools.walkthrough.unshown import codes_of, unshown

LIMIT_S = 300
ENDED = (0, 10)  # exit codes of a sweep that ran to its end
COLUMNS = "118"  # of the terminal; a page has 120
SCALE = Path(sys.executable).parent / "scale"
EXCERPT = re.compile(r"^```text\n(How does the write rate grow.*?)^```$", re.M | re.S)


def output_of(command: str, folder: Path, codes: Sequence[int] = ENDED) -> str:
    """Both streams of a command, as a terminal shows them. Raises RuntimeError unless it ends with one of the codes."""
    words = shlex.split(command)[1:]
    done = subprocess.run(
        [str(SCALE), *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": COLUMNS},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode not in codes:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def walk(folder: Path, more: str = "") -> dict[str, str]:
    """The output of each step of the tutorial, by its command. more: flags that its sweep gets behind the page's."""
    commands = [step.command for step in steps_of(TUTORIAL.read_text(encoding="utf-8"))]
    return {one: output_of(f"{one} {more if one.startswith('scale sweep') else ''}", folder) for one in commands}


def failed(folder: Path, outputs: dict[str, str]) -> list[str]:
    """What the commands without a shown output printed that did not end as they should. folder: of the walk."""
    found = []
    for command in unshown((page.read_text(encoding="utf-8") for page in (README, TUTORIAL, COMMANDS)), outputs):
        try:
            output_of(command, folder, codes_of(command))
        except RuntimeError as error:
            found.append(str(error))
    return found


def compared(outputs: dict[str, str]) -> list[str]:
    """The lines of both pages that differ from the outputs."""
    found = []
    for step in steps_of(TUTORIAL.read_text(encoding="utf-8")):
        found += [f"{step.command}: {one}" for one in differences(step.output, outputs[step.command].splitlines())]
    excerpt = EXCERPT.search(README.read_text(encoding="utf-8"))
    sweep = next((text for command, text in outputs.items() if command.startswith("scale sweep")), "")
    if excerpt is None or not sweep:
        return [*found, "README or the tutorial shows no sweep"]
    return found + [f"README: {one}" for one in differences(excerpt[1].splitlines(), sweep.splitlines(), excerpt=True)]


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the outputs into the tutorial")
    writes = parser.parse_args().write
    with tempfile.TemporaryDirectory(prefix="scale-walk-", dir="/var/tmp") as folder:
        outputs = walk(Path(folder))
        wrong = failed(Path(folder), outputs)
    if writes:
        TUTORIAL.write_text(with_outputs(TUTORIAL.read_text(encoding="utf-8"), outputs), encoding="utf-8")
        return 0
    found = [*compared(outputs), *wrong]
    print("\n".join(found) or "the pages show what the commands print")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
