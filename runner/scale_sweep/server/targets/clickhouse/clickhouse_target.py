"""ClickHouse: one MergeTree table, ordered by device and time, loaded by blocks of columns over HTTP."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Installation, Surroundings, Target
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.clickhouse.clickhouse_facts import LIBRARY, SERVER, TABLES
from scale_sweep.server.targets.clickhouse.clickhouse_session import SQL_TYPES, USER, ClickhouseSession, group
from scale_sweep.server.targets.installations import version_in_changes, version_of
from scale_sweep.server.targets.records import wrong_input

PROGRAM, ALL_PROGRAMS = "clickhouse-server", "clickhouse"  # the second: all in one file
ROOT = "clickhouse"
_NOT_SETTINGS = {"connections", "time_codec"}
_NAME = re.compile(r"[a-z_.][a-z0-9_.]*")
_DOUBTFUL = re.compile(
    r"<(Fatal|Critical)>|Memory limit|Too many parts|No space left|Cannot allocate memory|Checksum doesn't match",
    re.IGNORECASE,
)


class ClickhouseTarget(Target):
    doubtful = _DOUBTFUL
    types = SQL_TYPES
    session_type = ClickhouseSession

    def find(self, home: str) -> Installation | None:
        """In `home`, also one into which a package was unpacked; else on PATH."""
        for folder, source in _candidates(home):
            for name in (PROGRAM, ALL_PROGRAMS):
                if (folder / name).is_file():
                    where = folder.resolve()
                    return Installation(home=str(where), version=_version(where, name), source=source)
        return None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        if not is_ours:
            return {}
        own = {name: value for name, value in trial.knobs.items() if name not in _NOT_SETTINGS}
        return {"max_threads": cores_of(trial), **own}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        wrong = [name for name in self.settings(trial, is_ours=True) if not _NAME.fullmatch(name)]
        sentence = "ClickHouse has no setting of this name"
        named = (wrong_input(f"--knob {name}", sentence, "correct --knob") for name in wrong)
        return (*super().check(trial, around), *named)

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        library = _library(home)
        return (library,) if library else ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root, settings = f"{site.data_dir}/{ROOT}", self.settings(trial, is_ours=True)
        config = f"{root}/config.xml"
        library = "" if site.in_image else _library(site.home)
        libraries = {"LD_LIBRARY_PATH": str(Path(site.reachable(library)).parent)} if library else {}
        return ServerSpec(
            folders=(root,),
            argv=(*_command(site), f"--config-file={config}"),
            env={**ENVIRONMENT, **libraries},
            files={
                config: config_file(site.bind_address, site.port, root, settings),
                f"{root}/users.xml": users_file(USER, secret, settings),
            },
            ports=(site.port,),
            stop_timeout_s=30.0,
        )


def _candidates(home: str) -> Iterator[tuple[Path, str]]:
    if home:
        for below in ("", "bin", "usr/bin", "sbin", "usr/sbin"):
            yield Path(home, below), "--home"
        return
    for name in (PROGRAM, ALL_PROGRAMS):
        if on_path := shutil.which(name):
            yield Path(on_path).parent, "PATH"


def _command(site: Site) -> tuple[str, ...]:
    own = Path(site.home, PROGRAM)
    if site.in_image or own.is_file():
        return (str(own),)
    return (f"{site.home}/{ALL_PROGRAMS}", "server")


def _version(folder: Path, name: str) -> str:
    words = ("server",) if name == ALL_PROGRAMS else ()
    reported = version_of((str(folder / name), *words, "--version"), r"version (\d+(?:\.\d+)+)")
    return reported or version_in_changes(str(folder.parent), PROGRAM)


def _library(home: str) -> str:
    """Beside Debian's server, if the package was unpacked; "" if there is none, or the system's."""
    path = Path(home).parent / "lib" / "x86_64-linux-gnu" / LIBRARY
    return str(path) if path.is_file() and path.parts[:2] != ("/", "usr") else ""


_USERS = """<yandex>
<profiles><default>{profile}</default></profiles>
<users><{user}><password_sha256_hex>{digest}</password_sha256_hex><networks><ip>::/0</ip></networks>\
<profile>default</profile><quota>default</quota></{user}></users>
<quotas><default/></quotas>
</yandex>
"""
_CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<listen_host>{address}</listen_host><http_port>{port}</http_port>
<path>{root}/data/</path><tmp_path>{root}/tmp/</tmp_path>
<user_files_path>{root}/user_files/</user_files_path><format_schema_path>{root}/format_schemas/</format_schema_path>
<users_config>{root}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5368709120</mark_cache_size><timezone>UTC</timezone>
<merge_tree>{merge_tree}</merge_tree>{server}
</yandex>
"""


def users_file(user: str, secret: str, settings: Mapping[str, str]) -> str:
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return _USERS.format(user=user, digest=digest, profile=_items(group(settings)))


def config_file(address: str, port: int, root: str, settings: Mapping[str, str]) -> str:
    tables, server = _items(group(settings, TABLES)), _items(group(settings, SERVER))
    return _CONFIG.format(address=address, port=port, root=escape(root), merge_tree=tables, server=server)


def _items(settings: Mapping[str, str]) -> str:
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in settings.items())
