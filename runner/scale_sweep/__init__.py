"""`scale` measures how far one server scales up."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scale_sweep.stored_run import Picture, Run, load

__all__ = ["Picture", "Run", "__version__", "load"]


def _version() -> str:
    """The version of the installation. The build writes it into _version.py (pyproject.toml); a plain checkout has
    none."""
    try:
        return str(import_module("scale_sweep._version").VERSION)
    except ImportError:
        return "0.0.0+checkout"


__version__ = _version()


def __getattr__(name: str) -> object:
    """The public names. They are imported when they are used, so that the command's help does not wait for them."""
    if name in __all__:
        return getattr(import_module("scale_sweep.stored_run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
