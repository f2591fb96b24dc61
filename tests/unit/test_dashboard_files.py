"""The dashboards as files: made by the tool, of the documented shape, of metrics that are served; their state, and their programs."""

import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from scale_sweep.base.errors import PreflightError, ProvisionError, UsageError
from scale_sweep.watch.dashboards import processes
from scale_sweep.watch.dashboards.services import announced, find_leftovers, remove, running_sweeps, stale
from scale_sweep.watch.dashboards.state_directory import Service, StartedService, StateDirectory, pins, read_services
from scale_sweep.watch.dashboards.updown import images_of, page_of, pinned_image
from scale_sweep.watch.exporter.names import BY_NAME, COMMON
from tests.needs import module, needs
from tests.offenders import assert_none
from tools.dashboards_json import PAGES, text

FOLDER = Path(__file__).resolve().parents[2] / "dashboards"
BOARDS = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in PAGES}
PANELS = [(name, p) for name, board in BOARDS.items() for p in board["panels"] if p["type"] != "row"]
PORTS = {"PROMETHEUS_PORT": "9090", "GRAFANA_PORT": "3000"}
IMAGES = {"PROMETHEUS_IMAGE": "p:1", "GRAFANA_IMAGE": "g:1"}
VALUES = {"STATE_DIRECTORY": "/room", "OWNER": "65534:65534", "GRAFANA_HOME": "/usr/share/grafana", **IMAGES, **PORTS}
OURS = StartedService(name="prometheus", how="process", port=9090, pid=os.getpid(), ticks=1)
METRIC = re.compile(r"\b(scale_\w+)(?:\{([^}]*)\})?")


def queries(board: dict) -> list[str]:
    found = [t["expr"] for p in board["panels"] for t in p.get("targets", ())]
    found += [v["definition"] for v in board["templating"]["list"]]
    return found + [a["expr"] for a in board["annotations"]["list"]]


@pytest.mark.parametrize("name", PAGES)
def test_the_file_is_what_the_tool_makes(name):
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == text(name), "python tools/dashboards_json.py"


def leaves(value: object, path: str = "") -> dict[str, object]:
    """The values of a document by their paths."""
    if isinstance(value, dict):
        return {at: leaf for key, part in value.items() for at, leaf in leaves(part, f"{path}.{key}").items()}
    if isinstance(value, list):
        return {at: leaf for i, part in enumerate(value) for at, leaf in leaves(part, f"{path}[{i}]").items()}
    return {path: value}


def lost(written: dict) -> list[str]:
    """What the typed library does not keep: the schema of Grafana 11 does not know it."""
    sdk = "grafana_foundation_sdk"
    module(f"{sdk}.cog.plugins").register_default_plugins()
    read = module(f"{sdk}.models.dashboard").Dashboard.from_json(written)
    kept = leaves(json.loads(module(f"{sdk}.cog.encoder").JSONEncoder(sort_keys=True).encode(read)))
    return [path for path, leaf in leaves(written).items() if kept.get(path) != leaf]


# Known to Grafana 11.0 and not to its published schema: the Prometheus annotations' own keys, and how it shows a
# variable's query.
BEYOND_SCHEMA = re.compile(r"\.annotations\.list\[\d+\]\.(step|titleFormat|textFormat|useValueForTime)|\.definition$")


@pytest.mark.parametrize("name", PAGES)
def test_grafana_s_schema_knows_every_key(name):
    assert [path for path in lost(BOARDS[name]) if not BEYOND_SCHEMA.search(path)] == []
    assert ".refrehs" in lost({**BOARDS[name], "refrehs": "5s"})


@pytest.mark.parametrize("name", PAGES)
def test_queries_ask_for_metrics_and_labels_that_are_served(name):
    for expr in queries(BOARDS[name]):
        for metric, selector in METRIC.findall(expr):
            base = re.sub(r"_(sum|count)$", "", metric)
            assert base in BY_NAME, f"{metric} in {expr}"
            labels = set(re.findall(r"(\w+)\s*[=!]", selector))
            assert labels <= {*BY_NAME[base].labels, *COMMON}, f"{selector} in {expr}"


def test_panels_are_described_have_units_and_lie_in_the_grid():
    assert_none(f"{name}: {panel['title']}: {lack}" for name, panel in PANELS for lack in lacks(panel))


def lacks(panel: dict) -> list[str]:
    """What a panel does not have."""
    place, defaults = panel["gridPos"], panel["fieldConfig"]["defaults"]
    has = {
        "a description": panel["description"].endswith("."),
        "a unit": bool(defaults["unit"]),
        "a place in the grid": place["x"] + place["w"] <= 24,
        "a label of its axis": panel["type"] not in ("timeseries", "trend") or bool(defaults["custom"]["axisLabel"]),
        "our data source": all(t["datasource"]["uid"] == "scale-prometheus" for t in panel["targets"]),
    }
    return [name for name, is_there in has.items() if not is_there]


@pytest.mark.parametrize("name", PAGES)
def test_panels_do_not_overlap(name):
    cells: set[tuple[int, int]] = set()
    for panel in BOARDS[name]["panels"]:
        place = panel["gridPos"]
        columns, rows = (range(place[at], place[at] + place[size]) for at, size in ("xw", "yh"))
        own = set(itertools.product(columns, rows))
        assert not own & cells
        cells |= own
    # 800 pixels less Grafana's bars and the row of variables; a row of the grid has 38.
    first = next((p["gridPos"]["y"] for p in BOARDS[name]["panels"] if p["type"] == "row"), 0)
    assert first <= (800 - 140) // 38


def test_both_services_listen_on_loopback_and_drop_their_rights():
    services = read_services(FOLDER / "compose.yaml", VALUES)
    assert set(services) == {"prometheus", "grafana"}
    assert "--web.listen-address=127.0.0.1:9090" in services["prometheus"].argv
    assert services["grafana"].environment["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert all(s.cap_drop == ("ALL",) and s.security_opt == ("no-new-privileges",) for s in services.values())
    assert services["grafana"].environment["GF_SECURITY_ADMIN_PASSWORD"] == "$__file{/room/admin-password}"


def test_a_key_that_nothing_reads_is_refused(tmp_path):
    raw = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    raw["services"]["grafana"]["ports"] = ["3000:3000"]
    path = tmp_path / "compose.yaml"
    path.write_text(yaml.safe_dump(raw))
    with pytest.raises(ProvisionError, match="ports"):
        read_services(path, VALUES)


def test_pins_name_a_version_and_no_digest_from_hearsay_and_images_are_given_by_name():
    assert set(pins()) == {"prometheus", "grafana"}
    assert pinned_image("grafana") == "grafana/grafana:11.0.0"
    assert all(re.fullmatch(r"(sha256:[0-9a-f]{64})?", pin["digest"]) for pin in pins().values())
    assert images_of(["grafana=mine:1"]) == {"grafana": "mine:1"}
    for wrong in ("grafana", "loki=x", "grafana="):
        with pytest.raises(UsageError, match="--image"):
            images_of([wrong])


def test_sweeps_are_announced_while_they_run_each_with_its_host_and_known_as_dead_afterwards(tmp_path):
    state = StateDirectory(path=tmp_path)
    with announced(state, "run-1", 9464, "db1"):
        (mine,) = state.targets.iterdir()
        with announced(state, "run-2", 9465, "db2"):
            found = {s.run: s.address for s in running_sweeps(state)}
            assert found == {"run-1": "127.0.0.1:9464", "run-2": "127.0.0.1:9465"}
            labels = [json.loads(path.read_text())[0]["labels"] for path in state.targets.iterdir()]
            assert sorted(one["host"] for one in labels) == ["db1", "db2"]
            assert stale(state) == ()
        ended = subprocess.Popen(["true"])
        ended.wait()
        (state.targets / f"sweep-{ended.pid}-1.json").write_text(mine.read_text())
        assert [s.run for s in running_sweeps(state)] == ["run-1"]
        assert [path.name for path in stale(state)] == [f"sweep-{ended.pid}-1.json"]
    assert not mine.exists()


def test_the_room_keeps_its_password_from_others_and_from_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr("scale_sweep.watch.dashboards.state_directory.closed_to_others", lambda folder: "")
    state = StateDirectory(path=tmp_path / "room")
    state.fill()
    first = state.password_file.read_text()
    assert len(first) >= 32 and state.password_file.stat().st_mode & 0o777 == 0o600
    state.fill()
    assert state.password_file.read_text() == first
    assert (state.path / "config" / "live.json").is_file()


@needs("root")
def test_a_room_that_another_user_made_is_refused(tmp_path):
    (tmp_path / "room").mkdir()
    os.chown(tmp_path / "room", 12345, 12345)
    (tmp_path / "room" / "state.json").write_text('[{"name": "prometheus", "how": "process", "port": 1, "pid": 1}]')
    state = StateDirectory(path=tmp_path / "room")
    for use in (state.fill, state.started, state.remove, lambda: stale(state), lambda: find_leftovers(state)):
        with pytest.raises(PreflightError, match="room belongs to user 12345"):
            use()
    with pytest.raises(PreflightError, match="room belongs to user 12345"), announced(state, "run", 1):
        pass
    assert [path.name for path in (tmp_path / "room").iterdir()] == ["state.json"]


@needs("root")
def test_a_record_that_another_user_wrote_names_nothing(tmp_path):
    state = StateDirectory(path=tmp_path / "room")
    state.check(makes=True)
    state.remember({"prometheus": OURS})
    assert state.started()
    os.chown(state.path / "state.json", 12345, 12345)
    assert state.started() == {}


def test_a_sweep_leaves_no_empty_folders_and_clean_removes_those_of_a_killed_one(tmp_path):
    state = StateDirectory(path=tmp_path / "room")
    with announced(state, "run", 9464):
        assert state.targets.is_dir()
    assert not state.path.exists()
    state.check(makes=True)
    state.targets.mkdir()
    (state.targets / "sweep-1-1.json").touch()
    found = find_leftovers(state)
    assert len(found) == 2
    for one in found:
        remove(state, one)
    assert not state.path.exists()
    with announced(state, "run", 9464):
        assert find_leftovers(state) == (), "it lives"
    (state.path / "config").mkdir(parents=True)
    state.targets.mkdir()
    with announced(state, "run", 9464):
        pass
    assert state.targets.is_dir(), "Prometheus watches it"
    assert find_leftovers(state) == ()


@needs("root")
def test_what_root_acts_by_is_not_given_away(tmp_path, monkeypatch):
    monkeypatch.setattr("scale_sweep.watch.dashboards.state_directory.closed_to_others", lambda folder: "")
    before = os.umask(0o077)
    try:
        state = StateDirectory(path=tmp_path / "room")
        state.fill()
    finally:
        os.umask(before)
    theirs = {p.relative_to(state.path).as_posix() for p in state.path.rglob("*") if p.stat().st_uid != 0}
    assert theirs == {"admin-password", "prometheus", "grafana", "grafana/plugins", "load/blocks"}
    assert all(p.stat().st_mode & 0o004 for p in (state.path / "config").rglob("*")), "they read it under any umask"


def test_the_record_survives_and_what_is_broken_counts_as_nothing(tmp_path):
    state = StateDirectory(path=tmp_path)
    state.remember({"prometheus": OURS})
    assert state.started() == {"prometheus": OURS}
    (tmp_path / "state.json").write_text('[{"name": "prometheus"}]')
    assert state.started() == {}


def test_the_page_names_run_and_time():
    grafana = StartedService(name="grafana", how="process", port=3000)
    page = page_of({"grafana": grafana}, "r", "curve", (1.5, 2.0))
    assert page == "http://127.0.0.1:3000/d/scale-curve/curve?var-run=r&from=1500&to=2000"
    assert page_of({}, "r") == ""


def test_the_page_of_the_curve_shows_one_target_of_the_run():
    """The run over it may be of another target."""
    page = BOARDS["curve"]
    names = [v["name"] for v in page["templating"]["list"]]
    assert names.index("run") < names.index("target") < names.index("variant")
    above = itertools.takewhile(lambda panel: panel["type"] != "row", page["panels"])
    chosen = [found for p in above for t in p["targets"] for found in METRIC.findall(t["expr"])]
    for metric, labels in chosen:
        if metric != "scale_run_info":
            assert ('target=~"$target"' in labels) is ('run="$run"' in labels), (metric, labels)


SERVICE = Service(name="grafana", image="", user="", network_mode="", argv=("grafana", "60"))


@pytest.fixture
def installed(monkeypatch):
    """A Grafana whose program only sleeps, and a room, below a directory that another user may enter, as pytest's own may
    not."""
    place = Path(f"/var/tmp/scale-test-programs-{os.getpid()}")
    place.mkdir(mode=0o755)
    home, room = place / "grafana", StateDirectory(path=place / "room")
    for folder in (home / "bin", home / "public", home / "conf", room.path):
        folder.mkdir(parents=True)
    (home / "bin" / "grafana").write_text('#!/bin/sh\nexec sleep "$1"\n')
    (home / "bin" / "grafana").chmod(0o755)
    (home / "conf" / "defaults.ini").touch()
    monkeypatch.setenv(processes.HOME_VARIABLE, str(home))
    yield home, room
    shutil.rmtree(place)


CLOSED = [(".", 0o700), ("..", 0o700), ("public", 0o700), ("public", 0o711)]


@needs("root")
@pytest.mark.parametrize(("closed", "mode"), [*CLOSED, ("bin/grafana", 0o700), ("conf/defaults.ini", 0o600)])
def test_what_the_user_of_a_program_may_not_read_is_named_with_the_user(installed, closed, mode):
    home, room = installed
    path = (home / closed).resolve()
    path.chmod(mode)
    with pytest.raises(ProvisionError, match=f"nobody, who may not read {path}") as refused:
        processes.stop(processes.start(SERVICE, 0, room))
    assert processes.HOME_VARIABLE in refused.value.remedy


@needs("root")
def test_a_program_that_belongs_to_that_user_alone_is_started(installed):
    home, room = installed
    for path in (home, *home.rglob("*")):
        os.chown(path, room.owner.pw_uid, room.owner.pw_gid)
        path.chmod(0o700)
    started = processes.start(SERVICE, 0, room)
    try:
        assert processes.lives(started)
        assert Path(f"/proc/{started.pid}").stat().st_uid == room.owner.pw_uid
    finally:
        processes.stop(started)
