"""`scale` measures how far one server scales up. This package is its control plane.

docs/architecture.md draws the packages and what each may import. tests/unit/test_structure.py checks it.
"""

from importlib import import_module


def _version() -> str:
    """The version of the installation. The build writes it into _version.py (pyproject.toml); a plain checkout has
    none."""
    try:
        return str(import_module("scale_sweep._version").VERSION)
    except ImportError:
        return "0.0.0+checkout"


__version__ = _version()
