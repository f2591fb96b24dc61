"""Who may import whom, in layers; how long a file or a function may be; who may print; what may decide by a name."""

import ast
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from scale_sweep.experiment.axes import AXES
from scale_sweep.results.store.texts import COLUMNS_AFTER_KNOBS, COLUMNS_BEFORE_KNOBS
from scale_sweep.server.runtimes import RUNTIMES
from scale_sweep.server.targets import TARGETS
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.watch.exporter.names import BY_NAME
from tests.offenders import assert_none

PACKAGE = Path(__file__).resolve().parents[2] / "runner/scale_sweep"
FILES = sorted(PACKAGE.rglob("*.py"))
LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 300, 60, 120
UNDOCUMENTED_LINES_MAX = 12  # a shorter function needs no docstring if its name and types say everything

# A part is a package, or a package or module directly in it. It may import the parts named here (x.*: all of x), the
# model and what computes in `base`, and nothing else of the project. In the order of the layers, the lowest first.
COMPUTING = {"errors", "registry", "texts", "units"}
EVERYWHERE = {"model", *(f"base.{name}" for name in COMPUTING)}
ALLOWED_TEXT = """
base.spawning: base.interrupts
machine.disks: base.interrupts base.spawning machine.host machine.state
machine.host: base.input_file base.spawning
machine.sampling: machine.host
machine.state: base.interrupts machine.host
experiment.axes: machine.host experiment.setting experiment.work
loadgen: base.interrupts base.spawning machine.sampling experiment.work
server.images: base.spawning server.runtimes server.targets
server.pinned: machine.state server.targets
server.runtimes: base.interrupts base.spawning machine.*
server.targets: base.input_file base.spawning machine.* experiment.work loadgen
sweep: base.input_file capacity machine.host experiment.* server.*
judge.figures: capacity experiment.* loadgen judge.verdict
judge.verdict: experiment.axes
analysis.account: experiment.axes analysis.confidence analysis.fit analysis.observations
analysis.compare: sweep analysis.confidence analysis.noise analysis.observations
analysis.confirmation: capacity sweep analysis.confidence analysis.observations
analysis.later_trials: analysis.confirmation analysis.connections_check
analysis.connections_check: experiment.* analysis.confidence analysis.noise analysis.observations
analysis.equal_speed: analysis.confidence analysis.fit analysis.observations
analysis.fit: analysis.confidence
analysis.noise: analysis.confidence
analysis.observations: experiment.axes sweep analysis.noise
analysis.proof: analysis.confidence
analysis.proved: experiment.axes analysis.proof
analysis.sizing: experiment.* analysis.confidence analysis.fit analysis.noise analysis.observations
analysis.soak: judge.verdict
results.formats: judge.figures results.store
results.histogram_log: loadgen judge.figures results.store
results.identity: judge.method
results.sqlexport: results.formats
results.store: base.input_file machine.* experiment.axes sweep judge.figures analysis.later_trials
report: capacity experiment.* sweep judge.verdict analysis.*
plan: capacity machine.host experiment.* loadgen server.targets sweep analysis.*
plan.preparing: machine.* experiment.* loadgen server.* sweep results.store plan
measure.executing: base.interrupts machine.* experiment.work loadgen server.* results.identity results.store report
    plan measure.machine_setup measure.trial
measure.machine_setup: base.interrupts machine.* server.* measure.trial
measure.judging: base.interrupts machine.* loadgen server.runtimes sweep judge.figures results.store
    analysis.proof measure.executing measure.trial
measure.observing: base.interrupts machine.sampling sweep judge.figures results.identity results.store
measure.trial: base.input_file base.interrupts machine.* experiment.* loadgen server.* judge.figures judge.method
    judge.verdict analysis.proof
agent: base.interrupts base.spawning machine.* loadgen server.* results.store plan.preparing
    measure.machine_setup measure.trial
hosts: base.interrupts base.spawning machine.* loadgen server.* results.identity results.store plan.preparing
    measure.machine_setup measure.trial agent
fleet: base.input_file base.interrupts base.spawning machine.* experiment.* sweep results.identity
    results.store plan plan.preparing measure.executing hosts verify
iotbenchmark: base.input_file base.interrupts experiment.work loadgen server.* results.sqlexport measure.trial
taosbenchmark: base.input_file loadgen server.targets
verify: experiment.axes loadgen judge.figures judge.method judge.verdict analysis.later_trials results.identity
    results.store report
watch.dashboards: base.interrupts base.spawning machine.* server.runtimes
watch.exporter: loadgen sweep results.store watch.live
watch.live: experiment.* sweep judge.figures analysis.*
cli.console: base.output plan watch.live
cli.doctor: machine.host loadgen server.*
"""
ALLOWED = {
    part: set(parts.split()) for part, parts in re.findall(r"^([\w.]+): (.*(?:\n    .*)*)", ALLOWED_TEXT, re.MULTILINE)
}
ALONE = """
analysis.confidence base.input_file base.interrupts base.output
capacity experiment.setting experiment.work judge.method
"""
ALLOWED |= {part: set() for part in EVERYWHERE | set(ALONE.split())}
# These put all together; and packages that only hold their parts import nothing.
FREE = {"cli", "cli.compose", "stored_run", "__init__", "__main__"}
HOLDERS = {part.partition(".")[0] for part in ALLOWED if "." in part} - set(ALLOWED) - FREE
PURE = set("judge.figures judge.verdict results.formats report plan".split())
PURE |= {part for part in ALLOWED if part.startswith(("experiment.", "analysis."))} - {"analysis.equal_speed"}
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


def imports(path: Path) -> list[tuple[str, int]]:
    """The modules that a file imports, with their lines; of the project with the imported name, maybe a module."""
    found: list[tuple[str, int]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            is_ours = node.module.split(".")[0] == "scale_sweep"
            names = [f"{node.module}.{a.name}" for a in node.names] if is_ours else [node.module]
            found += [(name, node.lineno) for name in names]
        elif isinstance(node, ast.Import):
            found += [(a.name, node.lineno) for a in node.names]
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def refused(check: Callable[[Path], Iterable[str]], paths: Iterable[Path] = FILES) -> list[str]:
    """What a check finds in each file, with the file's name."""
    return [f"{name_of(path)}: {sentence}" for path in paths for sentence in check(path)]


def test_imports_go_one_way():
    parts = {part_of_file(path) for path in FILES}
    assert_none(f"{part} is a new part: add it to ALLOWED" for part in parts - ALLOWED.keys() - HOLDERS - FREE)
    assert_none(refused(forbidden_imports))


def forbidden_imports(path: Path) -> Iterator[str]:
    """Of other parts, of the world in a package that only computes, and of an implementation outside its package."""
    part = part_of_file(path)
    allowed = {*IMPORTERS.get(part, ()), *IMPORTERS.get(name_of(path), ())}
    for name, line in imports(path):
        names = name.split(".")
        if part in PURE and names[0] in IMPURE_MODULES:
            yield f"line {line}: {part} must not import {name}"
        if names[0] != "scale_sweep" or name == "scale_sweep.__version__":
            continue
        imported, registering = part_of(name), ".".join(names[1:3])
        below = {part, *EVERYWHERE, *ALLOWED.get(part, ())}
        if part not in FREE and not below & {imported, f"{imported.partition('.')[0]}.*"}:
            yield f"line {line}: {part} must not import {imported}"
        implementations = IMPLEMENTATIONS.get(registering, set())
        if registering != part and set(names[3:4]) & implementations - allowed:
            yield f"line {line}: imports {name}: ask the registry, its facts or its capabilities instead"
        own = path.relative_to(PACKAGE).with_suffix("").parts[2:3]
        if registering == part and {*own} & peers(registering) and set(names[3:4]) & peers(registering) - {*own}:
            yield f"line {line}: imports its sibling {names[3]}"


def peers(part: str) -> set[str]:
    """The servers and the runtimes that do not import each other."""
    return set(REGISTERED[part].names()) if part in REGISTERED else set()


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
    words = set(re.findall(r"[a-z0-9%/]+", spaced.lower())) - EMPTY
    return {word.removesuffix("s") for word in words}


def said_by_name(tree: ast.AST) -> Iterator[str]:
    """Each docstring without a word that is not in the name, the parameters or the types."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            signature = node.name
            if not isinstance(node, ast.ClassDef):
                signature += f" {ast.unparse(node.args)} {ast.unparse(node.returns) if node.returns else ''}"
            if not words_of(ast.get_docstring(node) or "") - words_of(signature):
                yield f"line {node.lineno}: the docstring of {node.name} says its name again"


def acts_for_the_command_line(path: Path) -> Iterator[str]:
    part = part_of_file(path)
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
    if part != "cli.console" and any(ast.unparse(call.func) == "print" for call in calls):
        yield "prints"
    if part != "cli" and any(name == "sys" for name, _ in imports(path)) and "sys.exit" in path.read_text("utf-8"):
        yield "calls sys.exit"


def named_implementations(path: Path) -> Iterator[str]:
    names = {name for registry in REGISTERED.values() for name in registry.names()} - ORDINARY_WORDS
    for name, line in decided_by(nodes_of(path)[0]):
        if name in names - ORDINARY and not may_name(path, name):
            yield f"line {line}: {name!r}: ask for its facts or capabilities instead"


def named_axes(path: Path) -> list[str]:
    return [f"line {line}" for line in decided_by_axis(nodes_of(path)[0]) if part_of_file(path) != "experiment.axes"]


# The modules or packages of all implementations, by the part that registers them.
IMPLEMENTATIONS = {
    "experiment.axes": {type(AXES.load(name)).__module__.split(".")[3] for name in AXES.names()},
    "server.runtimes": {RUNTIMES.load(name).__name__.split(".")[3] for name in RUNTIMES.names()},
    "server.targets": {TARGETS.load(name).implementation.partition(":")[0].split(".")[3] for name in TARGETS.names()},
}
# Who may import one all the same: what it loads is that one database.
IMPORTERS = {"taosbenchmark": {"tdengine"}, "cli/load.py": {"tdengine"}}


# What is registered under a name of its own, by the package that may hold it: the registry itself, or in it the
# implementation's own module or package. The names of axes are ordinary words (cores, memory): see `decided_by_axis`.
REGISTERED = {"server.targets": TARGETS, "server.runtimes": RUNTIMES}
ORDINARY_WORDS = {"command"}  # of which a target has one as its name
# A word that is a name there and means something else here; each with what it means.
OTHER_MEANING = {
    "results.sqlexport": {"mariadb"},  # a database that takes an export
    "watch.dashboards": {"docker", "process", "prometheus"},  # Prometheus and Grafana and how they run: not measured
    "loadgen/split.py": {"process"},  # in recorded lines: which of several load processes said them
}


ORDINARY = {"command"}  # a target by a word that means something else in most files


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


@pytest.mark.parametrize(
    "check",
    [
        sizes_and_first_lines,
        lambda path: said_by_name(nodes_of(path)[0]),
        acts_for_the_command_line,
        named_implementations,
        named_axes,
    ],
)
def test_no_file_offends(check):
    assert_none(refused(check))


@pytest.mark.parametrize(
    ("check", "seen", "passed"),
    [
        (
            said_by_name,
            [
                'def opens(path: Path) -> StoredRun:\n    """Opens the stored run of a path."""',
                'class FreePorts:\n    """Free ports."""',
            ],
            [
                'def open_run(path: Path) -> StoredRun:\n    """Locks the run of a path."""',
                'def length(text: str) -> int:\n    """In bytes."""',
            ],
        ),
        (
            decided_by,
            [
                "x == 'docker'", "'null' != x", "x in ('postgres', 'tdengine')", "x not in {'endpoint'}",
                "{'process': 1}", "how['docker']", "x in frozenset(('null',))", "match x:\n    case 'docker': pass",
            ],
            ["x = 'docker'"],
        ),
        (
            decided_by_axis,
            [
                "sweep.axis == 'cores'", "'disks' != plan.sweep.axis", "axis in ('cores', 'disks')",
                "load_axis(run.plan.sweep.axis).name not in {'memory'}", "swept.facts.command == model.DISKS",
                "{'cores': 1}[sweep.axis]", "WORDS[axis.name]", "WORDS.get(sweep.axis, '')", "axis_of('disks')",
                "load_axis(CORES).unit", "AXES.load('clients')", "match sweep.axis:\n    case 'cores': pass",
                "axis.facts.name == CORES",
            ],
            [
                "paths['memory']", "{'memory': 1}", "kind == 'disks'", "controller in ('cpu', 'memory')",
                "constants[axis.facts.name]", "axis.facts.name != sweep.axis", "load_axis(sweep.axis).unit",
                "amounts[CORES]", "texts.get(axis.key)",
            ],
        ),
    ],
)  # fmt: skip
def test_an_offender_is_seen_and_nothing_else(check, seen, passed):
    assert [line for line in seen if not list(check(ast.parse(line)))] == []
    assert [line for line in passed if list(check(ast.parse(line)))] == []


def test_each_test_file_has_a_name_of_its_own():
    """pytest imports them by their base names."""
    names = Counter(path.name for path in (PACKAGE.parents[1] / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


# The lines of a room (text files below it included) and its Python files. A feature that needs more raises its room in a
# commit of its own, with the reason.
BUDGETS = """
(root) 150 3
agent 700 7
analysis 7700 47
base 1070 9
capacity 350 3
cli 5435 34
experiment 2980 20
fleet 945 7
hosts 1500 8
iotbenchmark 1350 8
judge 4140 29
loadgen 3190 21
machine 4795 35
measure 3600 25
model 2610 17
plan 3985 26
report 7795 44
results 2170 15
server 14160 111
sweep 1755 13
taosbenchmark 3400 19
verify 1010 7
watch 2100 15
"""
TEXTS = {".py", ".toml", ".json", ".csv", ".css", ".sql", ".txt"}
SETTINGS_MAX, COLUMNS_MAX, METRICS_MAX = 101, 116, 70


def test_rooms_keep_their_budgets():
    budgets = {room: (int(lines), int(files)) for room, lines, files in map(str.split, BUDGETS.strip().splitlines())}
    lines, files = Counter(), Counter()
    for path in (path for path in PACKAGE.rglob("*") if path.suffix in TEXTS):
        room = path.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else "(root)"
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
        files[room] += path.suffix == ".py"
    assert_none(
        f"{room}: {lines[room]} lines in {files[room]} files; its budget is {budgets.get(room)}"
        for room in lines
        if room not in budgets or lines[room] > budgets[room][0] or files[room] > budgets[room][1]
    )
    assert len(SETTINGS) <= SETTINGS_MAX and len(BY_NAME) <= METRICS_MAX
    assert len({*COLUMNS_BEFORE_KNOBS, *COLUMNS_AFTER_KNOBS}) <= COLUMNS_MAX
