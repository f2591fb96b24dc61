"""Reads of the devices of groups, which a tag says: aggregates of each group or of a part of them, all rows of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scale_sweep.experiment.work.aggregates import FUNCTION, columns_of, end_of, functions_of
from scale_sweep.experiment.work.read import COLUMN, COLUMNS, Parameters, Read
from scale_sweep.model import Operation, Query, Work

TAG = {"tag": "the tag whose value is the group; default: the first whole number of few values"}
_BY_NAME = {("groupid", "int"): (1, 10), ("devgroup", "int"): (0, 99)}  # as the load generator draws them
_BY_TYPE = {"tinyint": (0, 100), "utinyint": (0, 200)}
_KNOWN = "groupid:int (1 to 10), devgroup:int (0 to 99), tinyint (0 to 100), utinyint (0 to 200)"
_FRACTION = "the part of all groups that one request reads, 0.1 to 1"


def groups_of(work: Work) -> dict[str, tuple[int, int]]:
    """The first and the last group by each tag that can say one."""
    groups = {}
    for name, _, kind in (tag.partition(":") for tag in work.data.tags):
        known = _BY_NAME.get((name, kind)) or _BY_TYPE.get(kind)
        if known is not None:
            groups[name] = known
    return groups


class _Grouped(Read):
    def _over(self, work: Work, parameters: Parameters, query: Query, groups: int = 0, fraction: str = "1") -> Query:
        """The query over so many groups in a row; 0: over the part of them that the operation says."""
        tag, (first, last) = self._tag(work, parameters)
        count = last - first + 1
        some = groups or max(1, round(parameters.fraction("fraction", fraction) * count))
        return replace(query, devices=0, tag=tag, groups=some % count, low=first, high=last - some + 1)

    def _tag(self, work: Work, parameters: Parameters) -> tuple[str, tuple[int, int]]:
        known = groups_of(work)
        if not known:
            raise ValueError(f"tag: no tag of {', '.join(work.data.tags) or 'the tables'} names a group: {_KNOWN}")
        tag = parameters.text("tag", next(iter(known)))
        if tag not in known:
            raise ValueError(f"tag = {tag}: not one of {', '.join(known)}, whose values are groups ({_KNOWN})")
        return tag, known[tag]


class _Aggregated(_Grouped):
    def _aggregate(self, parameters: Parameters) -> Query:
        function, *more = functions = functions_of(parameters)
        if end := end_of(functions):
            raise ValueError(f"function = {end}: the devices of a group have rows at the same time")
        return Query(columns=columns_of(parameters, functions), function=function, more_functions=tuple(more))


class _GroupByTag(_Aggregated):
    name, title = "group_by_tag", "an aggregate of each group of devices, by a tag"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The tag, the part of the groups, the aggregate."""
        return {**TAG, "fraction": f"{_FRACTION}; default 1", **COLUMN, **FUNCTION}

    def query(self, work: Work, operation: Operation) -> Query:
        """One row for each group."""
        parameters = Parameters(work, operation)
        return replace(self._over(work, parameters, self._aggregate(parameters)), by_tag=True)


class _AggregateTag(_Aggregated):
    name, title = "aggregate_tag", "an aggregate over all time, of the devices of some groups"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The tag, the part of the groups, the aggregate, and stretches of time."""
        bucket = "length of one stretch of time, like 1m; default: all time together"
        return {**TAG, "fraction": f"{_FRACTION}; default 0.1", **COLUMN, **FUNCTION, "bucket": bucket}

    def query(self, work: Work, operation: Operation) -> Query:
        """One row, or one for each stretch of time."""
        parameters = Parameters(work, operation)
        query = replace(self._aggregate(parameters), bucket_ms=parameters.time_ms("bucket", ""))
        return self._over(work, parameters, query, fraction="0.1")


class _ScanTag(_Grouped):
    name, title = "scan_tag", "all rows of the devices of one group"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The tag and the columns."""
        return {**TAG, **COLUMNS}

    def query(self, work: Work, operation: Operation) -> Query:
        """All rows of one group."""
        parameters = Parameters(work, operation)
        return self._over(work, parameters, Query(columns=parameters.columns()), groups=1)


GROUP_BY_TAG, AGGREGATE_TAG, SCAN_TAG = _GroupByTag(), _AggregateTag(), _ScanTag()
