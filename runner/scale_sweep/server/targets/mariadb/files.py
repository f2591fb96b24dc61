"""Where MariaDB's program, messages and system tables are: in the layout of Debian's package or of MariaDB's
archives."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.model import Site

PROGRAMS = ("sbin/mariadbd", "bin/mariadbd")  # of a package, of an archive
SHARES = ("share/mysql", "share/mariadb", "share")  # Debian's packages have the second one since MariaDB 11
NAMES = ("mariadb", "mysql")  # of the system tables: the second one until MariaDB 10
_IN_IMAGE = "/usr"  # where the packages are unpacked
_SHARES_IN_IMAGE = SHARES[:2]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """program: of the server. tables: paths of the system tables without `.sql`; if there are several, the shell that
    starts the server takes the first that is there."""

    program: str
    tables: tuple[str, ...]

    def made_by(self, options: Sequence[str]) -> str:
        """A script for sh: the server makes its system tables. options: of the server."""
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
        tables = tuple(f"{_IN_IMAGE}/{share}/{name}_system_tables" for share in _SHARES_IN_IMAGE for name in NAMES)
        return Layout(program=f"{_IN_IMAGE}/{PROGRAMS[0]}", tables=tables)
    tables_here = there(site.home, [f"{share}/{name}_system_tables.sql" for share in SHARES for name in NAMES])
    return Layout(program=there(site.home, PROGRAMS), tables=(tables_here.removesuffix(".sql"),))


def there(home: str, names: Sequence[str]) -> str:
    """The path of the first of the files that is in `home`; of the first one if none is."""
    return next((path for name in names if Path(path := f"{home}/{name}").is_file()), f"{home}/{names[0]}")


def image_files() -> dict[str, tuple[str, ...]]:
    """The files of an image of an installation, as in Facts: where MariaDB's own image has them."""
    share = f"{_IN_IMAGE}/{_SHARES_IN_IMAGE[0]}"
    tables = {
        f"{share}/{NAMES[0]}_{kind}.sql": tuple(f"{one}/{name}_{kind}.sql" for one in SHARES for name in NAMES)
        for kind in ("system_tables", "system_tables_data")
    }
    folders = {f"{share}/{name}/": tuple(f"{one}/{name}" for one in SHARES) for name in ("charsets", "english")}
    return {f"{_IN_IMAGE}/{PROGRAMS[0]}": PROGRAMS, **tables, **folders}
