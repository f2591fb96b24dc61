"""The three groups of ClickHouse's settings, and the files in which a server reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from xml.sax.saxutils import escape

TABLES, SERVER = "merge_tree.", "server."
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


def of_tables(settings: Mapping[str, str]) -> dict[str, str]:
    return _with_prefix(settings, TABLES)


def of_server(settings: Mapping[str, str]) -> dict[str, str]:
    return _with_prefix(settings, SERVER)


def of_queries(settings: Mapping[str, str]) -> dict[str, str]:
    """All others."""
    return {name: value for name, value in settings.items() if not name.startswith((TABLES, SERVER))}


def users_file(user: str, secret: str, settings: Mapping[str, str]) -> str:
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return _USERS.format(user=user, digest=digest, profile=_items(of_queries(settings)))


def config_file(address: str, port: int, root: str, settings: Mapping[str, str]) -> str:
    tables, server = _items(of_tables(settings)), _items(of_server(settings))
    return _CONFIG.format(address=address, port=port, root=escape(root), merge_tree=tables, server=server)


def _with_prefix(settings: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}


def _items(settings: Mapping[str, str]) -> str:
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in settings.items())
