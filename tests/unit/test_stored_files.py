"""The one reader of stored files: what is no file of a run is refused, with its name; nothing else opens files of runs."""

import ast
import json
import os
import socket
from pathlib import Path

import pytest

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store.codec import parsed, strict_loads
from scale_sweep.results.store.files import RunFiles
from scale_sweep.results.store.reader import find_run, read_manifest, read_run, run_paths, series_from_text
from scale_sweep.results.store.stored import Folder, digest_of, is_run, is_there, names_of, opened, read_text
from tests.offenders import assert_none
from tests.unit.stored_runs import unpacked

PACKAGE = Path(__file__).resolve().parents[2] / "runner/scale_sweep"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run/trials/a").mkdir(parents=True)
    (tmp_path / "run/trials/a/trial.json").write_text("{}")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/trial.json").write_text("secret")
    return tmp_path / "run"


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


MAKERS = {
    "a FIFO": os.mkfifo,
    "a socket": make_socket,
    "a directory": Path.mkdir,
    "a link": lambda path: path.symlink_to("/dev/zero"),
    "has 17179869184 bytes": lambda path: (path.touch(), os.truncate(path, 1 << 34)),
}


def test_a_link_is_refused_for_reading_and_writing_and_replaced_by_new_content(run):
    victim = run.parent / "elsewhere/trial.json"
    (run / "trials/b").symlink_to("../../elsewhere")
    assert is_there(Folder(run), "trials/b/trial.json")
    files = RunFiles(Folder(run))
    for act in (lambda name: read_text(Folder(run), name), lambda name: files.write(name, "changed")):
        with pytest.raises(StoreError, match="b: it is a link"):
            act("trials/b/trial.json")
    (run / "report.md.partial").symlink_to(victim)
    (run / "points.csv").symlink_to(victim)
    for name in ("report.md", "points.csv"):
        files.write(name, f"content of {name}")
        assert read_text(Folder(run), name) == f"content of {name}"
    assert victim.read_text() == "secret"


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("name", ["plan.json", "trials/a/trial.json"])
def test_what_is_no_file_of_a_run_is_there_and_refused(run, kind, name, monkeypatch):
    monkeypatch.chdir(run)  # a socket's address has at most 107 characters
    (run / name).unlink(missing_ok=True)
    MAKERS[kind](run / name)
    assert is_there(Folder(run), name)
    for read in (read_text, digest_of, opened):
        with pytest.raises(StoreError) as caught:
            read(Folder(run), name)
        assert str(run / name) in caught.value.message and kind in caught.value.message
    if kind != "a directory":
        with pytest.raises(StoreError, match=name):
            RunFiles(Folder(run)).list_unlisted("trials/a" if "/" in name else "")


def test_a_missing_file_and_a_missing_run(run):
    assert not is_there(Folder(run), "plan.json") and not is_there(Folder(run), "trials/c/trial.json")
    assert not any(map(is_run, (run, run / "no", run / ("x" * 300), Path("a\0b"))))
    with pytest.raises(StoreError, match="plan.json cannot be read: No such file"):
        read_text(Folder(run), "plan.json")
    assert [*names_of(Folder(run))] == ["trials/a/trial.json"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": {"b": [1, NaN]}}', "a.b.1: NaN"),
        ('{"a": -Infinity}', "a: Infinity"),
        ('{"a": 1e999}', "a: Infinity"),
        ('{"a": %s}' % ("9" * 30), "a: an integer of 100 bits"),
        ('{"a": "\\ud800"}', "a: the text is not Unicode"),
        ("[" * 101 + "]" * 101, "more than 100 deep"),
        ("[" * 100_000, "more than 100 deep"),
        ("9" * 5000, "4300 digits"),
        ('{"a": ', "column 7"),
    ],
)
def test_json_that_no_run_holds_is_refused_with_its_key(text, says):
    with pytest.raises(ValueError) as caught:
        strict_loads(text)
    assert says in str(caught.value)
    with pytest.raises(StoreError, match="x.json"):
        parsed(text, Path("x.json"))


def test_json_of_a_run_is_read_as_json_reads_it_and_a_series_has_finite_numbers_only():
    for value in ({"a": [1.5, -3, None, True, "NaN", "\u00e4\U0001d11e", 1 << 63, 1e300]}, [[0] * 500], 7):
        assert strict_loads(json.dumps(value)) == value
    assert strict_loads("[" * 100 + "]" * 100) == json.loads("[" * 100 + "]" * 100)
    assert series_from_text("t_s,rows_per_s\n1,\n") == ((1.0, {"rows_per_s": None}),)
    for cell in ("nan", "inf", "-Infinity", "1e999"):
        with pytest.raises(StoreError, match="rows_per_s"):
            series_from_text(f"t_s,rows_per_s\n1,{cell}\n")


@pytest.mark.parametrize(("key", "value"), [("sweep", "x"), ("host", 5), ("tags", []), ("disks", {}), ("status", 1)])
def test_a_manifest_that_is_a_fifo_or_has_a_key_of_another_kind_is_refused(tmp_path, key, value):
    run = unpacked("cpu", tmp_path)
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(StoreError, match=rf"manifest.json .*: {key} is not"):
        read_manifest(Folder(run))
    path.unlink()
    os.mkfifo(path)
    assert run_paths(tmp_path) == [run]
    assert find_run(tmp_path, str(run)).path == run
    with pytest.raises(StoreError, match="a FIFO"):
        read_run(run)


# Packages that read or change runs, and the files in them that open something else: a lock of a directory, the journal
# of a trial that this process runs, files that a user names, an archive in memory.
OF_RUNS = "results verify watch/exporter analysis/compare report watch/live".split()
OTHERS = {f"results/store/{name}.py" for name in ("stored", "run_lock", "events", "outside")} | {
    "results/identity.py",
    "verify/archive.py",
}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "fdopen", "loadtxt", "genfromtxt"}


def openings(tree: ast.AST) -> list[int]:
    """The lines on which a file is opened: open(...), or a method that opens, except a method of RunFiles."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute):
            is_of_files = ast.unparse(call.func.value) in ("self", "self._files")
            found += [call.lineno] if call.func.attr in OPENERS and not is_of_files else []
        elif ast.unparse(call.func) == "open":
            found.append(call.lineno)
    return found


def test_nothing_else_opens_files_of_a_run():
    for text in ("open(x)", "path.read_text()", "os.open(p, 0)"):
        assert openings(ast.parse(text))
    assert not openings(ast.parse("read_text(run, name); self._files.write_bytes(n, b)"))
    folders = [PACKAGE / package for package in (*OF_RUNS, "analysis/fit", "analysis/noise")]
    paths = [PACKAGE / "cli/compose.py", *(path for folder in folders for path in sorted(folder.rglob("*.py")))]
    assert all(folder.is_dir() for folder in folders) and paths[0].is_file()
    names = {str(path.relative_to(PACKAGE)): path for path in paths}
    texts = {name: path.read_text(encoding="utf-8") for name, path in names.items() if name not in OTHERS}
    opened_in = ((name, line) for name, text in texts.items() for line in openings(ast.parse(text)))
    assert_none((f"{name}, line {line}" for name, line in opened_in), "use scale_sweep/results/store/stored.py")
