"""Files that OpenTSDB starts from: settings of HBase and of the TSD, what both log, and a script that starts one after
the other and ends them in the opposite order."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from scale_sweep.model import LOOPBACK, Site
from scale_sweep.server.targets.java import in_turn

ROOT, HBASE, TSD = "opentsdb", "hbase", "tsd"  # folders: in the trial's directory, and both programs' in that
MADE = "tables.made"  # in ROOT: the TSD starts when this file exists
FLUSH_LOG = "flush.log"  # in ROOT
JARS = "jars"  # in ROOT: the paths of those that both were started from
# Ports from that of the TSD on.
ZOOKEEPER, MASTER, REGIONS, INFO = 1, 2, 3, 4
PORTS = 5
PORTS_ASKED = (0, MASTER, REGIONS, INFO)  # by a session and by the load
FAMILY = {"VERSIONS": "1", "BLOOMFILTER": "ROW", "DATA_BLOCK_ENCODING": "DIFF"}
# As OpenTSDB's create_table.sh makes them, but for LZO, which no package registry has: table, then families.
TABLES = {"tsdb-uid": ("id", "name"), "tsdb": ("t",), "tsdb-tree": ("t",), "tsdb-meta": ("name",)}
_LOGGED = "org.apache.hadoop.hbase.regionserver.HRegion"


def script(root: str, home: str, hbase: Sequence[str], tsd: Sequence[str]) -> str:
    """A script for sh: runs HBase, then the TSD as soon as the tables are made, until either ends or the shell is told
    to end. Its code is that of the TSD. home: with the jars of both, whose names are noted in JARS."""
    noted = f"echo {shlex.quote(f'{home}/lib')}/*.jar >{shlex.quote(f'{root}/{JARS}')}\n"
    return noted + in_turn(f"{root}/{MADE}", hbase, tsd)


def hbase_site(site: Site, items: Mapping[str, str]) -> str:
    """hbase-site.xml: master, region server and ZooKeeper in one process, on this address, all files in one folder."""
    port, root = site.port, f"{site.data_dir}/{ROOT}/{HBASE}"
    host = _of_hbase(site)
    fixed = {
        "hbase.cluster.distributed": "false",
        "hbase.rootdir": f"file://{root}/data",
        "hbase.tmp.dir": f"{root}/tmp",
        "hbase.zookeeper.property.dataDir": f"{root}/zookeeper",
        "hbase.zookeeper.quorum": host,
        "hbase.zookeeper.property.clientPort": str(port + ZOOKEEPER),
        "hbase.master.hostname": host,
        "hbase.master.ipc.address": site.bind_address,
        "hbase.master.port": str(port + MASTER),
        "hbase.master.info.bindAddress": site.bind_address,
        "hbase.master.info.port": str(port + INFO),
        "hbase.regionserver.hostname": host,
        "hbase.regionserver.ipc.address": site.bind_address,
        "hbase.regionserver.port": str(port + REGIONS),
        "hbase.regionserver.info.port": "-1",
        "hbase.unsafe.stream.capability.enforce": "false",  # a local file system cannot sync a log
        **items,
    }
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in fixed.items()
    )
    return f"<configuration>\n{properties}</configuration>\n"


def tsd_conf(site: Site, items: Mapping[str, str]) -> str:
    """opentsdb.conf: the TSD on this address, which makes a name for each series and takes requests of any size."""
    root = f"{site.data_dir}/{ROOT}/{TSD}"
    fixed = {
        "tsd.network.bind": site.bind_address,
        "tsd.network.port": str(site.port),
        "tsd.storage.hbase.zk_quorum": f"{_of_hbase(site)}:{site.port + ZOOKEEPER}",
        "tsd.http.cachedir": f"{root}/cache",
        "tsd.http.staticroot": f"{root}/cache",
        "tsd.core.enable_ui": "false",
        "tsd.core.auto_create_metrics": "true",
        "tsd.http.request.enable_chunked": "true",
        "tsd.http.request.max_chunk": str(1 << 28),
        **items,
    }
    return "".join(f"{name} = {value}\n" for name, value in fixed.items())


def _of_hbase(site: Site) -> str:
    return LOOPBACK if site.in_image else site.bind_address


def logback(root: str) -> str:
    """Warnings to standard output; flushes of HBase into a file of their own."""
    return (
        '<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">'
        '<filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>WARN</level></filter>'
        "<encoder><pattern>%level %logger{0} %msg%n%ex{3}</pattern></encoder></appender>\n"
        f'<appender name="flushes" class="ch.qos.logback.core.FileAppender"><file>{root}/{FLUSH_LOG}</file>'
        "<encoder><pattern>%msg%n</pattern></encoder></appender>\n"
        f'<logger name="{_LOGGED}" level="INFO"><appender-ref ref="flushes"/></logger>\n'
        '<logger name="org.apache.hadoop.metrics2" level="ERROR"/>\n'  # warns twice that it has no file
        '<root level="WARN"><appender-ref ref="out"/></root></configuration>\n'
    )
