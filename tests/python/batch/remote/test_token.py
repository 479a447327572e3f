"""The access token is sent only to the course system, even if its answers redirect to other hosts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from grader.python.batch.remote.connection import make_adapter
from grader.python.common.console import UserError

requests = pytest.importorskip("requests")
TOKEN = "secret/4711"  # forms quote the slash


class Host:
    """A host that redirects everything to `target`, or answers "fine", and keeps what it received."""

    def __init__(self, target: str = ""):
        self.received: list[str] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                host.received.append(unquote(f"{self.path} {self.headers} {body}"))
                self.send_response(307 if target else 200)
                self.send_header("Location", target)
                self.send_header("Content-Length", "0" if target else "4")
                self.end_headers()
                self.wfile.write(b"" if target else b"fine")

            def do_POST(self) -> None:
                self.do_GET()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def other_host() -> Iterator[Host]:
    host = Host()
    yield host
    host.server.shutdown()


@pytest.fixture
def course_system(other_host: Host) -> Iterator[Host]:
    host = Host(other_host.url)
    yield host
    host.server.shutdown()


@pytest.mark.parametrize("is_redirect", [True, False])
def test_the_token_goes_to_no_other_host(course_system: Host, other_host: Host, is_redirect: bool) -> None:
    session = requests.Session()
    session.mount("http://", make_adapter(course_system.url, TOKEN))
    start = course_system.url if is_redirect else other_host.url
    answer = session.get(start, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.text == "fine" and len(other_host.received) == 1 and TOKEN not in other_host.received[0]
    with pytest.raises(UserError, match="does not get the access token"):
        session.post(start, data={"token": TOKEN})
    with pytest.raises(UserError, match="does not get the access token"):
        session.get(other_host.url, params={"token": TOKEN})
    assert len(other_host.received) == 1
    assert all(TOKEN in text for text in course_system.received)
