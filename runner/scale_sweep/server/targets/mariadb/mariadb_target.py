"""MariaDB: one InnoDB table, partitioned by device, loaded by LOAD DATA LOCAL or bulk REPLACE."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.verbs import client_library
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Installation, Target
from scale_sweep.server.targets.base import ENVIRONMENT
from scale_sweep.server.targets.installations import places, refused_flags, run_program, version_of
from scale_sweep.server.targets.mariadb.mariadb_facts import IN_IMAGE, NAMES, PROGRAMS, SHARES, SHARES_IN_IMAGE
from scale_sweep.server.targets.mariadb.mariadb_session import DATABASE, SQL_TYPES, USER, MariadbSession
from scale_sweep.server.targets.records import blocking

_UNLOADED = re.compile(r"error while loading shared libraries: ([^\s:]+)")
_PACKAGES = {  # Debian's, by library. Its server needs them all, an archive the first three.
    "libcrypt.so.1": "libcrypt1",
    "libstdc++.so.6": "libstdc++6",
    "libsystemd.so.0": "libsystemd0",
    "libaio.so.1": "libaio1",
    "libnuma.so.1": "libnuma1",
    "libpcre2-8.so.0": "libpcre2-8-0",
    "libssl.so.3": "libssl3",
    "liburing.so.2": "liburing2",
}
_VERSION = ("--no-defaults", "--version")
_CONNECTIONS = 151  # MariaDB's own default
_OWN_KNOBS = {"partitions", "connections"}
_DOUBTFUL = re.compile(r"\[ERROR\]|signal \d+|InnoDB: Assertion|Out of memory|No space left", re.IGNORECASE)


class MariadbTarget(Target):
    doubtful = _DOUBTFUL
    types = SQL_TYPES
    session_type = MariadbSession

    def find(self, home: str) -> Installation | None:
        ours = places(self.facts.name, home)
        for folder, source in (*ours, *([(f"{home}/usr", "--home")] if home else _of_machine())):
            if Path(program := there(folder, PROGRAMS)).is_file():
                version = version_of((program, *_VERSION), r"Ver (\d+(?:\.\d+)*)")
                return Installation(home=str(Path(folder).resolve()), version=version, source=source)
        return None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        connections = trial.work.connections(int(trial.knobs["connections"])) + 20
        return {
            "partitions": trial.knobs["partitions"],
            **({"max_connections": str(connections)} if connections > _CONNECTIONS else {}),
            **{name: value for name, value in trial.knobs.items() if name not in _OWN_KNOBS},
            **self.facts.set_of_settings(trial.settings),
        }

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Missing libraries, and in its own words variables that it does not know."""
        program = there(home, PROGRAMS)
        if unloaded := _unloaded(program):
            return unloaded
        argv = (program, "--no-defaults", *_flags(self.settings(trial, is_ours=True)), "--help")
        done = run_program((*argv, "--verbose"))
        is_refused = done is not None and "[ERROR]" in done.stderr
        lines = [line for line in done.stderr.splitlines() if "unknown" in line] if done and is_refused else []
        return refused_flags("MariaDB", done, line_begins=lines[0][:40]) if lines else ()

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        try:
            client_library("mariadb", "")
        except LoadError as error:
            return (blocking("libmariadb", error.message, "apt-get install libmariadb3"),)
        return ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        data, first = f"{site.data_dir}/mariadb", f"{site.data_dir}/first.sql"
        files = layout(site)
        common = ("--no-defaults", f"--datadir={data}")
        user = (
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE OR REPLACE USER '{USER}'@'%' IDENTIFIED BY '{secret}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'%';\n"
            "DROP USER IF EXISTS 'root'@'localhost';\n"
        )
        return ServerSpec(
            folders=(data,),
            setup=(("/bin/sh", "-c", files.made_by(common)),),
            argv=files.started_by(
                (
                    *common,
                    f"--bind-address={site.bind_address}",
                    f"--port={site.port}",
                    f"--socket={site.data_dir}/socket",
                    f"--init-file={first}",
                    "--skip-name-resolve",
                    "--skip-ssl",  # no connection has TLS, and MariaDB 11 makes a key at its start: 6 to 12 CPU seconds
                    "--local-infile=ON",
                    "--log-warnings=1",
                    *_flags(self.settings(trial, is_ours=True)),
                )
            ),
            env=ENVIRONMENT,
            files={first: user},
            ports=(site.port,),
            stop_timeout_s=60.0,
        )


def _unloaded(program: str) -> tuple[Finding, ...]:
    """The first library that cannot be loaded."""
    done = run_program((program, *_VERSION))
    missing = _UNLOADED.search(done.stderr) if done else None
    if missing is None:
        return ()
    library = Path(missing.group(1)).name
    package = _PACKAGES.get(library)
    remedy = f"apt-get install {package}" if package else f"install the package that has {library}"
    return (blocking("mariadb", f"{program} needs {library}, which cannot be loaded", remedy),)


def _of_machine() -> Iterator[tuple[str, str]]:
    on_path = shutil.which("mariadbd")
    if on_path:
        yield str(Path(on_path).resolve().parent.parent), "PATH"
    yield "/usr", "installed"


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in settings.items() if name not in _OWN_KNOBS)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """In Debian's package, or in MariaDB's archives."""

    program: str
    tables: tuple[str, ...]  # the system tables without `.sql`; a shell takes the first that exists

    def made_by(self, options: Sequence[str]) -> str:
        """A script: the server makes its system tables."""
        tables = f"{self._chosen('.sql')} {self._chosen('_data.sql')}"
        made = f"{shlex.join((self.program, *options, '--bootstrap'))} {self._shared}"
        return f"{self._choose}(echo 'CREATE DATABASE mysql;'; echo 'USE mysql;'; cat {tables}) | {made}"

    def started_by(self, options: Sequence[str]) -> tuple[str, ...]:
        line = f"{shlex.join((self.program, *options))} {self._shared}"
        return ("/bin/sh", "-c", f"{self._choose}exec {line}") if self._choose else tuple(shlex.split(line))

    @property
    def _choose(self) -> str:
        if len(self.tables) == 1:
            return ""
        return f'for tables in {shlex.join(self.tables)}; do [ -f "$tables.sql" ] && break; done\n'

    def _chosen(self, end: str) -> str:
        return f'"${{tables}}{end}"' if self._choose else shlex.quote(self.tables[0] + end)

    @property
    def _shared(self) -> str:
        share = '"${tables%/*}"' if self._choose else shlex.quote(str(Path(self.tables[0]).parent))
        return f"--lc-messages-dir={share} --character-sets-dir={share}/charsets"


def layout(site: Site) -> Layout:
    if site.in_image:
        tables = tuple(f"{IN_IMAGE}/{share}/{name}_system_tables" for share in SHARES_IN_IMAGE for name in NAMES)
        return Layout(program=f"{IN_IMAGE}/{PROGRAMS[0]}", tables=tables)
    tables_here = there(site.home, [f"{share}/{name}_system_tables.sql" for share in SHARES for name in NAMES])
    return Layout(program=there(site.home, PROGRAMS), tables=(tables_here.removesuffix(".sql"),))


def there(home: str, names: Sequence[str]) -> str:
    """The first that exists; else the first one."""
    return next((path for name in names if Path(path := f"{home}/{name}").is_file()), f"{home}/{names[0]}")
