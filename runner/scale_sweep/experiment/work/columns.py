"""The columns of a right answer in their order, and whether values that came are near enough to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scale_sweep.model.questions import Cells, Query

Array = np.ndarray[Any, Any]
FLOAT_ERROR = 1e-5  # relative: a float's 24 bits, and sums in another order
DOUBLE_ERROR = 1e-9  # relative: a double's 53 bits, sums in another order, and servers that keep 15 digits
WHOLE_MAX = 2**53  # a double holds every whole number up to it


@dataclass(frozen=True, kw_only=True)
class TableRows:
    """Consecutive rows of one table."""

    times: Array  # ms since 1970
    columns: Mapping[str, Array]  # values by name, as they were sent; the type of an array is that of the column


@dataclass(frozen=True, kw_only=True)
class ColumnValues:
    values: Array
    error: float = 0.0  # the largest difference relative to the sizes
    sizes: Array | None = None  # of the numbers from which each value was computed; None: its own

    def cell(self, number: int) -> Any:
        """One value; None for NULL."""
        value = self.values[number]
        value = value.item() if isinstance(value, np.generic) else value
        return None if isinstance(value, float) and value != value else value

    def ordered(self, order: Array) -> ColumnValues:
        return replace(self, values=self.values[order], sizes=None if self.sizes is None else self.sizes[order])

    def first_difference(self, came: Sequence[Any]) -> int | None:
        """None if all are right."""
        doubtful = self._doubtful(came)
        return next((int(number) for number in doubtful if not self._is_right(int(number), came[number])), None)

    def _doubtful(self, came: Sequence[Any]) -> Array | range:
        kinds, kind = set(map(type, came)), self.values.dtype.kind
        if kind == "i" and kinds <= {int}:
            try:
                return np.flatnonzero(np.fromiter(came, np.int64, len(came)) != self.values)
            except OverflowError:
                return range(len(came))
        if kind == "f" and kinds <= {int, float, type(None)}:
            numbers, right = np.array(came, dtype=np.float64), self.values.astype(np.float64)
            with np.errstate(invalid="ignore", over="ignore"):
                is_near = np.abs(numbers - right) <= self.error * np.abs(right if self.sizes is None else self.sizes)
            return np.flatnonzero(~(is_near | (numbers == right)))  # NaN is for the other rule: it may be NULL
        return range(len(came))

    def _is_right(self, number: int, came: Any) -> bool:
        right = self.cell(number)
        if right is None or came is None:
            return right is came
        if isinstance(right, bool | str | bytes) or not isinstance(came, int | float):
            return bool(right == came)
        if isinstance(right, int) and self.sizes is None:  # a server that stores doubles has the nearest one
            return bool(right == came or abs(right) > WHOLE_MAX and came == float(right))
        size = abs(right) if self.sizes is None else float(self.sizes[number])
        return bool(right == came or abs(right - came) <= self.error * size)


@dataclass(frozen=True, kw_only=True)
class Right:
    """The rows of a right answer, in order."""

    columns: tuple[ColumnValues, ...] = ()
    optional: Array | None = None  # of each row, whether an answer without it is right too; None: of no row

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def row(self, number: int) -> Cells:
        """Its cells, with None for NULL."""
        return tuple(column.cell(number) for column in self.columns)

    def cells(self) -> list[Cells]:
        return [self.row(number) for number in range(len(self))]

    @property
    def optional_rows(self) -> int:
        return 0 if self.optional is None else int(np.count_nonzero(self.optional))

    def first(self, count: int) -> Right:
        return self.ordered(np.arange(min(count, len(self))))

    def ordered(self, order: Array) -> Right:
        optional = None if self.optional is None else self.optional[order]
        return Right(columns=tuple(column.ordered(order) for column in self.columns), optional=optional)


def as_stored(values: Array) -> ColumnValues:
    return ColumnValues(values=values, error={"f4": FLOAT_ERROR, "f8": DOUBLE_ERROR}.get(values.dtype.str[1:], 0.0))


def computed(values: Sequence[Any], sizes: Sequence[float], error: float) -> ColumnValues:
    """sizes: of the numbers from which each value was computed; 0: it is one of them. Whole numbers have no error,
    unless sizes are above WHOLE_MAX, where a server may compute in doubles."""
    kinds = set(map(type, values))
    if float in kinds and kinds <= {int, float, type(None)}:
        return ColumnValues(
            values=np.array(values, dtype=np.float64), error=error, sizes=np.array(sizes, dtype=np.float64)
        )
    if not kinds <= {int}:
        return ColumnValues(values=_objects(values))
    if all(size <= WHOLE_MAX for size in sizes):
        return ColumnValues(
            values=_objects(values) if any(abs(v) >= 2**63 for v in values) else np.array(values, np.int64)
        )
    return ColumnValues(values=_objects(values), error=1 / WHOLE_MAX, sizes=np.array(sizes, dtype=np.float64))


def joined(columns: Sequence[ColumnValues]) -> ColumnValues:
    sizes = [column.sizes for column in columns if column.sizes is not None]
    values = np.concatenate([column.values for column in columns])
    kept = np.concatenate(sizes) if len(sizes) == len(columns) else None
    return ColumnValues(values=values, error=max(column.error for column in columns), sizes=kept)


def _objects(values: Sequence[Any]) -> Array:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def ranked(query: Query, right: Right) -> Right:
    """As many rows as are asked for, and those that equal the last."""
    if not right or has_null(query, right):
        return right
    column = right.columns[_place(query)]
    sign = -1 if _is_descending(query) else 1
    ordered = right.ordered(np.argsort(sign * _numbers(column.values), kind="stable"))
    if not query.limit or query.limit >= len(right):
        return ordered
    distances, slack = _beyond_last(query, ordered)
    return ordered.first(int(np.count_nonzero(distances <= slack)))


def has_null(query: Query, right: Right) -> bool:
    """NULL comes first in some databases, last in others, or as the smallest or the largest."""
    return bool(query.is_ranked and right and np.isnan(right.columns[_place(query)].values.astype(np.float64)).any())


def rows_of(query: Query, right: Right) -> int:
    return min(query.limit, len(right)) if query.limit and query.is_ranked else len(right)


def misplaced(query: Query, right: Right, came: Sequence[Cells]) -> tuple[str, Right]:
    """The mistake in order or choice, and the right rows in the order in which they came."""
    if not came:
        return "", right
    place = _place(query)
    values = [row[place] for row in came]
    what = query.by_value or "time"
    if None in values:
        return f"row {values.index(None) + 1} of {len(came):,} is NULL in {what}, by which the rows are ordered", right
    sign = -1 if _is_descending(query) else 1
    if any(sign * a > sign * b for a, b in zip(values, values[1:], strict=False)):
        return f"the rows are not ordered by {what}, {'largest' if sign < 0 else 'smallest'} first", right
    numbers = {right.row(number)[: query.keys]: number for number in range(len(right))}
    places = [numbers.get(tuple(row[: query.keys])) for row in came]
    chosen = [number for number in places if number is not None]
    if len(set(chosen)) < len(came):
        odd = next((n for n, number in enumerate(places) if number is None or number in places[:n]))
        return f"row {odd + 1} of {len(came):,} is not one of the first rows, or came before: {came[odd]}", right
    if query.limit and query.limit < len(right):
        distances, slack = _beyond_last(query, right)
        if missing := set(np.flatnonzero(distances < -slack).tolist()) - set(chosen):
            return f"a row is missing that comes before the last: {right.row(min(missing))}", right
    return "", right.ordered(np.array(chosen))


def _beyond_last(query: Query, ordered: Right) -> tuple[Array, float]:
    """The distance of each row's value behind the last one that is asked for, and that of equal values."""
    column = ordered.columns[_place(query)]
    last = _numbers(column.values)[query.limit - 1]
    sign = -1 if _is_descending(query) else 1
    size = abs(last) if column.sizes is None else float(column.sizes[query.limit - 1])
    computed = column.error * size if query.function else 0.0
    return sign * (_numbers(column.values) - last), 2 * computed


def _numbers(values: Array) -> Array:
    return values if values.dtype.kind in "if" else values.astype(np.float64)


def _place(query: Query) -> int:
    if not query.by_value:
        return 0
    return query.keys + (0 if query.function else query.columns.index(query.by_value))


def _is_descending(query: Query) -> bool:
    return query.largest_first if query.by_value else query.newest_first
