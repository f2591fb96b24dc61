"""The keys of IoT-benchmark's configuration: which have a meaning here, which have none, which refuse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple


class ConfigKey(NamedTuple):
    how: str  # text, flag, whole or number: how it is read; only: it has one value here; idle: it has no effect
    name: str  # compared without case
    default: str = ""  # where the file does not say it; of "only" the one value, in lower case
    least: float = 0
    most: float = 0
    why: str = ""  # it has no effect, or no other value
    remedy: str = ""


_text, _flag, _whole, _number = (partial(ConfigKey, how) for how in ("text", "flag", "whole", "number"))


def _only(name: str, value: str, why: str, remedy: str = "leave the key out") -> ConfigKey:
    return ConfigKey(name=name, how="only", default=value, why=why, remedy=remedy)


_MANY = 10**12
_MS = 10**10  # nearly four months
_SEED = 9 * 10**15
_ROWS = (
    _text("DB_SWITCH", "IoTDB-200-SESSION_BY_TABLET"),
    _text("HOST", "127.0.0.1"),
    _text("PORT", "6667"),
    _text("USERNAME", "root"),
    _text("PASSWORD", "root"),
    _text("DB_NAME", "test"),
    _text("TOKEN"),
    _flag("IS_DELETE_DATA", "true"),
    _flag("CREATE_SCHEMA", "true"),
    _whole("LOOP", "100", 1, _MANY),
    _whole("TEST_MAX_TIME", "0", 0, _MS),
    _whole("DEVICE_NUMBER", "6000", 1, 100_000_000),
    _number("REAL_INSERT_RATE", "1.0", 0, 1),
    _whole("SENSOR_NUMBER", "200", 1, 4096),
    _text("SENSOR_NAME_PREFIX", "s_"),
    _flag("IS_CLIENT_BIND", "true"),
    _whole("DATA_CLIENT_NUMBER", "", 1, 4096),
    _whole("CLIENT_NUMBER", "20", 1, 4096),
    _whole("POINT_STEP", "5000", 1, 1_000_000_000),
    _whole("OP_MIN_INTERVAL", "0", -1, _MS),
    _flag("OP_MIN_INTERVAL_RANDOM", "false"),
    _whole("INTERVAL_BETWEEN_WRITE_BATCH", "0", 0, _MS),
    _whole("STRING_LENGTH", "2", 1, 65_517),
    _whole("DOUBLE_LENGTH", "2", 0, 5),
    _text("INSERT_DATATYPE_PROPORTION", "1:1:1:1:1:1:0:0:0:0:0"),
    _number("LINE_RATIO", "1", 0, 1e9),
    _number("SIN_RATIO", "1", 0, 1e9),
    _number("SQUARE_RATIO", "1", 0, 1e9),
    _number("RANDOM_RATIO", "1", 0, 1e9),
    _number("CONSTANT_RATIO", "1", 0, 1e9),
    _whole("DATA_SEED", "666", 0, _SEED),
    _text("OPERATION_PROPORTION", "1:0:0:0:0:0:0:0:0:0:0:0:0"),
    _whole("WRITE_OPERATION_TIMEOUT_MS", "120000", 0, _MS),
    _whole("READ_OPERATION_TIMEOUT_MS", "300000", 0, _MS),
    _whole("BATCH_SIZE_PER_WRITE", "100", 1, 1_000_000),
    _whole("DEVICE_NUM_PER_WRITE", "1", 1, 1_000_000),
    _text("START_TIME", "2022-01-01T00:00:00+08:00"),
    _flag("IS_OUT_OF_ORDER", "false"),
    _text("OUT_OF_ORDER_MODE", "POISSON"),
    _number("OUT_OF_ORDER_RATIO", "0.5", 0, 1),
    _number("LAMBDA", "2200.0", 0.001, 1e6),
    _whole("MAX_K", "170000", 1, 1_000_000_000),
    _flag("IS_RECENT_QUERY", "false"),
    _whole("STEP_SIZE", "1", 0, _MANY),
    _whole("QUERY_SENSOR_NUM", "1", 1, 4096),
    _whole("QUERY_DEVICE_NUM", "1", 1, 100_000_000),
    _text("QUERY_AGGREGATE_FUN", "count"),
    _text("QUERY_SET_OP_TYPE", "union"),
    _whole("QUERY_SET_OP_NUM", "2", 1, 4096),
    _whole("QUERY_INTERVAL", "250000", 1, _MANY),
    _number("QUERY_LOWER_VALUE", "-5", -1e300, 1e300),
    _whole("GROUP_BY_TIME_UNIT", "20000", 1, _MANY),
    _whole("QUERY_SEED", "151658", 0, _SEED),
    _whole("WORKLOAD_BUFFER_SIZE", "100", 1, 1_000_000_000),
    _whole("TAG_NUMBER", "0", 0, 100),
    _text("TAG_KEY_PREFIX", "tag_"),
    _text("TAG_VALUE_PREFIX", "value_"),
    _text("TAG_VALUE_CARDINALITY"),
    _text("TEST_DATA_PERSISTENCE", "None"),
    _text("TEST_DATA_STORE_IP", "127.0.0.1"),
    _text("TEST_DATA_STORE_PORT", "3306"),
    _text("TEST_DATA_STORE_DB"),
    _text("TEST_DATA_STORE_USER", "root"),
    _text("TEST_DATA_STORE_PW"),
    _text("REMARK"),
    _only(
        "BENCHMARK_WORK_MODE",
        "testwithdefaultpath",
        "only testWithDefaultPath generates a load; files of data and verification are not supported",
        "to watch a server without a load: scale observe",
    ),
    _only("IoTDB_DIALECT_MODE", "tree", "IoTDB is written as a tree of devices, not as tables"),
    _only("IS_DOUBLE_WRITE", "false", "one database is loaded", "run it once for each database"),
    _only("IS_COMPARISON", "false", "one database is loaded"),
    _only("IS_POINT_COMPARISON", "false", "one database is loaded"),
    _only("BENCHMARK_CLUSTER", "false", "one machine makes the load", "raise DATA_CLIENT_NUMBER"),
    _only("USE_SSL", "false", "connections are not encrypted"),
    _only("IS_RECORD_CURRENT_REALLY_TIME", "false", "times follow from START_TIME and POINT_STEP"),
    _only("IS_SENSOR_TS_ALIGNMENT", "true", "a row has all sensors of its device"),
    _only("IS_REGULAR_FREQUENCY", "true", "rows are POINT_STEP apart"),
    _only("IS_COPY_MODE", "false", "rows are not read from files"),
    _only("IS_ADD_ANOMALY", "false", "rows have no anomalies"),
    _only("TIMESTAMP_PRECISION", "ms", "times are in milliseconds"),
    _only("ALIGN_BY_DEVICE", "false", "answers are not aligned by device"),
    _only("ENABLE_FIXED_QUERY", "false", "each query draws its own devices"),
    _only("RESULT_ROW_LIMIT", "-1", "answers are not limited", "make QUERY_INTERVAL smaller"),
)
_OPTIONS = "a database has the options that the target gives it"
_RESULTS = "results are printed, and --json prints them as JSON"
_MODE = "it belongs to a mode that is not supported"
_LOG = "the messages are others"
_WITHOUT: Mapping[str, str] = {
    _OPTIONS: "TABLE_TIME_COLUMN IoTDB_TABLE_WRITABLE_VIEW IoTDB_TABLE_NAME_PREFIX IoTDB_TABLE_NUMBER"
    " ENABLE_THRIFT_COMPRESSION ENABLE_IOTDB_RPC_COMPRESSION SG_STRATEGY GROUP_NUMBER GROUP_NAME_PREFIX"
    " IOTDB_SESSION_POOL_SIZE TEMPLATE TEMPLATE_NAME VECTOR IOTDB_USE_DEBUG IOTDB_USE_DEBUG_RATIO ENABLE_AUTO_FETCH"
    " COMPRESSOR ENCODING_BOOLEAN ENCODING_INT32 ENCODING_INT64 ENCODING_FLOAT ENCODING_DOUBLE ENCODING_TEXT"
    " ENCODING_STRING ENCODING_BLOB ENCODING_TIMESTAMP ENCODING_DATE REST_AUTHORIZATION REST_PORT COMPRESSION"
    " TIMESCALEDB_REPLICATION_FACTOR TDENGINE_WAL_LEVEL TDENGINE_REPLICA INFLUXDB_ORG"
    " CNOSDB_SHARD_NUMBER DOLPHINDB_DEVICE_HASH_BUCKETS",
    _RESULTS: "RECORD_SPLIT RECORD_SPLIT_MAX_LINE TEST_DATA_WRITE_TIME_OUT TEST_DATA_MAX_CONNECTION"
    " MYSQL_REAL_INSERT_RATE CSV_OUTPUT USE_MEASUREMENT RESULT_PRECISION",
    _MODE: "KAFKA_LOCATION ZOOKEEPER_LOCATION TOPIC_NAME BENCHMARK_INDEX ANOTHER_DB_SWITCH ANOTHER_HOST ANOTHER_PORT"
    " ANOTHER_USERNAME ANOTHER_PASSWORD ANOTHER_DB_NAME ANOTHER_TOKEN VERIFICATION_STEP_SIZE FILE_PATH BIG_BATCH_SIZE"
    " ANOMALY_RATE ANOMALY_TIMES TS_ALIGNMENT_RATIO TRUST_STORE_PATH TRUST_STORE_PWD KEY_STORE_PATH KEY_STORE_PWD"
    " SSL_PROTOCOL OBJECT_LENGTH OBJECT_QUERY_FULL_CONTENT",
    _LOG: "IS_QUIET_MODE LOG_PRINT_INTERVAL RESULT_PRINT_INTERVAL MONITOR_INTERVAL NET_DEVICE",
    "the load generator waits until the server is ready": "INIT_WAIT_TIME",
    "tables are created by one connection": "SCHEMA_CLIENT_NUMBER",
    "connections are not pooled": "HTTP_CLIENT_POOL_SIZE",
    "it is a path of the server, which has those of its own configuration": "IOTDB_DATA_DIR IOTDB_WAL_DIR"
    " IOTDB_SYSTEM_DIR",
    "one server is loaded": "IS_ALL_NODES_VISIBLE",
    "devices have the names that the target gives them": "DEVICE_NAME_PREFIX",
}
KEYS: Mapping[str, ConfigKey] = {key.name.upper(): key for key in _ROWS} | {
    name.upper(): ConfigKey(name=name, how="idle", why=why) for why, names in _WITHOUT.items() for name in names.split()
}

# By their places in OPERATION_PROPORTION: the kind of operation here, and the name in the result matrix.
OPERATIONS: tuple[tuple[str, str], ...] = (
    ("write", "INGESTION"),
    ("point", "PRECISE_POINT"),
    ("range", "TIME_RANGE"),
    ("range_value", "VALUE_RANGE"),
    ("aggregate", "AGG_RANGE"),
    ("aggregate_value", "AGG_VALUE"),
    ("aggregate_range_value", "AGG_RANGE_VALUE"),
    ("group_by_time", "GROUP_BY"),
    ("latest", "LATEST_POINT"),
    ("range_desc", "RANGE_QUERY_DESC"),
    ("range_value_desc", "VALUE_RANGE_QUERY_DESC"),
    ("group_by_time_desc", "GROUP_BY_DESC"),
    ("set", "SET_OPERATION"),
)
# By their places in INSERT_DATATYPE_PROPORTION; "": the load generator has none.
TYPES = ("bool", "int", "bigint", "float", "double", "binary", "binary", "", "timestamp", "", "")
TYPE_NAMES = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "TEXT", "STRING", "BLOB", "TIMESTAMP", "DATE", "OBJECT")
TIME_FUNCTIONS = ("max_time", "min_time")  # which only IoT-benchmark asks for
FUNCTIONS: Mapping[str, str] = (
    {name: name for name in ("count", "sum", "avg", "max", "min", "first", "last", "spread", *TIME_FUNCTIONS)}
    | {"mean": "avg"}
    | {f"{name}_value": name for name in ("max", "min", "first", "last")}
)
