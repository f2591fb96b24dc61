"""Writes docs/commands.md from the commands and the exit codes of the code, so that the page is always up to date.

python tools/commands_page.py > docs/commands.md
"""

import sys
import textwrap
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.base.errors import EXIT_CODES
from scale_sweep.cli.commands import GROUPS, load_command

MACHINES = Path(__file__).resolve().parents[1] / "sweeps/machines"
HEAD = """# Commands

For `sweep`, `plan` and `ab`, `--help` shows the common flags, `--help load` those of a section, `--help-all` all, as
does [settings](settings.md). The other commands have few flags. Most have `--json` for scripts. `RUN` is a run's name,
a part of it, its path, or `last`. `scale --install-completion` makes your shell complete commands, flags and runs.
"""
ELSEWHERE = """
## Plan for a machine that is not here

`scale plan` assumes a server that is not installed. With `--machine` it plans for the machine of a file:

```console
$ scale plan cpu --cores 1..all:x2 --target postgres --machine sweeps/machines/two-sockets.toml
```

It looks at nothing of this machine. The files of `sweeps/machines/`:

FILES

A file of yours needs `cores` alone; this is `two-sockets.toml`:

```toml
TWO_SOCKETS
```

The keys: `cores` (physical), `threads` of each core, `nodes` (NUMA), `sockets`, `cores_per_l3`, `slow_cores` (with one
thread each, on one node), `siblings` (numbers of the second threads: `last`, after all cores, or `beside` their core),
`memory`, and `model` (a text).
"""
EXITS = """
## Exit codes

| code | meaning |
|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    groups = "".join(f"\n## {title}\n\n{_list(names)}" for title, names in GROUPS.items())
    codes = "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())
    elsewhere = ELSEWHERE.replace("FILES", _machines()).replace("TWO_SOCKETS", _machine_text("two-sockets"))
    return HEAD + groups + elsewhere + EXITS + codes


def _machines() -> str:
    """The files with their cores and threads, the most cores first."""
    machines = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in MACHINES.glob("*.toml")}
    ranked = sorted(machines.items(), key=lambda one: (-one[1]["cores"], one[0]))
    return "\n".join(f"- `{name}.toml` ({keys['cores']} cores): {keys['model']}." for name, keys in ranked)


def _machine_text(name: str) -> str:
    lines = (MACHINES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


def _list(names: dict[str, tuple[str, str]]) -> str:
    return "".join(_rows(name, line) for name, (_, line) in names.items())


def _rows(name: str, line: str) -> str:
    command = load_command(name)
    below = getattr(command, "commands", {})
    if not below:
        return _row(name, line, command.epilog)
    return "".join(_row(f"{name} {word}", _first(one.help), one.epilog) for word, one in below.items())


def _row(name: str, line: str, epilog: str | None) -> str:
    """A command by its example, or by its name if it has no example."""
    example = (epilog or "").partition("Example: ")[2].partition("\n")[0].strip()
    text = f"- `{example or f'scale {name}'}`: {line}"
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def _first(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


if __name__ == "__main__":
    sys.stdout.write(page())
