"""`scale load --iot` sends InfluxDB 2 the file's token with each request, of the load too, and prints it nowhere."""

from __future__ import annotations

from tests.unit.web_server import Answer, Request, web_server
from tests.unit.whole_commands import run

TOKEN = "t0ken-of-the-file"
ANSWERS = {
    "/health": {"version": "v2.7.12"},
    "/api/v2/orgs": {"orgs": [{"id": "0f0f"}]},
    "/api/v2/buckets": {"id": "0b0b", "buckets": [{"id": "0b0b"}]},
    "/api/v2/dbrps": {"content": [{}]},
    "/query": {"results": [{"error": "not asked here"}]},
}


def answer(request: Request) -> Answer:
    path = request.path.partition("?")[0]
    return Answer(200, ANSWERS[path]) if path in ANSWERS else Answer(204)


def test_every_request_has_the_token(tmp_path):
    with web_server(answer) as server:
        text = f"DB_SWITCH=InfluxDB-2.x\nHOST=127.0.0.1\nPORT={server.port}\nTOKEN={TOKEN}\nDEVICE_NUMBER=4\n"
        (tmp_path / "config.properties").write_text(f"{text}SENSOR_NUMBER=3\nCLIENT_NUMBER=2\nLOOP=3\n")
        done = run("load", "--iot", "config.properties", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert sum(one.path.startswith("/api/v2/write?") for one in server.requests) == 3 * 4
    assert {one.authorization for one in server.requests if one.path != "/health"} == {f"Token {TOKEN}"}
    assert TOKEN not in done.stdout + done.stderr
