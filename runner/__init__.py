"""`scale`: how far does one server scale up? The control plane.

The packages and what each may touch are drawn in docs/architecture.md and held by tests/unit/test_structure.py.
"""

from importlib import import_module


def _version() -> str:
    """Of the installation, which the build writes into _version.py (pyproject.toml); a plain checkout has none."""
    try:
        return str(import_module("runner._version").VERSION)
    except ImportError:
        return "0.0.0+checkout"


__version__ = _version()
