"""Addresses of this machine are reached directly, whatever proxies the environment names."""

from __future__ import annotations

import os

_HERE = ("localhost", "127.0.0.1", "::1")


def go_direct() -> None:
    """Called once, first of all: every library of this process and every child then reaches this machine without a
    proxy. The SDK of Docker, requests, curl and Go have no other switch in common."""
    before = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if before != "*":
        names = dict.fromkeys((*filter(None, before.split(",")), *_HERE))
        os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(names)
