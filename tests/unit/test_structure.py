"""The structure, held by a test: which room may import which, how long a file or a function may be, who may print."""

import ast
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parents[2] / "runner"
FILES = sorted(RUNNER.rglob("*.py"))
LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 120

# A room may import the rooms named here and nothing else of the project. `compose` and `cli` put all together.
ALLOWED = {
    "model": set(), "errors": set(), "units": set(), "interrupts": set(), "spawning": {"interrupts"},
    "host": {"model", "units", "errors"},
    "disks": {"model", "units", "errors", "interrupts", "host"},
    "registry": set(),
    "setting": {"model", "errors", "units"},
    "axes": {"model", "errors", "units", "host", "registry", "setting"},
    "sweep": {"model", "errors", "units", "setting", "axes"},
    "plan": {"model", "errors", "units", "host", "sweep", "setting", "targets", "axes"},
    "noise": {"model", "units", "sweep", "axes"},
    "verdict": {"model", "units", "axes"},
    "fit": {"model", "units"},
    "report": {"model", "units", "fit", "noise", "sweep", "axes"},
    "runtimes": {"model", "errors", "interrupts", "units", "host", "registry", "spawning"},
    "targets": {"model", "errors", "units", "loadgen", "registry"},
    "sampling": {"model", "errors", "units", "host"},
    "figures": {"model", "units", "loadgen", "verdict"},
    "loadgen": {"model", "errors", "interrupts", "units", "spawning"},
    "trial": {
        "model", "errors", "interrupts", "units", "loadgen", "runtimes", "sampling", "targets", "verdict", "figures", "method",
        "axes",
    },
    "store": {"model", "errors", "sweep", "units", "figures"},
    "formats": {"model", "errors", "units", "store", "figures"},
    "compare": {"model", "units", "sweep", "axes"},
    "live": {"model", "fit", "sweep", "units"},
    "exporter": {"model", "errors", "live", "loadgen", "store", "sweep", "units"},
    "identity": {"method"}, "method": set(),
    "verify": {"identity", "method", "model", "errors", "units", "store", "loadgen", "figures", "verdict", "report"},
    "executing": {
        "axes", "model", "errors", "interrupts", "units", "host", "disks", "identity", "loadgen", "report", "store",
        "targets", "trial",
    },
    "choose": {"model", "errors", "runtimes", "targets"},
    "preflight": {"model", "errors", "axes", "disks", "host", "runtimes", "sweep", "targets"},
    "doctor": {"errors", "host", "loadgen", "runtimes", "targets", "units"},
    "dashboards": {"errors", "interrupts", "runtimes"},
    "console": {"live", "model", "errors", "units"},
    "compat": {"model", "errors", "units", "loadgen", "targets"},
}  # fmt: skip
FREE = {"compose", "cli", "__init__"}
PURE = ("axes", "setting", "plan", "noise", "verdict", "fit", "report", "compare", "formats", "figures")
IMPURE_MODULES = {"subprocess", "socket", "time", "os", "shutil", "threading", "urllib", "docker", "psycopg"}


def room_of(path: Path) -> str:
    return path.relative_to(RUNNER).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, ast.AST]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{a.name}" for a in node.names] if node.module == "runner" else [node.module]
            found += [(name, node) for name in names]
        elif isinstance(node, ast.Import):
            found += [(a.name, node) for a in node.names]
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(RUNNER))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path):
    room = room_of(path)
    if room in FREE:
        return
    assert room in ALLOWED, f"{room} is a new room: say in ALLOWED what it may import"
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] == "runner" and len(parts) > 1 and parts[1] != "__version__":
            assert parts[1] == room or parts[1] in ALLOWED[room], f"{room} must not import {parts[1]}"


@pytest.mark.parametrize("path", [f for f in FILES if room_of(f) in PURE], ids=name_of)
def test_pure_rooms_touch_no_world(path):
    touched = {name.split(".")[0] for name, _ in imports(path)} & IMPURE_MODULES
    assert not touched, f"{name_of(path)} imports {touched}"


@pytest.mark.parametrize("kind", ["runtimes", "targets"])
def test_siblings_do_not_import_each_other(kind):
    siblings = {p.stem if p.is_file() else p.name for p in (RUNNER / kind).iterdir()} - {"__init__", "__pycache__"}
    shared = {"docker_facts", "clean", "cgroup", "state"} | {s for s in siblings if s.startswith("_")}
    for path in (RUNNER / kind).rglob("*.py"):
        own = path.relative_to(RUNNER / kind).parts[0].removesuffix(".py")
        for name, _ in imports(path):
            parts = name.split(".")
            if own in {"__init__", "clean"} or parts[:2] != ["runner", kind] or len(parts) < 3:
                continue
            other = parts[2]
            peers = {"docker", "process", "remote", "endpoint"} if kind == "runtimes" else siblings
            if other != own and other in peers and own in peers:
                assert other in shared, f"{kind}/{own} imports its sibling {other}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_sizes_and_first_lines(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines()
    assert len(lines) <= LINES_MAX, f"{len(lines)} lines"
    assert max(map(len, lines), default=0) <= WIDTH_MAX
    assert ast.get_docstring(tree), "the first lines say why the file exists"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= FUNCTION_LINES_MAX, f"{node.name} has {length} lines"
            if not node.name.startswith("_") and node in tree.body:
                assert ast.get_docstring(node), f"{node.name} has no docstring"


@pytest.mark.parametrize("path", [f for f in FILES if room_of(f) != "console"], ids=name_of)
def test_only_the_console_prints(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno} prints"


@pytest.mark.parametrize("path", [f for f in FILES if room_of(f) != "cli"], ids=name_of)
def test_only_the_command_line_ends_the_process(path):
    for name, _ in imports(path):
        assert name != "sys" or "sys.exit" not in path.read_text(encoding="utf-8")
