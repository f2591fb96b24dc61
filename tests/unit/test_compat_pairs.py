"""100 files in the shapes of taosBenchmark's own load what taosBenchmark would load, by its source."""

import json
from datetime import datetime

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.spec import rows_per_request
from tests.unit.taosbenchmark_cases import Expected, drawn, expected

FILES = 100
REFUSED_MOST = 5


def loaded(path, content):
    path.write_text(json.dumps(content))
    job = read_job(*read_given(["-f", str(path)]), ScaleOptions(), {}, datetime(2026, 1, 2))
    return [
        Expected(
            first=table.first,
            tables=table.tables,
            rows_each=table.rows_each,
            request=whole_slices(rows_per_request(table, min(job.threads, table.tables)), table.interlace_rows),
            interlace=table.interlace_rows,
        )
        for table in job.databases[0].tables
    ]


def whole_slices(rows, interlace):
    return rows // interlace * interlace if interlace else rows


def test_the_files_load_what_taosbenchmark_loads(tmp_path):
    refused = {}
    for seed in range(FILES):
        content = drawn(seed)
        try:
            found = loaded(tmp_path / "insert.json", content)
        except UsageError as error:
            refused[seed] = error.message
        else:
            assert found == expected(content), json.dumps(content)
    assert len(refused) <= REFUSED_MOST, refused
