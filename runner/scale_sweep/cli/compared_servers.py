"""`scale compare A B C ...`: a run of each server, all against the first."""

from __future__ import annotations

from dataclasses import asdict

from scale_sweep.analysis.compare import compare_with_first
from scale_sweep.base.errors import UsageError
from scale_sweep.cli import console
from scale_sweep.cli.compared import CompareRequest, read_runs
from scale_sweep.cli.gates import GateFlags, gate_of
from scale_sweep.report.side_by_side import (
    HostRun,
    cautions,
    facts_table,
    host_name,
    host_runs,
    money_table,
    ratio_table,
    side_by_side_html,
)
from scale_sweep.report.table import Table
from scale_sweep.results.store.outside import write_outside
from scale_sweep.sweep.prices import read_prices

Prices = dict[str, float]


def compare(request: CompareRequest, gates: GateFlags) -> None:
    """Shows every server's facts, its ratio to the first, and its rate for the money."""
    if gate_of(gates) is not None:
        raise UsageError("a gate judges A and B, not servers side by side", remedy="scale compare A B with the gate")
    names = [request.runs_a, *filter(None, (request.runs_b,)), *(request.others or ())]
    if together := next((name for name in names if "," in name), ""):
        raise UsageError(
            f"{together}: several runs a side, among servers side by side", remedy="one run of each server"
        )
    runs = [run for name in names for run in read_runs(request.results, name)]
    comparisons = compare_with_first(runs)
    prices, money = _prices(request.prices, {host_name(run) for run in runs})
    hosts = host_runs(runs, comparisons, prices)
    if request.html is not None:
        write_outside(request.html, side_by_side_html(hosts, money).encode())
    if request.as_json:
        console.show_json([_document(host) for host in hosts])
        return
    for table in (facts_table(hosts), ratio_table(hosts), money_table(hosts, money)):
        _show(table)
    for caution in cautions(hosts):
        console.show_line(f"  but: {caution}", "yellow")
    if request.html is not None:
        console.show_line(f"page: {request.html}")


def _prices(what: str | None, names: set[str]) -> tuple[Prices, str]:
    """The prices of the hosts, and the unit of money. Raises UsageError for a list that has none of them."""
    if what is None:
        return {}, "unit of money"
    listed = read_prices(what)
    prices = {machine.name: machine.price_per_hour for machine in listed.machines if machine.name in names}
    if not prices:
        raise UsageError(
            f"--prices {what}: no machine has the name of a host", remedy=f"the hosts are {', '.join(sorted(names))}"
        )
    return prices, listed.money


def _show(table: Table) -> None:
    if not table.rows:
        return
    console.show_table(table.title, table.headers, table.rows)
    for note in table.notes:
        console.show_line(note, "dim")


def _document(host: HostRun) -> dict[str, object]:
    return {
        "host": host.name,
        "run": host.run.path,
        "price_per_hour": host.price_per_hour,
        "against_first": asdict(host.comparison) if host.comparison is not None else None,
    }
