"""The source starts interpreters that leave out the folder in which they are started, and opens texts in one encoding; tools
refuse unknown words."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scale_sweep.server.pinned.registry_clients import run_client
from tests.offenders import assert_none
from tests.unit.factories import executable

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("runner", "tools", "bench") for path in (ROOT / folder).rglob("*.py"))
IN_SHELL_SOURCES = [*SOURCES, *(ROOT / "playbooks").rglob("*.yml"), *(ROOT / "loadgen").glob("*.sh")]
SAFE = ("-I", "-P")  # -P leaves out the folder alone: `scale_sweep` of a checkout comes from PYTHONPATH
# Python in a line of a shell, by the words that name it, and what follows.
IN_SHELL = re.compile(r"(?:\{(?:host\.)?python\}|\$PYTHON\"|\$python\"|python3\}\")\s+(-\w+)")


def unsafe(source: str) -> list[int]:
    """The lines where Python is a word of a command, and the next word is none of SAFE. A script may get its name."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.List | ast.Tuple):
            words = [ast.unparse(one) for one in node.elts]
            for at, word in enumerate(words):
                is_argument = at > 0 and words[at - 1].endswith(".sh'")
                if word == "sys.executable" and not is_argument and words[at + 1 : at + 2] not in (["'-I'"], ["'-P'"]):
                    lines.append(node.lineno)
    return lines


def test_no_interpreter_imports_from_the_folder_where_it_starts():
    assert unsafe('run([sys.executable, "-m", "pip"])') == [1] and unsafe("a = (*before, sys.executable)") == [1]
    assert unsafe('run([sys.executable, "-I", "-m", "pip"])\nPath(sys.executable).parent') == []
    assert IN_SHELL.findall('exec {python} -m x; "$PYTHON" -I -c y; "${P:-python3}" -P') == ["-m", "-I", "-P"]
    texts = {path: path.read_text(encoding="utf-8") for path in IN_SHELL_SOURCES}
    python = {path: unsafe(text) for path, text in texts.items() if path.suffix == ".py" and "executable" in text}
    offenders = [f"{path}:{line}" for path, lines in python.items() for line in lines]
    words = {path: set(IN_SHELL.findall(text)) - {*SAFE} for path, text in texts.items()}
    offenders += [f"{path}: {word}" for path, found in words.items() for word in found]
    assert_none(offenders, "-I or -P after the name of Python")


def test_programs_are_started_beside_no_file_of_another_user(tmp_path):
    """mvn takes the nearest folder .mvn on its way up: there it is its own, whoever made one above."""
    (tmp_path / ".mvn").mkdir()
    place, program = tmp_path / "place", tmp_path / "mvn"
    place.mkdir()
    executable(program, "while [ ! -d .mvn ]; do cd ..; done; pwd")
    assert run_client([str(program)], 10.0, str(place)).strip() == str(place)
    ran, theirs = tmp_path / "ran", tmp_path / "theirs" / "pip"
    theirs.mkdir(parents=True)
    for file in ("__init__.py", "__main__.py"):
        (theirs / file).write_text(f"open({str(ran)!r}, 'w')\n")
    code = (
        "import pathlib\nfrom scale_sweep.hosts import package\n"
        "kind = package.Kind(machine='x86_64', python='3.99')\n"
        f"try:\n    list(package._fetched(kind, pathlib.Path({str(tmp_path)!r})))\nexcept Exception as error:\n    print(error)"
    )
    settings = {"cwd": theirs.parent, "env": {**os.environ, "PIP_NO_INDEX": "1"}, "timeout": 100, "check": True}
    done = subprocess.run([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True, **settings)
    assert "not fetched" in done.stdout and not ran.exists()


@pytest.mark.parametrize(
    ("tool", "word", "code"),
    [
        ("check.py", "--help", 0),
        ("check.py", "-h", 0),
        ("check.py", "--fi", 2),
        ("check.py", "types", 2),
        ("versions.py", "--help", 0),
        ("versions.py", "--hlp", 2),
    ],
)
def test_help_and_unknown_words_run_no_check_and_ask_no_registry(tool, word, code):
    command = [sys.executable, str(ROOT / "tools" / tool), word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert {"check.py": "--fix", "versions.py": "usage:"}[tool] in (done.stderr if code else done.stdout)
    assert not [line for line in done.stdout.splitlines() if line.startswith(("ok", "FAILED", "| pin"))]


SOURCE = Path(__file__).resolve().parents[2] / "runner" / "scale_sweep"
# Calls that open a text, and where their mode stands; without one, "r".
MODES = {"open": 1, "os.fdopen": 1, "tempfile.NamedTemporaryFile": 0}


def leaves_it_open(call: ast.Call) -> bool:
    """Whether the call reads or writes a text by the locale's encoding."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    name = ast.unparse(call.func)
    if "encoding" in given or name == "tempfile.NamedTemporaryFile" and not call.args:
        return False
    if name in MODES:
        mode = call.args[MODES[name]] if len(call.args) > MODES[name] else None
        return "b" not in (ast.unparse(mode) if mode else given.get("mode", ""))
    return name.endswith((".read_text", ".write_text")) or given.get("text") == "True"


def test_every_text_that_is_read_or_written_is_utf_8():
    for words in ("path.read_text()", "subprocess.run(x, text=True)", "open(path)", "os.fdopen(n, 'w')"):
        assert leaves_it_open(ast.parse(words, mode="eval").body), words
    offenders = [
        f"{path.relative_to(SOURCE)}, line {node.lineno}: {ast.unparse(node)[:80]}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and leaves_it_open(node)
    ]
    assert_none(offenders, 'a text without encoding="utf-8"')
