"""Downloads from a server on this machine that behaves badly: cut connections, wrong files."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tinyframe.nn import download
from tinyframe.nn.download import DownloadError, fetch

CONTENT = bytes(range(256)) * 4096  # 1 MiB
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT. cut: after so many bytes of each answer, the connection ends."""

    daemon_threads = True

    def __init__(self, cut=None, ranges=True, content=CONTENT, status=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cut, self.ranges, self.content, self.status = cut, ranges, content, status
        self.asked: list[str | None] = []  # the Range of each request

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/file.bin"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers["Range"]
        server.asked.append(wanted)
        if server.status is not None:
            self.send_error(server.status)
            return
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        begin = begin if server.ranges else 0
        body = server.content[begin:]
        self.send_response(206 if begin else 200)
        if begin:
            total = len(server.content)
            self.send_header("Content-Range", f"bytes {begin}-{total - 1}/{total}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if server.cut is None else body[: server.cut])

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(**options):
    server = Server(**options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.bin"


def get(path, *urls):
    return fetch(urls, path, SHA256, len(CONTENT))


def only(folder):
    return [entry.name for entry in folder.iterdir()]


def test_a_file_is_downloaded_once(tmp_path):
    path = tmp_path / "deep" / "file.bin"
    with serving() as server:
        assert get(path, server.url) == path and path.read_bytes() == CONTENT
        get(path, server.url)
        assert server.asked == [None]
    assert only(path.parent) == ["file.bin"]


def test_a_connection_that_is_cut_is_resumed_where_it_ended(tmp_path, path):
    with serving(cut=400_000) as server:
        get(path, server.url)
        assert server.asked == [None, "bytes=400000-", "bytes=800000-"]
    assert path.read_bytes() == CONTENT and only(tmp_path) == ["file.bin"]


def test_a_part_of_another_day_is_resumed(tmp_path, path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:1000])
    with serving() as server:
        get(path, server.url)
        assert server.asked == ["bytes=1000-"]
    assert path.read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_again(tmp_path, path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:1000])
    with serving(ranges=False) as server:
        get(path, server.url)
    assert path.read_bytes() == CONTENT


def test_a_part_that_is_wrong_or_too_long_is_not_kept(tmp_path, path):
    part = tmp_path / "file.bin.part"
    with serving() as server:
        for wrong in (b"x" * 1000, CONTENT + b"more", b"y" * len(CONTENT)):
            part.write_bytes(wrong)
            get(path, server.url, server.url)
            assert path.read_bytes() == CONTENT
            path.unlink()


def test_the_next_mirror_is_tried_and_goes_on_where_the_first_gave_up(path):
    with serving(status=404) as gone, serving(cut=0) as dead, serving() as good:
        get(path, gone.url, dead.url, good.url)
        assert len(gone.asked) == 1 and len(dead.asked) == download.TRIES
    assert path.read_bytes() == CONTENT


def test_a_server_in_trouble_is_asked_again_before_it_is_given_up(tmp_path):
    with serving(status=503) as server:
        with pytest.raises(DownloadError, match="503"):
            get(tmp_path / "file.bin", server.url)
        assert len(server.asked) == download.TRIES
    assert only(tmp_path) == []


def test_a_wrong_file_is_never_taken_for_the_right_one(path):
    same_size, longer = b"z" * len(CONTENT), CONTENT + b"more"
    with serving(content=same_size) as a, serving(content=longer) as b:
        with pytest.raises(DownloadError) as caught:
            get(path, a.url, b.url)
    assert "checksum" in str(caught.value) and "sends more than" in str(caught.value)
    assert not path.exists()


def test_a_file_that_is_there_with_another_checksum_is_downloaded_again(path):
    path.write_bytes(CONTENT[:-1])
    with serving() as server:
        get(path, server.url)
    assert path.read_bytes() == CONTENT


def test_an_interrupt_leaves_what_came_so_far_for_the_next_time(tmp_path, path, monkeypatch):

    @contextlib.contextmanager
    def interrupting(name, size):
        def show(have):
            if have >= 500_000:
                raise KeyboardInterrupt

        yield show

    with serving() as server:
        with monkeypatch.context() as patch:
            patch.setattr(download, "_shown", interrupting)
            with pytest.raises(KeyboardInterrupt):
                get(path, server.url)
        assert not path.exists()
        begun = (tmp_path / "file.bin.part").stat().st_size
        assert 500_000 <= begun < len(CONTENT)
        get(path, server.url)
        assert server.asked == [None, f"bytes={begun}-"]
    assert path.read_bytes() == CONTENT


def test_two_at_once_download_once(path):
    with serving() as server, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: get(path, server.url), range(2)))
        assert server.asked == [None]
    assert path.read_bytes() == CONTENT


def test_progress_is_shown_with_rich_and_without(tmp_path, monkeypatch, capsys):
    with serving() as server:
        get(tmp_path / "file.bin", server.url)
        monkeypatch.setitem(sys.modules, "rich", None)
        capsys.readouterr()
        get(tmp_path / "plain.bin", server.url)
    shown = capsys.readouterr().err
    assert "plain.bin" in shown and "1.0 of 1.0 MB" in shown
