"""The explorer's server answers its own page, and nobody else."""

from __future__ import annotations

import http.client
import json
import re
import socket
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import pytest

from tinyframe import Context, Tensor
from tinyframe.observe import observing
from tinyframe.viz import graphs
from tinyframe.viz.explorer.answers import ANSWERS
from tinyframe.viz.explorer.record import Recorder
from tinyframe.viz.explorer.server import Server
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Trace
from tinyframe.viz.layout import ADVICE, NoLayout


@pytest.fixture(scope="module")
def server():
    recorder = Recorder(Store.temporary(), ["<script>alert(1)</script>.py"])
    with observing(recorder):
        (Tensor.arange(12).reshape(3, 4).float() @ Tensor.ones(4, 2)).relu().realize()
    server = Server(Trace(recorder.store, recorder.overview))
    server.start()
    yield server
    server.shutdown()
    server.server_close()


def ask(server, path: str, method: str = "GET", **headers) -> tuple[int, dict, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def api(server, question: str) -> dict:
    status, _, body = ask(server, f"/{server.token}/api/{question}")
    assert status == 200, body
    return json.loads(body)


def test_the_page_and_all_that_it_asks_for_are_there(server) -> None:
    status, headers, body = ask(server, f"/{server.token}/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "unsafe-eval" not in policy
    assert "script-src" not in policy  # so it is default-src: no inline scripts either
    asked = re.findall(r'(?:src|href)="([\w.]+\.(?:js|css))"', body.decode())
    assert asked
    seen = set()
    while asked:
        name = asked.pop()
        status, headers, body = ask(server, f"/{server.token}/{name}")
        assert status == 200, name
        seen.add(name)
        asked += [n for n in re.findall(r'from "\./([\w.]+)"', body.decode()) if n not in seen]
    assert "timeline.js" in seen
    for host in (f"127.0.0.1:{server.server_port}", f"localhost:{server.server_port}"):
        assert ask(server, f"/{server.token}/", Host=host)[0] == 200
    status, headers, body = ask(server, f"/{server.token}/", "HEAD")
    assert status == 200 and int(headers["Content-Length"]) > 100 and body == b""


FOREIGN = ("/", "/api/overview", "/wrong/", "/wrong/api/overview", "//", "/%00/", "/../", "/wrong")
HOSTS = ("evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]", "")
NO_PAGES = ("server.py", "../server.py", "..%2fserver.py", "page/index.html", "/etc/passwd",
            "api/", "api/nothing", "api/../server.py", "%2e%2e/x")  # fmt: skip
REFUSED = [
    *[(403, "GET", path, {}) for path in FOREIGN],
    *[(403, "GET", "/{token}/api/overview", {"Host": host}) for host in HOSTS],
    *[(404, "GET", f"/{{token}}/{path}", {}) for path in NO_PAGES],
    *[(501, method, "/{token}/api/overview", {})
      for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE")],
]  # fmt: skip


@pytest.mark.parametrize(("expected", "method", "path", "headers"), REFUSED)
def test_it_answers_only_its_own_page_by_its_own_name_to_who_has_the_token(
    server, expected, method, path, headers
) -> None:
    status, _, body = ask(server, path.format(token=server.token), method, **headers)
    assert status == expected and server.token.encode() not in body


@pytest.mark.parametrize("question", [
    "stages", "stages?of=kernel/99", "stages?of=../overview", "stages?of=kernel/-1",
    "graph?of=kernel/0", "graph?of=kernel/0&stage=99", "graph?of=kernel/0&stage=0&step=99999",
    "graph?of=kernel/0&stage=x", "steps?of=kernel/0&stage=0&from=-3", "realize?n=99", "realize?n=",
    "assembly?n=1e3", "graph?of=kernel/0&stage=999999999999999999999",
])  # fmt: skip
def test_a_question_without_an_answer_says_what_is_wrong(server, question) -> None:
    status, _, body = ask(server, f"/{server.token}/api/{question}")
    assert status == 400
    assert len(json.loads(body)["error"]) > 10


@pytest.mark.parametrize("raw", [
    b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/9\r\n\r\n",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
])  # fmt: skip
def test_malformed_requests_and_broken_connections_do_not_stop_it(server, raw) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=5) as connection:
        connection.sendall(raw)
    assert ask(server, f"/{server.token}/")[0] == 200


def test_every_stage_and_rewrite_can_be_drawn(server) -> None:
    about = api(server, "overview")
    names = [f"kernel/{n}" for n in range(len(about["kernels"]))]
    names += [f"schedule/{n}" for n in range(about["schedules"])]
    for of in names:
        stages = api(server, f"stages?of={of}")["stages"]
        for n, stage in enumerate(stages):
            drawn = api(server, f"graph?of={of}&stage={n}")
            if stage["program"]:
                assert drawn["svg"] is None and "STORE" in drawn["text"]
                continue
            ElementTree.fromstring(drawn["svg"])
            assert len(drawn["nodes"]) == len(re.findall(r"data-node=", drawn["svg"]))
            if stage["steps"]:
                last = stage["steps"] - 1
                for when in ("before", "after"):
                    drawn = api(server, f"graph?of={of}&stage={n}&step={last}&when={when}")
                    ElementTree.fromstring(drawn["svg"])


def test_many_graphs_can_be_asked_for_at_once(server) -> None:
    count = len(api(server, "stages?of=kernel/0")["stages"])
    questions = [f"graph?of=kernel/0&stage={n % count}" for n in range(3 * count)]
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda question: api(server, question), questions))
    for n, answer in enumerate(drawn):
        assert answer == drawn[n % count] and not answer["why"]


def test_without_a_layout_there_is_text_and_what_to_install(server, monkeypatch) -> None:
    def nothing_lays_out(source: str) -> str:
        raise NoLayout(ADVICE)

    monkeypatch.setattr(graphs, "svg_of", nothing_lays_out)
    drawn = api(server, "graph?of=kernel/0&stage=0")
    assert drawn["svg"] is None and "pip install" in drawn["why"]
    assert drawn["text"].startswith(drawn["headline"]) and "RANGE" in drawn["text"]


def test_rewrites_come_page_by_page(server) -> None:
    stages = api(server, "stages?of=kernel/0")["stages"]
    stage = max(range(len(stages)), key=lambda n: stages[n]["steps"])
    total = stages[stage]["steps"]
    whole = api(server, f"steps?of=kernel/0&stage={stage}&count=100000")
    assert whole["total"] == total and len(whole["steps"]) == min(total, 200)
    some = api(server, f"steps?of=kernel/0&stage={stage}&from=3&count=2")
    assert some["steps"] == whole["steps"][3:5]
    assert api(server, f"steps?of=kernel/0&stage={stage}&from={total}")["steps"] == []


def test_a_pass_of_ten_thousand_rewrites_is_sent_in_small_answers() -> None:
    """x0 -> x1 -> … -> x10000, each by a rule of its own."""
    count = 10_000
    names = [f"x{n}" for n in range(count + 1)]
    rows = [["DEFINE_VAR", "int", [], [name, 0, 9], None, [0, 9], None] for name in names]
    steps = [[n, n, n + 1] for n in range(count)]
    rewrites = {"name": "count", "walk": False, "before": 0, "after": count, "steps": steps}
    stage = {"name": "simplify", "before": 0, "after": count, "passes": [rewrites]}
    store = Store.temporary()
    store.write("kernel/0", {"rows": rows, "stages": [stage]})
    roof = {"flops": 1, "bandwidth": 1}
    trace = Trace(store, lambda: {"kernels": [{"best": None}], "roof": roof})
    answers = {"of": "kernel/0", "stage": "0"}
    seen = []
    for start in range(0, count, 200):
        page = ANSWERS["steps"](trace, {**answers, "from": str(start)})
        assert page["total"] == count and len(json.dumps(page)) < 100_000
        seen += [(step["n"], step["before"], step["after"]) for step in page["steps"]]
    assert seen == [(n, f"x{n}", f"x{n + 1}") for n in range(count)]
    for n in (0, 4321, count - 1):
        drawn = ANSWERS["graph"](trace, {**answers, "step": str(n), "when": "after"})
        assert [node["title"] for node in drawn["nodes"]] == [f"DEFINE_VAR x{n + 1}"]
    assert len(json.dumps(ANSWERS["stages"](trace, answers))) < 1_000_000


def test_a_profile_for_chrome_has_every_run(server) -> None:
    events = api(server, "chrome")["traceEvents"]
    runs = [e for e in events if e["ph"] == "X" and not e["name"].startswith("compile ")]
    about = api(server, "overview")
    assert len(runs) == sum(len(r["ran"]) for r in about["realizes"])
    assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in runs)


def test_a_port_that_is_taken_is_an_os_error(server) -> None:
    with pytest.raises(OSError):
        Server(server.trace, server.server_port)


def test_what_is_read_under_a_condition_says_so() -> None:
    recorder = Recorder(Store.temporary(), ["pad.py"])
    with observing(recorder), Context(NOOPT=1):
        (Tensor.arange(6).contiguous().realize().pad((2, 3)) + 1).realize()
    trace = Trace(recorder.store, recorder.overview)
    last = len(recorder.kernels) - 1
    drawn = ANSWERS["graph"](trace, {"of": f"kernel/{last}", "stage": "0", "whole": "1"})
    said = {node["op"]: node["expression"] for node in drawn["nodes"]}
    assert said["LOAD"].startswith("data1[") and " if (" in said["LOAD"]
    assert " if " not in said["STORE"]
