"""The keys of IoT-benchmark's configuration: which have a meaning here, which have none, which refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Keys with a meaning, and what each is where the file does not say it.
USED: Mapping[str, str] = {
    "DB_SWITCH": "IoTDB-200-SESSION_BY_TABLET",
    "HOST": "127.0.0.1",
    "PORT": "6667",
    "USERNAME": "root",
    "PASSWORD": "root",
    "DB_NAME": "test",
    "TOKEN": "",
    "IS_DELETE_DATA": "true",
    "CREATE_SCHEMA": "true",
    "LOOP": "100",
    "TEST_MAX_TIME": "0",
    "DEVICE_NUMBER": "6000",
    "REAL_INSERT_RATE": "1.0",
    "SENSOR_NUMBER": "200",
    "SENSOR_NAME_PREFIX": "s_",
    "IS_CLIENT_BIND": "true",
    "DATA_CLIENT_NUMBER": "",
    "CLIENT_NUMBER": "20",
    "POINT_STEP": "5000",
    "OP_MIN_INTERVAL": "0",
    "OP_MIN_INTERVAL_RANDOM": "false",
    "INTERVAL_BETWEEN_WRITE_BATCH": "0",
    "STRING_LENGTH": "2",
    "DOUBLE_LENGTH": "2",
    "INSERT_DATATYPE_PROPORTION": "1:1:1:1:1:1:0:0:0:0:0",
    "LINE_RATIO": "1",
    "SIN_RATIO": "1",
    "SQUARE_RATIO": "1",
    "RANDOM_RATIO": "1",
    "CONSTANT_RATIO": "1",
    "DATA_SEED": "666",
    "OPERATION_PROPORTION": "1:0:0:0:0:0:0:0:0:0:0:0:0",
    "WRITE_OPERATION_TIMEOUT_MS": "120000",
    "READ_OPERATION_TIMEOUT_MS": "300000",
    "BATCH_SIZE_PER_WRITE": "100",
    "DEVICE_NUM_PER_WRITE": "1",
    "START_TIME": "2022-01-01T00:00:00+08:00",
    "IS_OUT_OF_ORDER": "false",
    "OUT_OF_ORDER_MODE": "POISSON",
    "OUT_OF_ORDER_RATIO": "0.5",
    "LAMBDA": "2200.0",
    "MAX_K": "170000",
    "IS_RECENT_QUERY": "false",
    "STEP_SIZE": "1",
    "QUERY_SENSOR_NUM": "1",
    "QUERY_DEVICE_NUM": "1",
    "QUERY_AGGREGATE_FUN": "count",
    "QUERY_SET_OP_TYPE": "union",
    "QUERY_SET_OP_NUM": "2",
    "QUERY_INTERVAL": "250000",
    "QUERY_LOWER_VALUE": "-5",
    "GROUP_BY_TIME_UNIT": "20000",
    "QUERY_SEED": "151658",
    "WORKLOAD_BUFFER_SIZE": "100",
    "TAG_NUMBER": "0",
    "TAG_KEY_PREFIX": "tag_",
    "TAG_VALUE_PREFIX": "value_",
    "TAG_VALUE_CARDINALITY": "",
    "TEST_DATA_PERSISTENCE": "None",
    "TEST_DATA_STORE_IP": "127.0.0.1",
    "TEST_DATA_STORE_PORT": "3306",
    "TEST_DATA_STORE_DB": "",
    "TEST_DATA_STORE_USER": "root",
    "TEST_DATA_STORE_PW": "",
    "REMARK": "",
}


@dataclass(frozen=True, kw_only=True)
class Only:
    """A key that has one value here."""

    value: str  # in lower case
    why: str  # a sentence about any other
    remedy: str = ""  # what to do


_LEAVE = "leave the key out"
ONLY: Mapping[str, Only] = {
    "BENCHMARK_WORK_MODE": Only(
        value="testwithdefaultpath",
        why="only testWithDefaultPath generates a load; files of data and verification are not supported",
        remedy="to watch a server without a load: scale observe",
    ),
    "IoTDB_DIALECT_MODE": Only(value="tree", why="IoTDB is written as a tree of devices, not as tables", remedy=_LEAVE),
    "IS_DOUBLE_WRITE": Only(value="false", why="one database is loaded", remedy="run it once for each database"),
    "IS_COMPARISON": Only(value="false", why="one database is loaded", remedy=_LEAVE),
    "IS_POINT_COMPARISON": Only(value="false", why="one database is loaded", remedy=_LEAVE),
    "BENCHMARK_CLUSTER": Only(value="false", why="one machine makes the load", remedy="raise DATA_CLIENT_NUMBER"),
    "USE_SSL": Only(value="false", why="connections are not encrypted", remedy=_LEAVE),
    "IS_RECORD_CURRENT_REALLY_TIME": Only(
        value="false", why="times follow from START_TIME and POINT_STEP", remedy=_LEAVE
    ),
    "IS_SENSOR_TS_ALIGNMENT": Only(value="true", why="a row has all sensors of its device", remedy=_LEAVE),
    "IS_REGULAR_FREQUENCY": Only(value="true", why="rows are POINT_STEP apart", remedy=_LEAVE),
    "IS_COPY_MODE": Only(value="false", why="rows are not read from files", remedy=_LEAVE),
    "IS_ADD_ANOMALY": Only(value="false", why="rows have no anomalies", remedy=_LEAVE),
    "TIMESTAMP_PRECISION": Only(value="ms", why="times are in milliseconds", remedy=_LEAVE),
    "ALIGN_BY_DEVICE": Only(value="false", why="answers are not aligned by device", remedy=_LEAVE),
    "ENABLE_FIXED_QUERY": Only(value="false", why="each query draws its own devices", remedy=_LEAVE),
    "RESULT_ROW_LIMIT": Only(value="-1", why="answers are not limited", remedy="make QUERY_INTERVAL smaller"),
}

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
    "devices have the names that the target gives them": "DEVICE_NAME_PREFIX",
}
INEFFECTIVE: Mapping[str, str] = {key: why for why, keys in _WITHOUT.items() for key in keys.split()}

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
FUNCTIONS: Mapping[str, str] = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "max": "max",
    "max_value": "max",
    "min": "min",
    "min_value": "min",
    "first": "first",
    "first_value": "first",
    "last": "last",
    "last_value": "last",
    "spread": "spread",
    "max_time": "max_time",
    "min_time": "min_time",
}
TIME_FUNCTIONS = ("max_time", "min_time")  # which only IoT-benchmark asks for
