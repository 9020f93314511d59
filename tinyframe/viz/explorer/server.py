"""The explorer's web server: only for this computer, and only for those who have the token.

    server = Server(trace)
    server.start()
    server.url            # http://127.0.0.1:53111/Zm9v…/

It answers GET and HEAD requests for its own pages and for `ANSWERS`, if the path begins with the
token and the Host header names this server. So no other site's page can query it.
"""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import threading
import urllib.parse
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tinyframe.viz.explorer.answers import ANSWERS, BadQuery
from tinyframe.viz.explorer.store import TraceError
from tinyframe.viz.explorer.trace import Trace
from tinyframe.viz.layout import warm_up

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PATIENCE = 30  # seconds until an idle connection is closed
THREADS = 16  # each serves one connection at a time; a browser opens six


class Server(ThreadingHTTPServer):
    """Serves one trace, on a free port of the loopback interface.

    All threads start with it: since Python 3.12, none can be started once the script is done.
    """

    def __init__(self, trace: Trace, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.trace, self.token = trace, secrets.token_urlsafe(18)
        files = (Path(__file__).parent / "page").iterdir()
        self.pages = {f.name: (KINDS[f.suffix], f.read_bytes()) for f in files if f.suffix in KINDS}
        self.waiting: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        self.hosts = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def start(self) -> None:
        """Starts answering, in threads that end with the process."""
        # The first layout takes a second to compile WebAssembly, so do that before it is needed.
        for work in (self.serve_forever, warm_up, *[self.answer] * THREADS):
            threading.Thread(target=work, name="tinyframe explorer", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.waiting.put((request, client_address))

    def answer(self) -> None:
        while True:
            self.process_request_thread(*self.waiting.get())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores broken connections."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    timeout, protocol_version = PATIENCE, "HTTP/1.1"
    server_version, sys_version = "tinyframe", ""

    def do_GET(self) -> None:
        """Answers GET, and HEAD without the body."""
        try:
            status, kind, body = self._found()
        except Exception as error:  # better an error page than one that hangs
            is_asked, is_known = isinstance(error, BadQuery), isinstance(error, TraceError)
            code = HTTPStatus.BAD_REQUEST if is_asked else HTTPStatus.INTERNAL_SERVER_ERROR
            prefix = "" if is_asked or is_known else f"{type(error).__name__}: "
            status, kind, body = _error(code, f"{prefix}{error}")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def _found(self) -> tuple[HTTPStatus, str, bytes]:
        if self.headers.get("Host") not in self.server.hosts:
            return _error(HTTPStatus.FORBIDDEN, "the Host header does not name this server")
        url = urllib.parse.urlsplit(self.path)
        _, token, *rest = url.path.split("/", 2) if url.path.count("/") > 1 else ("", "", "")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return _error(HTTPStatus.FORBIDDEN, "open the address that tinyframe printed")
        name = rest[0] or "index.html"
        if name in self.server.pages:
            return HTTPStatus.OK, *self.server.pages[name]
        answer = ANSWERS.get(name.removeprefix("api/")) if name.startswith("api/") else None
        if answer is None:
            return _error(HTTPStatus.NOT_FOUND, "there is no such page")
        query = dict(urllib.parse.parse_qsl(url.query, max_num_fields=20))
        found = json.dumps(answer(self.server.trace, query))
        return HTTPStatus.OK, "application/json", found.encode()

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: the terminal belongs to the script."""


def _error(status: HTTPStatus, text: str) -> tuple[HTTPStatus, str, bytes]:
    return status, "application/json", json.dumps({"error": text}).encode()
