"""The one reader of stored files: what is no file of a run is refused, with its name; nothing else opens files of runs."""

import ast
import json
import os
import socket
from pathlib import Path

import pytest

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store import strict
from scale_sweep.results.store.codec import parsed
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


def _make_fifo(path: Path) -> None:
    os.mkfifo(path)


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


MAKERS = {
    "a FIFO": _make_fifo,
    "a socket": _make_socket,
    "a directory": Path.mkdir,
    "a link": lambda path: path.symlink_to("/dev/zero"),
    "has 17179869184 bytes": lambda path: (path.touch(), os.truncate(path, 1 << 34)),
}


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


def test_a_link_on_the_way_is_refused_for_reading_and_writing(run):
    (run / "trials/b").symlink_to("../../elsewhere")
    assert is_there(Folder(run), "trials/b/trial.json")
    with pytest.raises(StoreError, match="b: it is a link"):
        read_text(Folder(run), "trials/b/trial.json")
    with pytest.raises(StoreError, match="b: it is a link"):
        RunFiles(Folder(run)).write("trials/b/trial.json", "changed")
    assert (run.parent / "elsewhere/trial.json").read_text() == "secret"


def test_a_link_in_the_place_of_new_content_is_replaced_not_followed(run):
    victim = run.parent / "elsewhere/trial.json"
    (run / "report.md.partial").symlink_to(victim)
    (run / "points.csv").symlink_to(victim)
    files = RunFiles(Folder(run))
    files.write("report.md", "a report")
    files.write("points.csv", "a table")
    assert victim.read_text() == "secret"
    assert read_text(Folder(run), "report.md") == "a report" and read_text(Folder(run), "points.csv") == "a table"


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
        strict.loads(text)
    assert says in str(caught.value)
    with pytest.raises(StoreError, match="x.json"):
        parsed(text, Path("x.json"))


@pytest.mark.parametrize(
    "value", [{"a": [1.5, -3, None, True, "NaN", "\u00e4\U0001d11e", 1 << 63, 1e300]}, [[0] * 500], 7]
)
def test_json_of_a_run_is_read_as_json_reads_it(value):
    assert strict.loads(json.dumps(value)) == value
    assert strict.loads("[" * 100 + "]" * 100) == json.loads("[" * 100 + "]" * 100)


@pytest.mark.parametrize("cell", ["nan", "inf", "-Infinity", "1e999"])
def test_a_series_has_finite_numbers_only(cell):
    assert series_from_text("t_s,rows_per_s\n1,\n") == ((1.0, {"rows_per_s": None}),)
    with pytest.raises(StoreError, match="rows_per_s"):
        series_from_text(f"t_s,rows_per_s\n1,{cell}\n")


@pytest.mark.parametrize(("key", "value"), [("sweep", "x"), ("host", 5), ("tags", []), ("disks", {}), ("status", 1)])
def test_a_key_of_the_manifest_of_another_kind_is_named(tmp_path, key, value):
    path = unpacked("cpu", tmp_path) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(StoreError, match=rf"manifest.json .*: {key} is not"):
        read_manifest(Folder(path.parent))


def test_a_run_whose_manifest_is_a_fifo_is_found_and_refused(tmp_path):
    path = unpacked("cpu", tmp_path)
    (path / "manifest.json").unlink()
    os.mkfifo(path / "manifest.json")
    assert run_paths(tmp_path) == [path]
    assert find_run(tmp_path, str(path)).path == path
    with pytest.raises(StoreError, match="a FIFO"):
        read_run(path)


# Packages that read or change runs, and the files in them that open something else: a lock of a directory, the journal
# of a trial that this process runs, files that a user names.
OF_RUNS = (
    "results/store",
    "verify",
    "watch/exporter",
    "analysis/compare",
    "report",
    "watch/live",
    "results/formats",
    "results/sqlexport",
    "analysis/fit",
    "analysis/noise",
)
OTHERS = {
    "results/store/stored.py",
    "results/store/held.py",
    "results/store/journal.py",
    "results/store/outside.py",
    "results/store/reference.py",
}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "fdopen", "loadtxt", "genfromtxt"}


def openings(tree: ast.AST) -> list[int]:
    """The lines on which a file is opened: open(...), or a method that opens."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "open"]
    found += [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in OPENERS]
    return [call.lineno for call in found if not (isinstance(call.func, ast.Attribute) and _is_of_files(call.func))]


def _is_of_files(function: ast.Attribute) -> bool:
    """Whether it is a method of RunFiles: its own, or of what the writer calls its files."""
    return ast.unparse(function.value) in ("self", "self._files")


def test_nothing_else_opens_files_of_a_run():
    paths = [path for package in OF_RUNS for path in sorted((PACKAGE / package).rglob("*.py"))]
    paths.append(PACKAGE / "cli" / "compose.py")
    names = {str(path.relative_to(PACKAGE)): path for path in paths}
    assert all((PACKAGE / package).is_dir() for package in OF_RUNS) and paths[-1].is_file()
    texts = {name: path.read_text(encoding="utf-8") for name, path in names.items() if name not in OTHERS}
    opened_in = ((name, line) for name, text in texts.items() for line in openings(ast.parse(text)))
    assert_none((f"{name}, line {line}" for name, line in opened_in), "use scale_sweep/results/store/stored.py")


def test_an_opening_is_seen():
    assert (
        openings(ast.parse("open(x)"))
        and openings(ast.parse("path.read_text()"))
        and openings(ast.parse("os.open(p, 0)"))
    )
    assert not openings(ast.parse("read_text(run, name); self._files.write_bytes(n, b)"))
