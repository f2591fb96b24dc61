"""Servers that a registry of packages provides: which ones, pinned, and brought once into the user's cache.

Refuses to know a database: pins.toml says what is brought, the targets say how it is started.
"""

from runner.servers.install import ListedServer, install, listed
from runner.servers.pins import Pinned, read_pins

__all__ = ["ListedServer", "Pinned", "install", "listed", "read_pins"]
