"""`scale --help` knows every command without importing it, and says of each what the command says of itself."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from scale_sweep.cli import app
from scale_sweep.cli.commands import COMMANDS, GROUPS, load_command
from scale_sweep.sweep.settings import SETTINGS
from tests.offenders import assert_none

TWELVE = {
    "--cores",
    "--disks",
    "--clients",
    "--target",
    "--runtime",
    "--home",
    "--endpoint",
    "--duration",
    "--rate",
    "--replicates",
    "--knob",
    "--vary",
}
HEAVY = {
    "numpy",
    "scipy",
    "matplotlib",
    "docker",
    "psycopg",
    "pyarrow",
    "cattrs",
    "scale_sweep.cli.compose",
    "scale_sweep.cli.console",
}


def test_the_lines_in_the_help_are_the_commands_own():
    first = {name: (load_command(name).help or "").split("\n\n")[0] for name in COMMANDS if name != "load"}
    assert_none(name for name, paragraph in first.items() if " ".join(paragraph.split()) != COMMANDS[name][1])


def test_load_has_its_line_too():
    assert (load_command("load").help or "").startswith(COMMANDS["load"][1].rstrip("."))


def test_the_help_imports_nothing_heavy():
    script = (
        "import sys\nfrom scale_sweep.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]", "import it in the command's own module (scale_sweep/cli/commands.py)"
    assert all(name in done.stdout for name in COMMANDS)


def test_the_help_begins_with_what_a_newcomer_needs_first():
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(f"─ {title} ─") for title in GROUPS]
    assert places == sorted(places)
    assert list(COMMANDS)[:3] == ["doctor", "plan", "sweep"]
    lines = [shown.index(f"\n│ {name} ") for name in COMMANDS]
    assert lines == sorted(lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_imports_nothing_heavy(name):
    """0.35 CPU seconds are enough for it (bench/help.py)."""
    script = (
        "import sys\nfrom scale_sweep.cli import app\n"
        f"try:\n    app([{name!r}, '--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]", "import it in the function that needs it"


def test_the_help_of_a_sweep_imports_no_database():
    """Its texts are made of the targets' facts, and these import no client library."""
    script = (
        "import sys\nfrom scale_sweep.cli import app\n"
        "try:\n    app(['sweep', '--help-all'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "loaded = [m for m in sys.modules if m.startswith('scale_sweep.server.targets.') or m in ('psycopg', 'docker')]\n"
        "print(*loaded, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert {
        "scale_sweep.server.targets.postgres.postgres_facts",
        "scale_sweep.server.targets.tdengine.tdengine_facts",
    } <= loaded
    assert not loaded & {"psycopg", "docker"}
    assert not {m for m in loaded if m.rpartition(".")[2] in ("session", "target", "client", "config")}
    assert "hash partitions (PostgreSQL)" in " ".join(done.stdout.replace("│", "").split())


@pytest.mark.parametrize("name", ["sweep", "plan"])
def test_the_help_shows_what_most_need_and_help_all_the_rest(name):
    brief, whole = (
        CliRunner().invoke(app, [name, option], env={"COLUMNS": "200"}).output for option in ("--help", "--help-all")
    )
    flags = {setting.flag for setting in SETTINGS}
    assert {flag for flag in flags if re.search(rf"^[│ ]*{flag}\s", brief, re.MULTILINE)} == TWELVE
    assert {flag for flag in flags if re.search(rf"^[│ ]*{flag}\s", whole, re.MULTILINE)} == flags
    assert "Example" in whole


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert f"scale {name}" in done.output
    assert "Example" in done.output


def test_a_command_that_is_not_there_is_answered_with_the_nearest():
    done = CliRunner().invoke(app, ["comprae"])
    assert done.exit_code == 2
    assert "compare" in done.output
