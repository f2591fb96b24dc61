"""The settings whose choices are registered elsewhere: the database, the runtime, the write method, the load
generator."""

from __future__ import annotations

from scale_sweep.experiment.setting import readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u
from scale_sweep.model import DEFAULTS, LOADING
from scale_sweep.server.runtimes import RUNTIMES
from scale_sweep.server.targets import all_facts

_OURS = "scale"


def _one_of(*names: str) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _loaded() -> str:
    return " and ".join(facts.title for facts in all_facts() if facts.loading)


def _methods() -> str:
    return "; ".join(f"{facts.name}: {', '.join(facts.methods)}" for facts in all_facts())


def _genuine() -> dict[str, str]:
    titles_of: dict[str, list[str]] = {}
    for facts in all_facts():
        for name in facts.load_generators:
            titles_of.setdefault(name, []).append(facts.title)
    return {name: ", ".join(titles) for name, titles in titles_of.items() if name != _OURS}


TARGET = _u(
    "target.name",
    "--target",
    str,
    "auto",
    f"Database: {_one_of('auto', *(f.name for f in all_facts()))}.",
    "NAME",
)
RUNTIME = _u(
    "target.runtime",
    "--runtime",
    readers.OneOf("auto", *RUNTIMES.names()),
    "auto",
    f"Runtime of the server: {_one_of('auto', *RUNTIMES.names())}.",
    "NAME",
)
SETTINGS_SET = _s(
    "target.settings",
    "--settings",
    readers.OneOf(DEFAULTS, LOADING),
    DEFAULTS,
    "Initial settings of the servers. defaults: durability and maintenance of the vendor. loading: settings of "
    f"{_loaded()} that make loading fast.",
    "NAME",
)
METHOD = _s("load.method", "--method", str, "", f"How rows are written. {_methods()}.", "NAME")
LOAD_GENERATOR = _s(
    "load.generator",
    "--load-generator",
    readers.OneOf(_OURS, *_genuine()),
    _OURS,
    "Program that writes the rows: "
    + _one_of(f"{_OURS} (scale-loadgen)", *(f"{name} (the tool of {title})" for name, title in _genuine().items()))
    + ".",
    "NAME",
)
