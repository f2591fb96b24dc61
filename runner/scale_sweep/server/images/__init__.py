"""Docker images of database servers that are installed on this machine, made without a registry.

Refuses to know a database: its facts say which files of the installation an image has, and under which name.
"""

from scale_sweep.server.images.build import BuiltImage, build

__all__ = ["BuiltImage", "build"]
