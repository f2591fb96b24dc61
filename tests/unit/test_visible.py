"""A text from outside never commands a terminal: every command that shows a stored run, on one whose words try to."""

import io
import json
import re

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import visible, visible_json
from scale_sweep.cli import app, console
from scale_sweep.cli.console import OwnConsole
from scale_sweep.watch.exporter.names import BY_NAME
from scale_sweep.watch.exporter.server import generate_text
from tests.unit.stored_runs import unpacked

BAD = "\x1b]0;owned\x07\x1b[2J \x9b31m \u202etxt\u2066 \r over \x00 \x7f :x: \udcff"
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\ud800-\udfff]")
STORED = BAD.replace("\udcff", "")  # JSON files are UTF-8


def test_what_commands_is_written_out_and_the_rest_stays():
    assert visible("a\x1b[1m\u202e\x9b\x00b") == r"a\x1b[1m\u202e\x9b\x00b"
    assert visible("naïve–3µs\tx\r\ny\n漢字👩‍🚀") == "naïve–3µs\tx\ny\n漢字👩‍🚀"
    assert visible("\udcff") == r"\udcff"
    assert json.loads(visible_json(json.dumps({BAD: [BAD]}, ensure_ascii=False))) == {BAD: [BAD]}
    short = "trial_info" if "scale_trial_info" in BY_NAME else "run_info"
    labels = ("x",) * (len(BY_NAME[f"scale_{short}"].labels) - 1)
    assert not COMMANDS.search(generate_text([(short, (BAD, *labels), 1.0)], {"run": BAD, "sweep": BAD}))


@pytest.mark.parametrize("terminal", [True, False])
def test_every_way_to_print_goes_through_one_door(terminal, monkeypatch):
    file = io.StringIO()
    own = OwnConsole(file=file, force_terminal=terminal, color_system=None, emoji=False, width=100)
    monkeypatch.setattr(console, "out", own)
    monkeypatch.setattr(console, "err", own)
    console.show_error(UsageError(BAD, remedy=BAD))
    console.say(BAD)
    console.show_line(BAD + "\twith a tab")
    console.show_table(BAD, [BAD, "n"], [[BAD, "1"]])
    console.show_json({BAD: BAD})
    grid = Table.grid()
    grid.add_row(Text(BAD), BAD)
    own.print(grid)
    printed = file.getvalue()
    assert not COMMANDS.search(printed)
    assert printed.count(r"\x1b[2J") >= 8
    assert ":x:" in printed, "no text becomes a picture"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A stored run whose name, question, tags, reasons and settings are bad."""
    run = unpacked("cpu", tmp_path_factory.mktemp("results"))
    bad = {dict: {STORED: STORED}, list: [STORED], str: STORED}
    for path in (run / "plan.json", run / "manifest.json", *run.glob("trials/*/trial.json")):
        told = json.loads(path.read_text())
        for part in (told, told.get("sweep", {}), told.get("verdict", {})):
            for key in {"name", "question", "tags", "reasons", "sentence", "remedy", "choice"} & part.keys():
                part[key] = bad.get(type(part[key]), STORED)
            if part.get("bottleneck"):
                part["bottleneck"] |= {"sentence": STORED, "remedy": STORED}
        path.write_text(json.dumps(told))
    return run


@pytest.mark.parametrize(
    "words",
    [
        *("list --results {results}", "list --results {results} --json", "show {run}", "show {run} --json"),
        *("report {run}", "compare {run} {run}", "compare {run} {run} --json", "verify {run}", "show {run}BAD"),
    ],
)
def test_no_command_passes_a_control_character_of_a_run_to_the_terminal(hostile, words):
    given = words.format(run=hostile, results=hostile.parent).split()
    given[-1] = given[-1].replace("BAD", STORED.replace("\x00", ""))
    done = CliRunner().invoke(app, given, env={"COLUMNS": "200"})
    assert done.exception is None or isinstance(done.exception, (UsageError, SystemExit)), done.exception
    assert not COMMANDS.search(done.output)
    if "--json" in words:
        assert json.loads(done.stdout)
