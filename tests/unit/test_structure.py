"""The structure, held by a test: which package may import which, how long a file or a function may be, who may print."""

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from runner.axes import AXES
from runner.runtimes import RUNTIMES
from runner.targets import TARGETS
from tests.offenders import assert_none

RUNNER = Path(__file__).resolve().parents[2] / "runner"
FILES = sorted(RUNNER.rglob("*.py"))
LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 120
UNDOCUMENTED_LINES_MAX = 12  # a shorter function needs no docstring if its name and types say everything

# A package may import the packages named here and nothing else of the project. `compose` and `cli` put all together.
ALLOWED = {
    "model": set(), "errors": set(), "nearest": set(), "plain_text": set(), "input_file": {"errors"}, "extras": {"errors"}, "units": set(), "same_value": set(), "interrupts": set(), "files": set(), "spawning": {"interrupts"},
    "visible": set(), "output": set(),
    "host": {"model", "units", "errors", "spawning"},
    "state": {"errors", "host", "interrupts"},
    "disks": {"model", "units", "errors", "interrupts", "host", "spawning", "state"},
    "registry": set(),
    "work": {"nearest", "model", "errors", "registry", "units"},
    "setting": {"nearest", "model", "errors", "units"},
    "axes": {"nearest", "work", "model", "errors", "units", "host", "registry", "setting"},
    "sweep": {"plain_text", "nearest", "input_file", "work", "model", "errors", "units", "setting", "axes", "targets", "runtimes"},
    "plan": {"nearest", "work", "model", "errors", "units", "host", "sweep", "setting", "targets", "axes", "noise", "observations",
             "connections_check", "fit"},
    "observations": {"model", "noise", "sweep"},
    "connections_check": {"model", "axes", "work", "noise", "observations", "units"},
    "noise": {"model", "units"},
    "verdict": {"model", "units", "axes"},
    "fit": {"model", "units"},
    "soak": {"verdict"},
    "report": {"same_value", "work", "model", "units", "fit", "noise", "observations", "compare", "sweep", "axes", "connections_check",
               "soak", "verdict", "visible"},
    "runtimes": {"nearest", "model", "errors", "interrupts", "units", "host", "registry", "spawning", "state"},
    "targets": {"work", "state", "nearest", "model", "errors", "files", "units", "loadgen", "registry"},
    "sampling": {"model", "errors", "units", "host"},
    "figures": {"work", "axes", "model", "units", "loadgen", "verdict"},
    "loadgen": {"work", "model", "errors", "interrupts", "units", "spawning"},
    "trial": {"same_value", "work",
        "model", "errors", "files", "interrupts", "units", "loadgen", "runtimes", "sampling", "state", "targets", "verdict",
        "figures", "method", "axes",
    },
    "store": {"input_file", "axes", "model", "errors", "host", "sweep", "units", "figures", "connections_check"},
    "formats": {"extras", "model", "errors", "units", "store", "figures"},
    "sqlexport": {"extras", "model", "errors", "formats"},
    "compare": {"same_value", "model", "errors", "units", "observations", "noise", "sweep", "axes"},
    "live": {"work", "figures", "model", "fit", "noise", "sweep", "units", "observations", "axes", "connections_check"},
    "exporter": {"model", "errors", "live", "loadgen", "store", "sweep", "units", "visible"},
    "identity": {"method"}, "method": set(),
    "verify": {"identity", "method", "model", "errors", "units", "store", "loadgen", "figures", "verdict", "report", "axes",
               "connections_check"},
    "preparing": {"extras", "same_value", "loadgen", "model", "errors", "axes", "disks", "host", "plan", "setting", "runtimes", "servers", "state", "store",
                  "sweep", "targets"},
    "executing": {
        "axes", "model", "errors", "interrupts", "units", "host", "disks", "identity", "loadgen", "plan", "report", "state",
        "store", "targets", "trial", "work",
    },
    "servers": {"nearest", "state", "errors", "targets"},
    "doctor": {"errors", "host", "loadgen", "runtimes", "servers", "targets", "units"},
    "dashboards": {"errors", "host", "interrupts", "runtimes", "spawning", "state"},
    "console": {"live", "model", "errors", "units", "visible"},
    "compat": {"plain_text", "input_file", "model", "errors", "units", "loadgen", "targets"},
    "observing": {"errors", "figures", "identity", "interrupts", "model", "sampling", "store", "sweep"},
    "iot": {
        "input_file", "model", "errors", "interrupts", "loadgen", "runtimes", "sqlexport", "targets", "trial", "work"
    },
}  # fmt: skip
FREE = {"compose", "cli", "__init__"}
PURE = (
    "axes",
    "soak",
    "work",
    "setting",
    "observations",
    "connections_check",
    "plan",
    "noise",
    "verdict",
    "fit",
    "report",
    "compare",
    "formats",
    "figures",
)
IMPURE_MODULES = {"subprocess", "socket", "time", "os", "shutil", "threading", "urllib", "docker", "psycopg"}


def package_of(path: Path) -> str:
    return path.relative_to(RUNNER).parts[0].removesuffix(".py")


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def imports(path: Path) -> list[tuple[str, ast.AST]]:
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{a.name}" for a in node.names] if node.module == "runner" else [node.module]
            found += [(name, node) for name in names]
        elif isinstance(node, ast.Import):
            found += [(a.name, node) for a in node.names]
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(RUNNER))


def refused(check: Callable[[Path], Iterable[str]], paths: Iterable[Path] = FILES) -> list[str]:
    """What a check finds in each file, with the file's name."""
    return [f"{name_of(path)}: {sentence}" for path in paths for sentence in check(path)]


def test_imports_go_one_way():
    new = {package_of(path) for path in FILES} - FREE - set(ALLOWED)
    assert not new, "a new package: say in ALLOWED what it may import"
    assert_none(refused(forbidden_imports, [path for path in FILES if package_of(path) not in FREE]))


def forbidden_imports(path: Path) -> Iterator[str]:
    package = package_of(path)
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] == "runner" and len(parts) > 1 and parts[1] not in ("__version__", package, *ALLOWED[package]):
            yield f"{package} must not import {parts[1]}"


def test_pure_packages_touch_no_world():
    pure = [path for path in FILES if package_of(path) in PURE]
    assert_none(refused(lambda path: {name.split(".")[0] for name, _ in imports(path)} & IMPURE_MODULES, pure))


@pytest.mark.parametrize(("kind", "peers"), [("runtimes", set(RUNTIMES.names())), ("targets", set(TARGETS.names()))])
def test_siblings_do_not_import_each_other(kind, peers):
    for path in (RUNNER / kind).rglob("*.py"):
        own = path.relative_to(RUNNER / kind).parts[0].removesuffix(".py")
        for name, _ in imports(path):
            parts = name.split(".")
            if own in peers and parts[:2] == ["runner", kind] and len(parts) > 2:
                assert parts[2] == own or parts[2] not in peers, f"{kind}/{own} imports its sibling {parts[2]}"


def test_sizes_and_first_lines():
    assert_none(refused(sizes_and_first_lines))


def sizes_and_first_lines(path: Path) -> Iterator[str]:
    tree = nodes_of(path)[0]
    assert isinstance(tree, ast.Module)
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > LINES_MAX:
        yield f"{len(lines)} lines"
    if max(map(len, lines), default=0) > WIDTH_MAX:
        yield f"a line is longer than {WIDTH_MAX} characters"
    if not ast.get_docstring(tree):
        yield "the first lines do not say why the file exists"
    for node in nodes_of(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield f"{node.name} has {length} lines"
            is_open = not node.name.startswith("_") and node in tree.body
            if is_open and length > UNDOCUMENTED_LINES_MAX and not ast.get_docstring(node):
                yield f"{node.name} has no docstring"


# Words that add nothing to a name. The others are compared without a plural's s.
EMPTY = set(
    "a an and as at by for from in is it its of on one or returns that the this to was were whether which with".split()
)


def words_of(text: str) -> set[str]:
    """The words of a text or of a name in snake_case or CamelCase, in lower case and in the singular."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return {word.removesuffix("s") for word in re.findall(r"[a-z0-9%/]+", spaced.lower())} - {
        w.removesuffix("s") for w in EMPTY
    }


def said_by_name(node: ast.AST) -> bool:
    """Whether a docstring has no word that is not in the name, the parameters or the types."""
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    text = ast.get_docstring(node)
    if text is None:
        return False
    signature = node.name
    if not isinstance(node, ast.ClassDef):
        signature += " " + ast.unparse(node.args) + " " + (ast.unparse(node.returns) if node.returns else "")
    return not words_of(text) - words_of(signature)


def test_a_docstring_says_more_than_the_name():
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

    def empty(path: Path) -> list[str]:
        nodes = [node for node in nodes_of(path) if isinstance(node, named)]
        return [f"line {node.lineno}: {node.name}" for node in nodes if said_by_name(node)]

    assert_none(refused(empty))


def test_docstrings_of_the_names_words_alone_are_found():
    def first(text: str) -> ast.AST:
        return ast.parse(text).body[0]

    assert said_by_name(first('def opens(path: Path) -> StoredRun:\n    """Opens the stored run of a path."""'))
    assert not said_by_name(first('def open_run(path: Path) -> StoredRun:\n    """Locks the run of a path."""'))
    assert said_by_name(first('class FreePorts:\n    """Free ports."""'))
    assert not said_by_name(first('def length(text: str) -> int:\n    """In bytes."""'))


def test_only_the_console_prints():
    def prints(path: Path) -> list[str]:
        calls = [node for node in nodes_of(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        return [f"line {call.lineno} prints" for call in calls if call.func.id == "print"]

    assert_none(refused(prints, [path for path in FILES if package_of(path) != "console"]))


def test_only_the_command_line_ends_the_process():
    def ends(path: Path) -> list[str]:
        is_used = any(name == "sys" for name, _ in imports(path)) and "sys.exit" in path.read_text(encoding="utf-8")
        return ["calls sys.exit"] if is_used else []

    assert_none(refused(ends, [path for path in FILES if package_of(path) != "cli"]))


# What is registered, by the package that may hold its name: the registry itself, or in it the implementation's own module or package.
REGISTERED = {"targets": TARGETS, "runtimes": RUNTIMES, "axes": AXES}
# A word that is a name there and means something else here; each with what it means.
OTHER_MEANING = {
    "dashboards": {"docker", "process"},  # how Prometheus and Grafana run, which no sweep measures
    "loadgen/together.py": {"process"},  # in recorded lines: which of several load processes said them
    "cli/commands.py": {"disks"},  # the command `scale disks`
    "cli/disks.py": {"disks"},  # a field of its JSON
    "cli/observing.py": {"disks"},  # the same
    "cli/options.py": {"disks"},  # the section of settings about where disks come from
    "compose/runs.py": {"disks"},  # a field of the manifest: what the machine has
    "figures/measure.py": {"disks"},  # a field of Measurement
    "verify/trial.py": {"disks"},  # the same
    "store/texts.py": {"cores", "disks"},  # the same, and columns of points.csv
}


def decided_by(tree: ast.AST) -> list[tuple[str, int]]:
    """Every constant text that something is compared with, matched against, or looked up by, with its line."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            found += [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            found.append(node.value)
        elif isinstance(node, ast.Dict):
            found += [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Subscript):
            found.append(node.slice)
    return [(c.value, c.lineno) for one in found for c in constants(one)]


def constants(node: ast.expr) -> list[ast.Constant]:
    """The texts that a side of a comparison is: itself, or the items of a literal collection."""
    if isinstance(node, ast.Constant):
        return [node] if isinstance(node.value, str) else []
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [c for item in node.elts for c in constants(item)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("frozenset", "set", "tuple"):
        return [c for item in node.args for c in constants(item)]
    return []


def may_name(path: Path, name: str) -> bool:
    """Where a name is registered, and inside the implementation of that name."""
    package, *rest = path.relative_to(RUNNER).parts
    own = rest[0].removesuffix(".py") if rest else ""
    meant = {*OTHER_MEANING.get(package, ()), *OTHER_MEANING.get(name_of(path), ())}
    return name in meant or package in REGISTERED and own in ("__init__", name)


def test_nothing_is_decided_by_the_name_of_an_implementation():
    names = {name for registry in REGISTERED.values() for name in registry.names()}

    def named(path: Path) -> list[str]:
        decisions = [(name, line) for name, line in decided_by(nodes_of(path)[0]) if name in names]
        return [f"line {line}: {name!r}" for name, line in decisions if not may_name(path, name)]

    assert_none(refused(named), "ask for its facts or capabilities instead")


@pytest.mark.parametrize(
    "line",
    [
        "x == 'docker'", "'null' != x", "x in ('postgres', 'tdengine')", "x not in {'endpoint'}",
        "{'process': 1}", "how['docker']", "x in frozenset(('null',))", "match x:\n    case 'docker': pass",
    ],
)  # fmt: skip
def test_such_a_decision_is_seen(line):
    assert decided_by(ast.parse(line))
