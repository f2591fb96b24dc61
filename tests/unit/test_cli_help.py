"""`scale --help` knows every command without importing it, and says of each what the command says of itself. And shell
completion, asked as bash asks, words that mean the same, and errors with a code each."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.base import errors
from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app, console
from scale_sweep.cli.commands import COMMANDS, GROUPS, load_command, with_help
from scale_sweep.experiment.axes import all_axes
from scale_sweep.sweep.ab import REFUSED
from scale_sweep.sweep.axis import usual_keys
from scale_sweep.sweep.file import bundled_sweeps
from scale_sweep.sweep.settings import SETTINGS
from tests.offenders import assert_none
from tests.unit.stored_runs import unpacked

HEAVY = set("numpy scipy matplotlib docker psycopg pyarrow cattrs".split())
HEAVY |= {"scale_sweep.cli.compose", "scale_sweep.cli.console"}
MODULES_MAX = 400  # of a completion: 319 to 350


def imported_by(*words: str) -> tuple[set[str], str]:
    """What a help imports, and its text."""
    script = (
        f"import sys\nfrom scale_sweep.cli import app\ntry:\n    app({[*words]!r})\n"
        "except SystemExit as end:\n    assert end.code == 0\nprint(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split()), done.stdout


def test_the_lines_in_the_help_are_the_commands_own():
    first = {name: (load_command(name).help or "").split("\n\n")[0] for name in COMMANDS if name != "load"}
    assert_none(name for name, paragraph in first.items() if " ".join(paragraph.split()) != COMMANDS[name][1])
    assert (load_command("load").help or "").startswith(COMMANDS["load"][1].rstrip("."))


def test_the_help_begins_with_what_a_newcomer_needs_first():
    shown = CliRunner().invoke(app, ["--help"]).output
    assert list(COMMANDS)[:3] == ["doctor", "plan", "sweep"]
    for lines in ([f"\n{title}:\n" for title in GROUPS], [f"\n  {name} " for name in COMMANDS]):
        places = [shown.index(line) for line in lines]
        assert places == sorted(places)


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_a_help_imports_nothing_heavy(words):
    """0.35 CPU seconds are enough for it (bench/help.py). Import in the function, or in the command's own module."""
    loaded, _ = imported_by(*words, "--help")
    assert not loaded & HEAVY


def test_the_help_of_a_sweep_imports_no_database():
    """Its texts are made of the targets' facts, and these import no client library."""
    loaded, text = imported_by("sweep", "--help-all")
    targets = {name for name in loaded if name.startswith("scale_sweep.server.targets.")}
    assert {f"scale_sweep.server.targets.{name}.{name}_facts" for name in ("postgres", "tdengine")} <= targets
    assert not loaded & {"psycopg", "docker"}
    assert not {name for name in targets if name.rpartition(".")[2] in ("session", "target", "client", "config")}
    assert "(PostgreSQL)" in text


def shown_flags(*words: str) -> set[str]:
    """The flags at the beginnings of the lines of a help."""
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", done.output, re.MULTILINE))


@pytest.mark.parametrize("name", ["sweep", "plan", "ab"])
def test_the_help_shows_the_usual_flags_of_an_axis_and_help_all_every_flag(name):
    key_of = {setting.flag: setting.key for setting in SETTINGS}
    flags, not_accepted = set(key_of), set(REFUSED) if name == "ab" else set()
    for axis in (None, *all_axes()):
        shown = shown_flags(name, *([axis.facts.command] if axis else []), "--help") & flags
        assert {key_of[flag] for flag in shown} == usual_keys(axis) - not_accepted
        assert 15 <= len(shown) <= 30
    accepted = {flag for flag in flags if key_of[flag] not in not_accepted}
    for words in (["--help-all"], ["--help", "all"]):
        assert shown_flags(name, *words) & flags == accepted


@pytest.mark.parametrize(
    ("axis", "usual", "unusual"),
    [
        ("cpu", "--cores --quick --workload --mix --soak --data-dir --slo", "--loop --dir --clients"),
        ("disk", "--disks --dir --loop --cap --quick --cores", "--server-cpus --cap-iops --slo"),
        ("clients", "--clients --cores --quick --rows-per-request --slo", "--loop --disks --connections"),
    ],
)
def test_each_axis_has_its_usual_flags_and_no_others(axis, usual, unusual):
    shown = shown_flags("sweep", axis, "--help")
    assert set(usual.split()) <= shown and not set(unusual.split()) & shown
    assert f"scale plan {axis} --" in CliRunner().invoke(app, ["plan", axis, "--help"]).output, "its example"


def test_a_section_has_its_flags_alone_and_another_word_finds_the_flags_with_it_or_lists_the_sections(wording):
    load = {setting.flag for setting in SETTINGS if setting.key.startswith("load.")}
    for words in ("sweep --help load", "sweep disk --help=Load", "ab -h load"):
        assert shown_flags(*words.split()) == load
    assert shown_flags("sweep", "cpu", "--help", "slo") == {"--slo", "--confirm"}
    assert shown_flags("plan", "--help", "Seed") == {"--seed", "--order-seed"}
    assert "--replicates" not in shown_flags("ab", "--help", "replicates")
    refused = CliRunner().invoke(app, ["sweep", "cpu", "--help", "laod"]).exception
    assert isinstance(refused, UsageError)
    wording(str(refused))


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_line_of_a_help_is_longer_than_the_terminal_and_every_flag_has_a_text(name, columns):
    command = [name] if name else []
    shown = [CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": str(columns)}).output]
    assert not name or (f"scale {name}" in shown[0] and "Example" in shown[0])
    if "--help-all" in shown[0]:
        shown.append(CliRunner().invoke(app, [*command, "--help-all"], env={"COLUMNS": str(columns)}).output)
    alone = re.compile(r"  -[^ ].*(?<! ) ?\S+")  # a name whose text is on the next line
    for text in shown:
        lines = text.split("\n")
        assert_none(line for line in lines if len(line) > columns)
        assert "…" not in text and not re.search(r"<(list|str|bool|int|float)", text)
        assert_none(
            line
            for line, after in itertools.pairwise(lines)
            if alone.fullmatch(line) and "  " not in line.strip() and not after.startswith("      ")
        )


SCRIPT = "import sys; sys.argv[0] = 'scale'; from scale_sweep.cli import main; main()"


def scale(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    how = {"cwd": folder, "env": {**os.environ, **variables}, "capture_output": True, "text": True, "timeout": 60}
    return subprocess.run([sys.executable, "-c", SCRIPT, *words], check=False, **how)


def candidates(line: str, folder: Path) -> list[str]:
    """Of the words after `scale`."""
    line = f"scale {line}"
    done = scale([], folder, _SCALE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" ")))
    assert not done.stderr, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    unpacked("cpu", made / "results")
    unpacked("varied", made / "other")
    (made / "mine.toml").write_text("", encoding="utf-8")
    (made / "notes.txt").write_text("", encoding="utf-8")
    return made


def test_runs_are_completed_from_the_results_that_are_named(folder):
    name, other = (next((folder / results).iterdir()).name for results in ("results", "other"))
    assert candidates("show ", folder) == ["last", name]
    assert candidates(f"report {name[:10]}", folder) == [name]
    assert candidates("show --results other ", folder) == ["last", other]


FILES = ["mine.toml", "other/", "results/"]
WORDS = {  # a list: all that the word may become; a text: one of them
    "sweep cpu --target post": ["postgres"],
    "sweep cpu --target postgres,q": "postgres,questdb",
    "sweep cpu --workload iot": "iot-queries",
    "sweep cpu --reference td": "tdengine-disk",
    "sweep cpu --repl": "--replicates",
    "sw": "sweep",
    "sweep ": ["cpu", "disk", "clients", *bundled_sweeps(), *FILES],
    "sweep article-cpu-": ["article-cpu-stmt"],
    "sweep mi": ["mine.toml"],
    "size --prices ": ["prices-example", *FILES],
    "size --run l": ["last"],
    "sweep cpu --target postgres --knob shared_b": ["shared_buffers="],
    "ab cpu --vary synch": "synchronous_commit=",
    "servers install quest": ["questdb"],
    "servers install postgres,quest": ["postgres,questdb"],
}


@pytest.mark.parametrize(("line", "found"), WORDS.items())
def test_what_a_word_may_become(folder, line, found):
    told = candidates(line, folder)
    assert told == found if isinstance(found, list) else found in told


@pytest.mark.parametrize("line", ["sweep cpu --knob ", "ab cpu --vary s", "servers install ", "sweep cpu --target "])
def test_a_completion_imports_little(folder, line):
    """A user waits while they are imported."""
    words = {"COMP_WORDS": f"scale {line}", "COMP_CWORD": str(f"scale {line}".count(" "))}
    done = scale([], folder, _SCALE_COMPLETE="complete_bash", PYTHONPROFILEIMPORTTIME="1", **words)
    imported = {text.rpartition("|")[2].strip() for text in done.stderr.splitlines()}
    assert done.stdout and "scale_sweep.cli" in imported
    assert not imported & HEAVY and len(imported) < MODULES_MAX, len(imported)


def test_help_and_version_as_words(folder):
    assert with_help(["help"]) == ["--help"]
    assert with_help(["help", "sweep"]) == ["sweep", "--help"]
    assert with_help(["show", "help"]) == ["show", "help"]
    assert scale(["-V"], folder).stdout.startswith("scale ")
    done = scale(["help", "list"], folder)
    assert done.returncode == 0 and "scale list" in done.stdout


def test_the_name_of_an_axis_is_its_command_too(folder):
    asked = "--cores 1 --target null --order-seed 3 --json".split()
    by_name, by_command = (scale(["plan", word, *asked], folder) for word in ("cores", "cpu"))
    assert by_name.returncode in (0, 3), by_name.stderr
    first, second = (json.loads(done.stdout)["plan"] for done in (by_name, by_command))
    assert first == second  # the findings may differ: the load of the machine changes


def test_every_error_has_its_own_exit_code():
    kinds = errors.ScaleError.__subclasses__()
    named = [value for name, value in vars(errors).items() if name.startswith("EXIT_") and isinstance(value, int)]
    codes = [*(kind.exit_code for kind in kinds), *named, 0]
    assert len(kinds) == 7
    assert len(set(codes)) == len(codes)
    assert set(codes) == set(errors.EXIT_CODES)


def test_a_wrong_flag_or_key_says_in_its_message_what_to_do(capsys):
    console.show_error(UsageError("--tables: '0' is too little: at least 1"))
    assert capsys.readouterr().err == "scale: --tables: '0' is too little: at least 1\n"


@pytest.mark.parametrize("kind", [kind for kind in errors.ScaleError.__subclasses__() if kind is not UsageError])
def test_every_other_error_says_what_to_do(kind, capsys):
    console.show_error(kind("it went wrong"))
    message, remedy = capsys.readouterr().err.splitlines()
    assert message == "scale: it went wrong"
    assert remedy == f"  → {kind.usual_remedy}" and kind.usual_remedy
