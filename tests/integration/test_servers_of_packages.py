"""Current servers that `scale servers install` brings, a PostgreSQL as a wheel and a MariaDB in a jar: rows are counted by
each method, and changed files are named."""

import shutil

import pytest

from scale_sweep.server.targets import load_target
from tests.integration.cli import run
from tests.integration.short_trial import short_trial


@pytest.mark.parametrize(
    ("name", "version", "methods", "changed"),
    [
        ("postgres", "18.6", ("insert",), "postgresql.conf.sample"),
        ("mariadb", "11.4.5", load_target("mariadb").facts.methods, "mariadb_system_tables.sql"),
    ],
)
def test_it_is_installed_swept_and_compared_with_its_digest(
    name, version, methods, changed, tmp_path, folder, monkeypatch
):
    servers = folder / "servers"
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(servers))
    done = run("servers", "install", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    target, home = load_target(name), servers / f"{name}-{version}"
    found = target.find("")
    assert (found.version, found.source, found.home) == (version, "scale servers", str(home))
    for method in methods:
        settings = short_trial(target, folder, rows=100_000, load__method=method)
        assert settings["server_version"].startswith(version)
    with (home / "share" / changed).open("a") as file:
        file.write("# changed")
    done = run("servers", "list", cwd=tmp_path)
    shutil.rmtree(servers)
    assert "corrupt: share" in " ".join(done.stdout.split()), done.stdout
