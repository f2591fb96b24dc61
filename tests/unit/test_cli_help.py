"""`scale --help` knows every command without importing it, and says of each what the command says of itself."""

import itertools
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app
from scale_sweep.cli.commands import COMMANDS, GROUPS, load_command
from scale_sweep.experiment.axes import all_axes
from scale_sweep.sweep.ab import REFUSED
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.sweep.usual import usual_keys
from tests.offenders import assert_none

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
    places = [shown.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert list(COMMANDS)[:3] == ["doctor", "plan", "sweep"]
    lines = [shown.index(f"\n  {name} ") for name in COMMANDS]
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
    assert "hash partitions (PostgreSQL)" in " ".join(done.stdout.split())


def shown_flags(*words: str) -> set[str]:
    """The flags at the beginnings of the lines of a help."""
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", done.output, re.MULTILINE))


@pytest.mark.parametrize("name", ["sweep", "plan", "ab"])
def test_the_help_shows_the_usual_flags_of_an_axis_and_help_all_every_flag(name):
    flags = {setting.flag for setting in SETTINGS}
    key_of = {setting.flag: setting.key for setting in SETTINGS}
    not_accepted = set(REFUSED) if name == "ab" else set()
    for axis in (None, *all_axes()):
        shown = shown_flags(name, *([axis.facts.command] if axis else []), "--help") & flags
        assert {key_of[flag] for flag in shown} == usual_keys(axis) - not_accepted
        assert 15 <= len(shown) <= 30
    accepted = {flag for flag in flags if key_of[flag] not in not_accepted}
    assert shown_flags(name, "--help-all") & flags == accepted
    assert shown_flags(name, "--help", "all") & flags == accepted


@pytest.mark.parametrize(
    ("axis", "usual", "unusual"),
    [
        (
            "cpu",
            {"--cores", "--quick", "--workload", "--mix", "--soak", "--data-dir", "--slo"},
            {"--loop", "--dir", "--clients"},
        ),
        (
            "disk",
            {"--disks", "--dir", "--loop", "--cap", "--quick", "--cores"},
            {"--server-cpus", "--cap-iops", "--slo"},
        ),
        (
            "clients",
            {"--clients", "--cores", "--quick", "--rows-per-request", "--slo"},
            {"--loop", "--disks", "--connections"},
        ),
    ],
)
def test_each_axis_has_its_usual_flags_and_no_others(axis, usual, unusual):
    shown = shown_flags("sweep", axis, "--help")
    assert usual <= shown
    assert not unusual & shown


def test_the_help_of_an_axis_has_its_example():
    shown = CliRunner().invoke(app, ["plan", "disk", "--help"]).output
    assert "Example: scale plan disk --disks 1..3 --dir /mnt/a,/mnt/b,/mnt/c" in shown


@pytest.mark.parametrize("words", [("sweep", "--help", "load"), ("sweep", "disk", "--help=Load"), ("ab", "-h", "load")])
def test_the_help_of_a_section_has_all_its_flags_alone(words):
    load = {setting.flag for setting in SETTINGS if setting.key.startswith("load.")}
    assert shown_flags(*words) == load


def test_a_word_that_is_no_section_finds_the_flags_with_it():
    assert shown_flags("sweep", "cpu", "--help", "slo") == {"--slo", "--confirm"}
    assert shown_flags("plan", "--help", "Seed") == {"--seed", "--order-seed"}
    assert "--replicates" not in shown_flags("ab", "--help", "replicates")


def test_the_help_of_a_section_that_is_not_there_lists_the_sections():
    done = CliRunner().invoke(app, ["sweep", "cpu", "--help", "laod"])
    assert isinstance(done.exception, UsageError)
    assert "options, several servers, axis, disks, server, cpus, workload" in str(done.exception)
    assert "did you mean load?" in str(done.exception)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_line_of_a_help_is_longer_than_the_terminal_and_no_name_is_cut(name, columns):
    calls = [[name, "--help"] if name else ["--help"]]
    if "--help-all" in CliRunner().invoke(app, calls[0]).output:
        calls.append([name, "--help-all"])
    for call in calls:
        shown = CliRunner().invoke(app, call, env={"COLUMNS": str(columns)}).output
        assert_none(line for line in shown.split("\n") if len(line) > columns)
        assert "…" not in shown
        assert not re.search(r"<(list|str|bool|int|float)", shown)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert f"scale {name}" in done.output
    assert "Example" in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_a_help_has_a_text(name):
    words = ["--help-all"] if "--help-all" in CliRunner().invoke(app, [name, "--help"]).output else ["--help"]
    lines = CliRunner().invoke(app, [name, *words], env={"COLUMNS": "100"}).output.splitlines()
    alone = re.compile(r"  -[^ ].*(?<! ) ?\S+")  # a name whose text is on the next line
    bare = [
        line
        for line, after in itertools.pairwise([*lines, ""])
        if alone.fullmatch(line) and "  " not in line.strip() and not after.startswith("      ")
    ]
    assert bare == []
