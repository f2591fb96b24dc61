"""`scale hosts prepare|check|clean`: the hosts of a sweep whose load is made elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.units import format_number
from scale_sweep.cli.arguments import JSON

if TYPE_CHECKING:
    from scale_sweep.hosts.check import HostFacts
    from scale_sweep.hosts.setup import PreparedHost

HOSTS = Annotated[
    Path, typer.Argument(help="An Ansible inventory with the groups server and load.", metavar="HOSTS.ini")
]

_EXAMPLE = "Example: scale hosts prepare hosts.ini"
_INVENTORY = """\b
hosts.ini is an inventory of Ansible:
  [server]
  db1   scale_address=10.0.0.11
  [load]
  load1 scale_address=10.0.0.21
  [all:vars]
  ansible_user=bench

docs/hosts.md explains its variables."""


def register(app: typer.Typer) -> None:
    line = "Prepare, check and clean the hosts of `scale sweep --hosts`."
    group = typer.Typer(no_args_is_help=True, help=f"{line}\n\n{_INVENTORY}", epilog=_EXAMPLE)
    group.command("prepare", epilog="Example: scale hosts prepare hosts.ini")(prepare)
    group.command("check", epilog="Example: scale hosts check hosts.ini")(check)
    group.command("clean", epilog="Example: scale hosts clean hosts.ini")(clean)
    app.add_typer(group, name="hosts")


def prepare(
    hosts: HOSTS,
    servers: Annotated[
        str,
        typer.Option(
            help="Installed servers of this machine (`scale servers list`) to copy to the hosts of [server], too.",
            metavar="NAME,...",
        ),
    ] = "",
    as_json: JSON = False,
) -> None:
    """Copy the load generator and its libraries to every host; a second run changes nothing."""
    from scale_sweep.cli import console
    from scale_sweep.hosts import setup
    from scale_sweep.hosts.inventory import read_inventory
    from scale_sweep.hosts.package import names_of

    names = names_of(servers)
    made = setup.prepare(read_inventory(hosts), console.say, names)
    if as_json:
        console.show_json([_prepared(one) for one in made])
        return
    for one in made:
        console.show_line(f"{one.entry.name}: {one.changes} changed, files {one.digest} in {one.entry.home}")
        for words in one.lacks:
            console.show_line(f"{one.entry.name}: {words}")
    console.show_line(f"next: scale hosts check {hosts}")


def _prepared(one: PreparedHost) -> dict[str, Any]:
    words = {"host": one.entry.name, "digest": one.digest, "changed": one.changes}
    return {**words, "servers": one.servers, "lacks": list(one.lacks)} if one.servers else words


def check(hosts: HOSTS, as_json: JSON = False) -> None:
    """Show every host's CPUs, databases and clock, and the network's rates to and from the server's host."""
    from scale_sweep.cli import console
    from scale_sweep.hosts import setup
    from scale_sweep.hosts.check import check as checked
    from scale_sweep.hosts.inventory import read_inventory

    inventory = read_inventory(hosts)
    console.say("measuring clocks and network, two seconds for each load host, then two for all")
    with setup.linked(inventory) as links:
        facts = checked(inventory, links)
    if as_json:
        console.show_json([asdict(one) for one in facts])
        return
    headings = ["host", "part", "CPUs", "memory", "databases", "clock", "round trip", "network out", "in"]
    console.show_table("", headings, [_row(one) for one in facts])
    console.show_line(f"next: scale sweep cpu --quick --cores 1..all --hosts {hosts}")


def _row(one: HostFacts) -> list[str]:
    databases = ", ".join(f"{name} {version}" for name, version in one.servers.items()) or "none"
    clock = f"{one.clock.offset_ns / 1e6:+,.1f} ± {one.clock.error_ns / 1e6:.2f} ms"
    return [
        one.name,
        one.role if not one.lacks else f"{one.role}: {one.lacks}",
        format_number(one.host.cpus_max),
        f"{one.host.memory_bytes / 1e9:.1f} GB",
        databases if one.role == "server" else "",
        clock,
        f"{one.network.round_trip_ms:.2f} ms" if one.network.round_trip_ms is not None else "",
        _mbit(one.network.sent_bytes_per_s),
        _mbit(one.network.received_bytes_per_s),
    ]


def _mbit(bytes_per_s: float | None) -> str:
    return f"{bytes_per_s * 8 / 1e6:,.0f} Mbit/s" if bytes_per_s is not None else ""


def clean(hosts: HOSTS, as_json: JSON = False) -> None:
    """Remove the remains of a crash from every host, and the files of `scale hosts prepare`."""
    from scale_sweep.cli import console
    from scale_sweep.hosts import setup
    from scale_sweep.hosts.inventory import read_inventory

    changes = setup.clean(read_inventory(hosts), console.say)
    if as_json:
        console.show_json(changes)
        return
    for name, count in changes.items():
        console.show_line(f"{name}: {'removed' if count else 'nothing to remove'}")
