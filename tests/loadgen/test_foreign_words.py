"""What a server says need not be UTF-8, nor end with a whole character: it is read, and ends no sweep."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.verbs import run_statements

ROOT = Path(__file__).resolve().parents[2]
HELLO = b'{"event":"hello","protocol":1,"version":"9.1.0","driver":"x","method":"copy"}\n'
CUT = "die Spalte „größe".encode()[:-2]  # in the middle of a character
SPEC = {"protocol": "1", "driver": "x", "threads": "1"}


def program_that_says(folder: Path, out: bytes, err: bytes, code: int) -> str:
    (folder / "out").write_bytes(out)
    (folder / "err").write_bytes(err)
    path = folder / "scale-loadgen"
    path.write_text(f"#!/bin/sh\ncat {folder}/out\ncat {folder}/err >&2\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("words", "told"), [(CUT, "die Spalte „grö\ufffd"), ("one\u2028two\x85three".encode(), "one\u2028two\x85three")]
)
def test_odd_words_of_an_error_are_read_as_one_line(tmp_path, words, told):
    """Words that are cut in a character, and words with line ends of their own."""
    error = b'{"event":"error","code":"42703","message":"' + words + b'","count":1}\n'
    program = program_that_says(tmp_path, HELLO + error, b"scale-loadgen: " + CUT + b"\n", 5)
    with LoadProcesses(program, [SPEC], (0,), secret="") as load:
        with pytest.raises(LoadError, match="met a fatal error: scale-loadgen: die Spalte „grö"):
            list(load.lines(20.0))
    assert [trouble.message.rstrip("\ufffd") for trouble in load.troubles] == [told.rstrip("\ufffd")]
    assert read_recorded("".join(load.raw)).summary is None


def test_an_answer_that_is_not_utf_8_is_an_answer(tmp_path):
    result = b'{"event":"result","ok":false,"code":"22021","message":"' + CUT + b'"}\n'
    (answer,) = run_statements(program_that_says(tmp_path, result, b"", 0), SPEC, ("SELECT 1",), "")
    assert (answer.code, answer.message[:10]) == ("22021", "die Spalte")


@pytest.mark.parametrize("words", ["ä" * 600, "a" + "ä" * 600, "aa" + "€" * 400, "日本語" * 200])
def test_a_real_server_that_answers_with_long_words_in_any_letters(program, postgres: PostgresServer, words):
    """The load generator cuts them at 480 bytes, wherever a character begins."""
    spec = {"protocol": "1", **{k: str(v) for k, v in postgres.spec().items()}}
    (answer,) = run_statements(str(program), spec, (f"SELECT '{words}'::integer",), "")
    assert (answer.ok, answer.code) == (False, "22P02")
    assert words[:20] in answer.message and "\ufffd" not in answer.message
    assert 470 < len(answer.message.encode()) <= 480


@pytest.mark.parametrize("package", ["loadgen", "server/targets", "measure/trial", "server/runtimes"])
def test_no_words_are_read_in_a_way_that_may_fail(package):
    """A child's output is read with errors="replace", never by the locale's own strict reading."""
    for path in (ROOT / "runner" / "scale_sweep" / package).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            given = {keyword.arg for keyword in call.keywords} if isinstance(call, ast.Call) else set()
            if given & {"text", "encoding", "universal_newlines"} and given & {"stdout", "capture_output"}:
                assert "errors" in given, f"{path.name}, line {call.lineno}"
