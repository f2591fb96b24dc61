"""The bounds of the value of a key: a whole number, a number, true or false."""

from __future__ import annotations

from collections.abc import Mapping

_MANY = 10**12
_MS = 10**10  # nearly four months
_SEED = 9 * 10**15

FLAGS = (
    "IS_DELETE_DATA",
    "CREATE_SCHEMA",
    "IS_CLIENT_BIND",
    "OP_MIN_INTERVAL_RANDOM",
    "IS_OUT_OF_ORDER",
    "IS_RECENT_QUERY",
)
WHOLE: Mapping[str, tuple[int, int]] = {
    "LOOP": (1, _MANY),
    "TEST_MAX_TIME": (0, _MS),
    "DEVICE_NUMBER": (1, 100_000_000),
    "SENSOR_NUMBER": (1, 4096),
    "DATA_CLIENT_NUMBER": (1, 4096),
    "CLIENT_NUMBER": (1, 4096),
    "POINT_STEP": (1, 10**9),
    "OP_MIN_INTERVAL": (-1, _MS),
    "INTERVAL_BETWEEN_WRITE_BATCH": (0, _MS),
    "STRING_LENGTH": (1, 65_517),
    "DOUBLE_LENGTH": (0, 5),
    "DATA_SEED": (0, _SEED),
    "WRITE_OPERATION_TIMEOUT_MS": (0, _MS),
    "READ_OPERATION_TIMEOUT_MS": (0, _MS),
    "BATCH_SIZE_PER_WRITE": (1, 1_000_000),
    "DEVICE_NUM_PER_WRITE": (1, 1_000_000),
    "MAX_K": (1, 10**9),
    "STEP_SIZE": (0, _MANY),
    "QUERY_SENSOR_NUM": (1, 4096),
    "QUERY_DEVICE_NUM": (1, 100_000_000),
    "QUERY_SET_OP_NUM": (1, 4096),
    "QUERY_INTERVAL": (1, _MANY),
    "GROUP_BY_TIME_UNIT": (1, _MANY),
    "QUERY_SEED": (0, _SEED),
    "WORKLOAD_BUFFER_SIZE": (1, 10**9),
    "TAG_NUMBER": (0, 100),
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "REAL_INSERT_RATE": (0, 1),
    "LINE_RATIO": (0, 1e9),
    "SIN_RATIO": (0, 1e9),
    "SQUARE_RATIO": (0, 1e9),
    "RANDOM_RATIO": (0, 1e9),
    "CONSTANT_RATIO": (0, 1e9),
    "OUT_OF_ORDER_RATIO": (0, 1),
    "LAMBDA": (0.001, 1e6),
    "QUERY_LOWER_VALUE": (-1e300, 1e300),
}
SHARE_MAX = 1e9
ROWS_MAX = REQUESTS_MAX = 10**15
ROWS_OF_REQUEST_MAX = 1_000_000
RATE_MAX = 1e12
