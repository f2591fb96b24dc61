"""A current MariaDB, which `scale servers install` brings in a jar: rows are counted, and changed files are named."""

import shutil

from scale_sweep.server.targets import load_target
from tests.integration.cli import run
from tests.integration.short_trial import short_trial


def test_it_is_installed_swept_and_compared_with_its_digest(tmp_path, folder, monkeypatch):
    servers = folder / "servers"
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(servers))
    done = run("servers", "install", "mariadb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    target = load_target("mariadb")
    found = target.find("")
    assert (found.version, found.source, found.home) == ("11.4.5", "scale servers", str(servers / "mariadb-11.4.5"))
    for method in target.facts.methods:
        settings = short_trial(target, folder, rows=100_000, load__method=method)
        assert settings["server_version"].startswith("11.4.5")
    with (servers / "mariadb-11.4.5" / "share" / "mariadb_system_tables.sql").open("a") as file:
        file.write("-- changed")
    done = run("servers", "list", cwd=tmp_path)
    shutil.rmtree(servers)
    assert "corrupt: share" in " ".join(done.stdout.split()), done.stdout
