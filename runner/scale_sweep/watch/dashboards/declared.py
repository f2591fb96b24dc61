"""Reads `dashboards/compose.yaml`, which declares both services, whether they run in containers or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import yaml

from scale_sweep.base.errors import ProvisionError

_KEYS = {"image", "network_mode", "user", "cap_drop", "security_opt", "volumes", "entrypoint", "command", "environment"}


@dataclass(frozen=True, kw_only=True)
class Service:
    """argv[0]: the program's name."""

    name: str
    image: str
    user: str
    network_mode: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()  # paths that are the same inside and outside the container
    cap_drop: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()


def read_services(path: Path, values: Mapping[str, str]) -> Mapping[str, Service]:
    """The services by name, with each ${...} replaced. Raises ProvisionError that names key and file."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        services = {name: _service(name, _filled(one, values)) for name, one in raw["services"].items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ProvisionError(f"{path} cannot be used: {error}") from None
    return services


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return Template(value).substitute(values)
    if isinstance(value, list):
        return [_filled(one, values) for one in value]
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}
    return value


def _service(name: str, raw: Mapping[str, Any]) -> Service:
    unknown = sorted(set(raw) - _KEYS)
    if unknown:
        raise ValueError(f"services.{name} has the key {unknown[0]}, which nothing reads")
    volumes = [str(v).split(":") for v in raw.get("volumes", [])]
    if any(len(v) != 2 or v[0] != v[1] for v in volumes):
        raise ValueError(f"services.{name}.volumes: a path must be the same inside and outside")
    return Service(
        name=name,
        image=raw["image"],
        user=raw["user"],
        network_mode=raw["network_mode"],
        argv=(*raw["entrypoint"], *raw["command"]),
        environment={key: str(value) for key, value in raw.get("environment", {}).items()},
        volumes=tuple(v[0] for v in volumes),
        cap_drop=tuple(raw.get("cap_drop", ())),
        security_opt=tuple(raw.get("security_opt", ())),
    )
