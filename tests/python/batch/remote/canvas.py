"""A simulated Canvas: the part of its documented REST API that pull and push use, with faults."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 50
ASSIGNMENT = {"id": 34, "course_id": 12, "name": "Lab 1", "due_at": "2026-11-19T10:00:00Z"}
TOKEN = "1234~secret"
# throttled: Canvas refuses because of too many requests; half: only half of an upload is stored; lost: the request is
# executed, but its answer does not arrive.
FAULTS = ("500", "429", "throttled", "silent", "cut", "half", "lost")


class Canvas:
    """An assignment with the students' submissions. `share` is the fraction of requests that fail, each in a random
    way, but never more than twice in a row for one path."""

    def __init__(self, share: float = 0.0, seed: int = 28):
        self.submissions: dict[int, dict[str, Any]] = {}
        self.files: dict[int, bytes] = {}
        self.uploads: dict[int, tuple[str, bytes]] = {}
        self.chance, self.share = random.Random(seed), share
        self.is_down = False  # whether every request fails
        self.in_a_row: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.writes: Counter[int] = Counter()
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, number: int, name: str, login: str, *files: tuple[str, bytes], late: bool = False) -> None:
        attachments = []
        for display_name, content in files:
            file = 500_000 + len(self.files)
            self.files[file] = content
            attachments.append({"id": file, "display_name": display_name, "filename": display_name.replace(" ", "+"),
                                "size": len(content), "content-type": "application/zip",
                                "url": f"{self.url}/files/{file}/download"})  # fmt: skip
        last, _, first = name.partition(" ")
        user = {"id": number, "name": name, "sortable_name": f"{first}, {last}", "login_id": login}
        self.submissions[number] = {
            "id": number + 10**6, "user_id": number, "assignment_id": 34, "course_id": 12, "user": user, "late": late,
            "submitted_at": "2026-11-20T10:00:00Z" if files else None, "excused": False,
            "score": None, "entered_score": None, "attachments": attachments, "submission_comments": [],
        }  # fmt: skip

    def draw_fault(self, path: str) -> str:
        if self.is_down:
            return "500"
        with self.lock:
            if self.in_a_row[path] >= 2 or self.chance.random() >= self.share:
                self.in_a_row[path] = 0
                return ""
            self.in_a_row[path] += 1
            fault = self.chance.choice(FAULTS)
            self.faults[fault] += 1
            return fault


def make_handler(canvas: Canvas) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return None

        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["Content-Length"])))

        do_PUT = do_POST  # noqa: N815 - the name is the library's

        def answer(self, body: bytes) -> None:
            path = urlsplit(self.path).path
            fault = canvas.draw_fault(path)
            if fault in ("500", "429"):
                return self.send(int(fault), b'{"errors": [{"message": "x"}]}')
            if fault == "throttled":
                return self.send(403, b"403 Forbidden (Rate Limit Exceeded)")
            if fault == "silent":
                self.close_connection = True
                return None
            with canvas.lock:
                status, content, headers = self.find(path, body)
                if fault == "half" and (match := re.fullmatch(r"/upload/(\d+)", path)):
                    content = self.halve(int(match[1]))
            if fault == "lost":
                self.close_connection = True
                return None
            return self.send(status, content, headers, cut=fault == "cut")

        def send(self, status: int, content: bytes, headers: dict[str, str] | None = None, cut: bool = False) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = self.close_connection or cut

        def find(self, path: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
            if not path.startswith("/upload/") and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return 401, b'{"errors": [{"message": "Invalid access token."}]}', {"WWW-Authenticate": "Bearer"}
            if match := re.fullmatch(r"/files/(\d+)/download", path):
                return 200, canvas.files[int(match[1])], {}
            if match := re.fullmatch(r"/upload/(\d+)", path):
                return self.take_upload(int(match[1]), body)
            if path == "/api/v1/courses/12":
                return 200, json.dumps({"id": 12, "name": "CS 5xx"}).encode(), {}
            if path == "/api/v1/courses/12/assignments/34":
                return 200, json.dumps(ASSIGNMENT).encode(), {}
            if path == "/api/v1/courses/12/assignments/34/submissions":
                return self.list_page()
            match = re.fullmatch(r"/api/v1/courses/12/assignments/34/submissions/(\d+)(/comments/files)?", path)
            if not match or int(match[1]) not in canvas.submissions:
                return 404, b'{"errors": [{"message": "The specified resource does not exist."}]}', {}
            submission = canvas.submissions[int(match[1])]
            if match[2]:
                file = 900_000 + len(canvas.uploads)
                canvas.uploads[file] = (parse_qs(body.decode())["name"][0], b"")
                output = {"upload_url": f"{canvas.url}/upload/{file}", "upload_params": {"key": "k"}}
                return 200, json.dumps(output).encode(), {}
            if body:
                self.write(submission, parse_qs(body.decode()))
            return 200, json.dumps(submission).encode(), {}

        def list_page(self) -> tuple[int, bytes, dict[str, str]]:
            page = int(parse_qs(urlsplit(self.path).query).get("page", ["1"])[0])
            submissions = list(canvas.submissions.values())[(page - 1) * PAGE : page * PAGE]
            path = urlsplit(self.path).path
            more = {"Link": f'<{canvas.url}{path}?page={page + 1}>; rel="next"'} if len(submissions) == PAGE else {}
            return 200, json.dumps(submissions).encode(), more

        def take_upload(self, file: int, body: bytes) -> tuple[int, bytes, dict[str, str]]:
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            parts = list(BytesParser(policy=HTTP).parsebytes(head + body).iter_parts())
            (content,) = [part.get_payload(decode=True) for part in parts if part.get_filename()]
            canvas.uploads[file] = (canvas.uploads[file][0], content)
            output = {"id": file, "url": f"{canvas.url}/files/{file}", "size": len(content)}
            return 201, json.dumps(output).encode(), {}

        def halve(self, file: int) -> bytes:
            name, content = canvas.uploads[file]
            canvas.uploads[file] = (name, content[: len(content) // 2])
            return json.dumps({"id": file, "url": f"{canvas.url}/files/{file}", "size": len(content) // 2}).encode()

        def write(self, submission: dict[str, Any], fields: dict[str, list[str]]) -> None:
            canvas.writes[submission["user_id"]] += 1
            if grade := fields.get("submission[posted_grade]"):
                submission["entered_score"] = submission["score"] = float(grade[0])
            if text := fields.get("comment[text_comment]"):
                files = [int(number) for number in fields.get("comment[file_ids][]", [])]
                attached = [{"display_name": canvas.uploads[file][0], "id": file} for file in files]
                submission["submission_comments"].append({"comment": text[0], "attachments": attached})

    return Handler
