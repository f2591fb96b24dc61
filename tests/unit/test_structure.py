"""The structure, held by a test: which package may import which, in layers, how long a file or a function may be, who may print."""

import ast
import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from scale_sweep.experiment.axes import AXES
from scale_sweep.server.runtimes import RUNTIMES
from scale_sweep.server.targets import TARGETS
from tests.offenders import assert_none

PACKAGE = Path(__file__).resolve().parents[2] / "runner/scale_sweep"
FILES = sorted(PACKAGE.rglob("*.py"))
LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 120
UNDOCUMENTED_LINES_MAX = 12  # a shorter function needs no docstring if its name and types say everything

# A part is a package, or a package or module directly in it. It may import the parts named here and nothing else of
# the project; in the order of the layers (pyproject.toml), the lowest first.
ALLOWED = {
    "base.ages": set(),
    "base.alike": set(),
    "base.bundled": set(),
    "base.errors": set(),
    "base.extras": {"base.errors"},
    "base.files": set(),
    "base.input_file": {"base.errors"},
    "base.interrupts": set(),
    "base.nearest": set(),
    "base.loopback": set(),
    "base.output": set(),
    "base.plain_text": set(),
    "base.registry": set(),
    "base.same_value": set(),
    "base.spawning": {"base.interrupts"},
    "base.toml_text": {"base.errors"},
    "base.units": set(),
    "base.visible": set(),
    "model": set(),
    "capacity": {"base.units", "model"},
    "machine.disks": {
        "base.errors", "base.interrupts", "base.spawning", "base.units", "model", "machine.host", "machine.state",
    },
    "machine.host": {
        "base.errors", "base.input_file", "base.nearest", "base.plain_text", "base.spawning", "base.toml_text", "base.units", "model",
    },
    "machine.sampling": {"base.errors", "base.units", "model", "machine.host"},
    "machine.state": {"base.errors", "base.interrupts", "machine.host"},
    "experiment.axes": {
        "base.errors", "base.nearest", "base.registry", "base.units", "model", "machine.host", "experiment.setting",
        "experiment.work",
    },
    "experiment.setting": {"base.errors", "base.nearest", "base.units", "model"},
    "experiment.work": {"base.errors", "base.nearest", "base.registry", "base.units", "model"},
    "loadgen": {"base.errors", "base.interrupts", "base.spawning", "base.units", "model", "experiment.work"},
    "server.images": {"base.errors", "base.spawning", "server.runtimes", "server.targets"},
    "server.pinned": {"base.errors", "base.nearest", "machine.state", "server.targets"},
    "server.runtimes": {
        "base.errors", "base.interrupts", "base.nearest", "base.registry", "base.spawning", "base.units", "model",
        "machine.host", "machine.state",
    },
    "server.targets": {
        "base.errors", "base.files", "base.nearest", "base.registry", "base.spawning", "base.units", "model",
        "machine.host", "machine.state", "experiment.work", "loadgen",
    },
    "sweep": {
        "base.bundled", "base.errors", "base.input_file", "base.nearest", "base.plain_text", "base.toml_text", "base.units", "model",
        "machine.host", "capacity",
        "experiment.axes", "experiment.setting", "experiment.work", "server.runtimes", "server.targets",
    },
    "judge.figures": {"base.alike", "base.units", "model", "capacity", "experiment.axes", "experiment.work", "loadgen", "judge.verdict"},
    "judge.method": set(),
    "judge.verdict": {"base.units", "model", "experiment.axes"},
    "analysis.compare": {
        "base.errors", "base.same_value", "base.units", "model", "experiment.axes", "sweep", "analysis.confidence", "analysis.noise",
        "analysis.observations",
    },
    "analysis.confidence": set(),
    "analysis.confirmation": {
        "base.units", "model", "capacity", "experiment.axes", "sweep", "analysis.confidence",
    },
    "analysis.later_trials": {"model", "analysis.confirmation", "analysis.connections_check"},
    "analysis.connections_check": {
        "base.units", "model", "experiment.axes", "experiment.work", "analysis.confidence", "analysis.noise",
        "analysis.observations",
    },
    "analysis.equal_speed": {"model", "analysis.confidence", "analysis.fit", "analysis.observations"},
    "analysis.fit": {"base.units", "model", "analysis.confidence"},
    "analysis.noise": {"base.units", "model", "analysis.confidence"},
    "analysis.observations": {"model", "sweep", "analysis.noise"},
    "analysis.sizing": {
        "base.units", "model", "experiment.axes", "experiment.work", "analysis.confidence", "analysis.fit",
        "analysis.noise", "analysis.observations",
    },
    "analysis.soak": {"judge.verdict"},
    "results.formats": {"base.errors", "base.extras", "base.units", "model", "judge.figures", "results.store"},
    "results.identity": {"judge.method"},
    "results.sqlexport": {"base.errors", "base.extras", "model", "results.formats"},
    "results.store": {
        "base.bundled", "base.errors", "base.input_file", "base.nearest", "base.units", "model", "machine.host",
        "machine.state", "experiment.axes", "sweep", "judge.figures", "analysis.later_trials",
    },
    "report": {
        "base.ages", "base.alike", "base.same_value", "base.units", "base.visible", "model", "capacity",
        "experiment.axes", "experiment.work", "sweep",
        "judge.verdict", "analysis.compare", "analysis.confidence", "analysis.confirmation",
        "analysis.connections_check", "analysis.equal_speed", "analysis.fit",
        "analysis.noise", "analysis.observations", "analysis.soak",
    },
    "plan": {
        "base.errors", "base.nearest", "base.units", "model", "capacity", "machine.host", "experiment.axes",
        "experiment.setting", "experiment.work", "loadgen", "server.targets", "sweep", "analysis.compare",
        "analysis.confidence", "analysis.confirmation", "analysis.connections_check", "analysis.fit", "analysis.noise",
        "analysis.observations",
    },
    "plan.preparing": {
        "base.errors", "base.extras", "base.same_value", "base.units", "model", "machine.disks", "machine.host",
        "machine.state", "experiment.axes", "experiment.setting", "experiment.work", "loadgen", "server.pinned",
        "server.runtimes", "server.targets",
        "sweep", "results.store", "plan",
    },
    "measure.executing": {
        "base.errors", "base.interrupts", "base.units", "model", "machine.disks", "machine.host",
        "experiment.work", "loadgen", "server.runtimes", "server.targets", "results.identity", "results.store",
        "report", "plan", "measure.disk_placement", "measure.machine_setup", "measure.trial",
    },
    "measure.disk_placement": {
        "base.errors", "base.interrupts", "model", "server.runtimes", "server.targets", "measure.machine_setup",
        "measure.trial",
    },
    "measure.machine_setup": {
        "base.units", "model", "machine.disks", "machine.host", "machine.state", "server.runtimes", "server.targets",
    },
    "measure.observing": {
        "base.errors", "base.interrupts", "model", "machine.sampling", "sweep", "judge.figures", "results.identity",
        "results.store",
    },
    "measure.trial": {
        "base.errors", "base.files", "base.interrupts", "base.same_value", "base.units", "model", "machine.sampling",
        "machine.state", "experiment.axes", "experiment.work", "loadgen", "server.runtimes", "server.targets",
        "judge.figures", "judge.method", "judge.verdict",
    },
    "agent": {
        "base.errors", "base.interrupts", "base.loopback", "base.spawning", "model", "machine.disks", "machine.host", "machine.sampling",
        "machine.state", "loadgen", "server.pinned", "server.runtimes", "server.targets", "results.store",
        "plan.preparing", "measure.disk_placement", "measure.machine_setup", "measure.trial",
    },
    "hosts": {
        "base.errors", "base.interrupts", "base.nearest", "base.spawning", "base.units", "model", "machine.disks",
        "machine.host", "machine.state", "loadgen", "server.pinned", "server.targets", "results.identity",
        "results.store", "plan.preparing", "measure.machine_setup", "measure.trial", "agent",
    },
    "fleet": {
        "base.errors", "base.extras", "base.input_file", "base.interrupts", "base.registry", "base.spawning", "base.units", "model", "machine.host",
        "machine.state", "experiment.axes", "experiment.setting", "sweep", "results.identity", "results.store", "plan",
        "plan.preparing", "measure.executing", "verify", "hosts",
    },
    "iotbenchmark": {
        "base.errors", "base.input_file", "base.interrupts", "model", "experiment.work", "loadgen", "server.runtimes",
        "server.targets", "results.sqlexport", "measure.trial",
    },
    "taosbenchmark": {
        "base.errors", "base.input_file", "base.plain_text", "base.units", "model", "loadgen", "server.targets",
    },
    "verify": {
        "base.errors", "base.units", "model", "experiment.axes", "loadgen", "judge.figures", "judge.method",
        "judge.verdict", "analysis.later_trials", "results.identity", "results.store", "report",
    },
    "watch.dashboards": {
        "base.errors", "base.interrupts", "base.spawning", "machine.host", "machine.state", "server.runtimes",
    },
    "watch.exporter": {
        "base.errors", "base.units", "base.visible", "model", "loadgen", "sweep", "results.store", "watch.live",
    },
    "watch.live": {
        "base.units", "model", "experiment.axes", "experiment.work", "sweep", "judge.figures",
        "analysis.later_trials", "analysis.fit", "analysis.noise", "analysis.observations",
    },
    "cli.console": {"base.errors", "base.output", "base.units", "base.visible", "model", "plan", "watch.live"},
    "cli.doctor": {
        "base.ages", "base.errors", "base.units", "machine.host", "loadgen", "server.pinned", "server.runtimes", "server.targets",
    },
}  # fmt: skip
# These put all together; and packages that only hold their parts import nothing.
FREE = {"cli", "cli.compose", "stored_run", "__init__", "__main__"}
HOLDERS = {part.partition(".")[0] for part in ALLOWED if "." in part} - set(ALLOWED) - FREE
PURE = (
    "experiment.axes",
    "experiment.setting",
    "experiment.work",
    "judge.figures",
    "judge.verdict",
    "analysis.compare",
    "analysis.confidence",
    "analysis.confirmation",
    "analysis.connections_check",
    "analysis.later_trials",
    "analysis.fit",
    "analysis.noise",
    "analysis.observations",
    "analysis.sizing",
    "analysis.soak",
    "results.formats",
    "report",
    "plan",
)
IMPURE_MODULES = {"subprocess", "socket", "time", "os", "shutil", "threading", "urllib", "docker", "psycopg"}


def part_of(module: str) -> str:
    """The part of a module of the project, by its dotted name: "scale_sweep.judge.verdict.rules" is "judge.verdict"."""
    names = module.split(".")[1:3]
    return next((part for part in (".".join(names), names[0]) if part in ALLOWED or part in FREE), ".".join(names))


def part_of_file(path: Path) -> str:
    names = path.relative_to(PACKAGE).with_suffix("").parts
    return part_of(".".join(("scale_sweep", *(names[:-1] if len(names) > 1 and names[-1] == "__init__" else names))))


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def imports(path: Path) -> list[tuple[str, ast.AST]]:
    """The modules that a file imports; of the project with the imported name, which may be a module."""
    found: list[tuple[str, ast.AST]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            is_ours = node.module.split(".")[0] == "scale_sweep"
            names = [f"{node.module}.{a.name}" for a in node.names] if is_ours else [node.module]
            found += [(name, node) for name in names]
        elif isinstance(node, ast.Import):
            found += [(a.name, node) for a in node.names]
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def refused(check: Callable[[Path], Iterable[str]], paths: Iterable[Path] = FILES) -> list[str]:
    """What a check finds in each file, with the file's name."""
    return [f"{name_of(path)}: {sentence}" for path in paths for sentence in check(path)]


def test_imports_go_one_way():
    parts = {part_of_file(path) for path in FILES}
    assert_none(
        f"{part} is a new part: say in ALLOWED what it may import" for part in parts - ALLOWED.keys() - HOLDERS - FREE
    )
    assert_none(refused(forbidden_imports, [path for path in FILES if part_of_file(path) not in FREE]))


def forbidden_imports(path: Path) -> Iterator[str]:
    part = part_of_file(path)
    for name, _ in imports(path):
        imported = part_of(name) if name.split(".")[0] == "scale_sweep" and name != "scale_sweep.__version__" else part
        if imported != part and imported not in ALLOWED.get(part, set()):
            yield f"{part} must not import {imported}"


def test_layers_hold_every_package_and_allowed_leads_down():
    """`lint-imports` (`make check`) reads the same layers, and follows the imports themselves."""
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    layers = [line.split(" | ") for line in contract["layers"]]
    height = {package: -number for number, layer in enumerate(layers) for package in layer}
    assert set(height) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for part, below in ALLOWED.items():
        package = part.partition(".")[0]
        for other in {name.partition(".")[0] for name in below} - {package}:
            assert height[other] < height[package], f"{part} is not above {other}"
    page = (PACKAGE.parents[1] / "docs/architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert listed == [package for layer in layers for package in layer], "the table of packages in docs/architecture.md"


def test_pure_packages_touch_no_world():
    pure = [path for path in FILES if part_of_file(path) in PURE]
    assert_none(refused(lambda path: {name.split(".")[0] for name, _ in imports(path)} & IMPURE_MODULES, pure))


@pytest.mark.parametrize(("kind", "peers"), [("runtimes", set(RUNTIMES.names())), ("targets", set(TARGETS.names()))])
def test_siblings_do_not_import_each_other(kind, peers):
    folder = PACKAGE / "server" / kind
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        for name, _ in imports(path):
            parts = name.split(".")
            if own in peers and parts[:3] == ["scale_sweep", "server", kind] and len(parts) > 3:
                assert parts[3] == own or parts[3] not in peers, f"{kind}/{own} imports its sibling {parts[3]}"


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

    assert_none(refused(prints, [path for path in FILES if part_of_file(path) != "cli.console"]))


def test_only_the_command_line_ends_the_process():
    def ends(path: Path) -> list[str]:
        is_used = any(name == "sys" for name, _ in imports(path)) and "sys.exit" in path.read_text(encoding="utf-8")
        return ["calls sys.exit"] if is_used else []

    assert_none(refused(ends, [path for path in FILES if part_of_file(path) != "cli"]))


# The modules or packages of all implementations, by the part that registers them.
IMPLEMENTATIONS = {
    "experiment.axes": {type(AXES.load(name)).__module__.split(".")[3] for name in AXES.names()},
    "server.runtimes": {RUNTIMES.load(name).__name__.split(".")[3] for name in RUNTIMES.names()},
    "server.targets": {TARGETS.load(name).implementation.partition(":")[0].split(".")[3] for name in TARGETS.names()},
}
# Who may import one all the same: what it loads is that one database.
IMPORTERS = {"taosbenchmark": {"tdengine"}, "cli/load.py": {"tdengine"}}


def test_no_implementation_is_imported_outside_its_package():
    def importing(path: Path) -> Iterator[str]:
        part = part_of_file(path)
        allowed = {*IMPORTERS.get(part, ()), *IMPORTERS.get(name_of(path), ())}
        for name, node in imports(path):
            names = name.split(".")
            registering = ".".join(names[1:3])
            implementations = IMPLEMENTATIONS.get(registering, set()) if names[0] == "scale_sweep" else set()
            if registering != part and set(names[3:4]) & implementations - allowed:
                yield f"line {node.lineno} imports {name}"

    assert_none(refused(importing), "ask the registry, its facts or its capabilities instead")


# What is registered under a name of its own, by the package that may hold it: the registry itself, or in it the
# implementation's own module or package. The names of axes are ordinary words (cores, memory): see `decided_by_axis`.
REGISTERED = {"server.targets": TARGETS, "server.runtimes": RUNTIMES}
# A word that is a name there and means something else here; each with what it means.
OTHER_MEANING = {
    "results.sqlexport": {"mariadb"},  # a database that takes an export
    "watch.dashboards": {"docker", "process", "prometheus"},  # Prometheus and Grafana and how they run: not measured
    "loadgen/together.py": {"process"},  # in recorded lines: which of several load processes said them
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
    part = part_of_file(path)
    if name in {*OTHER_MEANING.get(part, ()), *OTHER_MEANING.get(name_of(path), ())}:
        return True
    if part not in REGISTERED:
        return False
    return path.relative_to(PACKAGE.joinpath(*part.split("."))).parts[0].removesuffix(".py") in ("__init__", name)


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


# An expression that is an axis' name: `axis`, `plan.sweep.axis`, `axis.facts.name`, `load_axis(...).command`.
AXIS_NAME = re.compile(r"\b(axis|((swept|other|axis|(axis_of|load_axis)\(.*\))(\.facts)?\.(name|command)))$")
CONSTANT = re.compile(r"([a-z_]+\.)*[A-Z][A-Z_]*")


def decided_by_axis(tree: ast.AST) -> list[int]:
    """The lines in which an axis' name is compared with a text or a constant, matched against one, or looked up in a
    table, and those in which an axis is asked for by a text or a constant."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.Match)) and asks_axis(node)]  # fmt: skip


def asks_axis(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(is_axis_name, sides)) and any(map(is_fixed, sides))
    if isinstance(node, ast.Match):
        return is_axis_name(node.subject)
    if isinstance(node, ast.Subscript):
        return is_axis_name(node.slice) and is_table(node.value)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return is_axis_name(node.args[0]) and is_table(node.func.value)
    return ast.unparse(node.func) in ("axis_of", "load_axis", "AXES.load") and is_fixed(node.args[0])


def is_axis_name(node: ast.AST) -> bool:
    return AXIS_NAME.search(ast.unparse(node)) is not None


def is_fixed(node: ast.expr) -> bool:
    """A text, a literal collection of texts, or a constant of a module."""
    return bool(constants(node)) or CONSTANT.fullmatch(ast.unparse(node)) is not None


def is_table(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) or CONSTANT.fullmatch(ast.unparse(node)) is not None


def test_nothing_is_decided_by_the_name_of_an_axis():
    outside = [path for path in FILES if part_of_file(path) != "experiment.axes"]
    assert_none(refused(lambda path: [f"line {line}" for line in decided_by_axis(nodes_of(path)[0])], outside))


@pytest.mark.parametrize(
    "line",
    [
        "sweep.axis == 'cores'", "'disks' != plan.sweep.axis", "axis in ('cores', 'disks')", "axis.facts.name == CORES",
        "load_axis(run.plan.sweep.axis).name not in {'memory'}", "swept.facts.command == model.DISKS",
        "{'cores': 1}[sweep.axis]", "WORDS[axis.name]", "WORDS.get(sweep.axis, '')", "axis_of('disks')",
        "load_axis(CORES).unit", "AXES.load('clients')", "match sweep.axis:\n    case 'cores': pass",
    ],
)  # fmt: skip
def test_a_decision_by_the_name_of_an_axis_is_seen(line):
    assert decided_by_axis(ast.parse(line))


@pytest.mark.parametrize(
    "line",
    [
        "paths['memory']", "{'memory': 1}", "kind == 'disks'", "controller in ('cpu', 'memory')", "amounts[CORES]",
        "constants[axis.facts.name]", "axis.facts.name != sweep.axis", "load_axis(sweep.axis).unit", "texts.get(axis.key)",
    ],
)  # fmt: skip
def test_an_ordinary_word_is_no_decision(line):
    assert not decided_by_axis(ast.parse(line))
