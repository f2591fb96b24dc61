"""Docker images of database servers that are installed on this machine, made without a registry."""

from scale_sweep.server.images.build import BuiltImage, build

__all__ = ["BuiltImage", "build"]
