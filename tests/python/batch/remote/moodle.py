"""A simulated Moodle: the functions and the shapes of its documented web services that pull and push use, with
faults."""

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
from urllib.parse import parse_qsl, urlsplit

TOKEN = "0123456789abcdef"
TIME_S = 1_795_168_800  # 2026-11-20T10:00:00Z
# half: an upload is stored half; lost: done, but the answer does not arrive.
FAULTS = ("500", "429", "exception", "silent", "cut", "half", "lost")


class Moodle:
    """An assignment with the users' hand-ins. `share`: of requests that fail, but never more than twice in a row."""

    def __init__(self, share: float = 0.0, seed: int = 28):
        self.users: list[dict[str, Any]] = []
        self.submissions: list[dict[str, Any]] = []
        self.files: dict[int, bytes] = {}
        self.drafts: dict[int, dict[str, bytes]] = {}
        self.grades: dict[int, dict[str, Any]] = {}
        self.saved: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.chance, self.share, self.in_a_row = random.Random(seed), share, 0
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, number: int, username: str, name: str, *files: tuple[str, bytes], group: int = 0) -> None:
        groups = [{"id": group, "name": f"Team {group}"}] if group else []
        self.users.append(
            {"id": number, "username": username, "fullname": name, "email": f"{username}@x", "groups": groups}
        )
        if not files:
            return
        listed = []
        for path, content in files:
            self.files[len(self.files) + 1] = content
            folder, _, file = path.rpartition("/")
            url = f"{self.url}/webservice/pluginfile.php/{len(self.files)}/x"
            listed.append({"filename": file, "filepath": f"/{folder}/" if folder else "/", "filesize": len(content),
                           "fileurl": url, "timemodified": TIME_S})  # fmt: skip
        areas = [{"area": "submission_files", "files": listed}]
        plugins = [{"type": "onlinetext", "name": "Online text", "editorfields": []},
                   {"type": "file", "name": "File submissions", "fileareas": areas},
                   {"type": "comments", "name": "Submission comments"}]  # fmt: skip
        self.submissions.append({"id": number + 1000, "userid": 0 if group else number, "groupid": group,
                                 "attemptnumber": 0, "timemodified": TIME_S, "status": "submitted",
                                 "plugins": plugins, "gradingstatus": "notgraded"})  # fmt: skip

    def draw_fault(self) -> str:
        with self.lock:
            if self.in_a_row >= 2 or self.chance.random() >= self.share:
                self.in_a_row = 0
                return ""
            self.in_a_row += 1
            fault = self.chance.choice(FAULTS)
            self.faults[fault] += 1
            return fault

    def answer_call(self, given: dict[str, str]) -> Any:
        """Return the answer of a function, as Moodle does, with status 200 also for exceptions."""
        if given.get("wstoken") != TOKEN:
            return {
                "exception": "moodle_exception",
                "errorcode": "invalidtoken",
                "message": "Invalid token - not found",
            }
        match given["wsfunction"]:
            case "mod_assign_get_assignments":
                assert given["courseids[0]"] == "12"
                return {
                    "courses": [{"id": 12, "assignments": [{"id": 5, "cmid": 77, "name": "Lab 1"}]}],
                    "warnings": [],
                }
            case "core_enrol_get_enrolled_users":
                return self.users
            case "mod_assign_get_submissions":
                return {"assignments": [{"assignmentid": 5, "submissions": self.submissions}], "warnings": []}
            case "mod_assign_get_grades":
                grades = [
                    {"userid": user, "attemptnumber": 0, "grade": one["grade"]} for user, one in self.grades.items()
                ]
                return {"assignments": [{"assignmentid": 5, "grades": grades}] if grades else [], "warnings": []}
            case "mod_assign_get_submission_status":
                one = self.grades.get(int(given["userid"]))
                if not one:
                    return {"lastattempt": {}, "warnings": []}
                editor = [{"name": "comments", "text": one["comment"], "format": 1}]
                return {"feedback": {"plugins": [{"type": "comments", "editorfields": editor}]}, "warnings": []}
            case "mod_assign_save_grade":
                return self.save(given)
        return {"exception": "x", "errorcode": "accessexception", "message": given["wsfunction"]}

    def save(self, given: dict[str, str]) -> None:
        assert (given["assignmentid"], given["attemptnumber"], given["addattempt"]) == ("5", "-1", "0")
        user, area = int(given["userid"]), int(given.get("plugindata[files_filemanager]", 0))
        comment = given["plugindata[assignfeedbackcomments_editor][text]"]
        assert given["plugindata[assignfeedbackcomments_editor][format]"] == "1"
        self.grades[user] = {
            "grade": f"{float(given['grade']):.5f}",
            "comment": comment,
            "files": dict(self.drafts.get(area, {})),
        }
        self.saved[user] += 1


def make_handler(moodle: Moodle) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return None

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert TOKEN not in self.path
            fault = moodle.draw_fault()
            if fault in ("500", "429"):
                return self.send(int(fault), b"")
            if fault == "exception":
                return self.send(
                    200, b'{"exception": "dml_read_exception", "errorcode": "dmlreadexception", "message": "x"}'
                )
            if fault == "silent":
                self.close_connection = True
                return None
            with moodle.lock:
                content = self.find(urlsplit(self.path).path, body, half=fault == "half")
            if fault == "lost":
                self.close_connection = True
                return None
            return self.send(200, content, cut=fault == "cut")

        def send(self, status: int, content: bytes, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = self.close_connection or cut

        def find(self, path: str, body: bytes, half: bool) -> bytes:
            if path == "/webservice/rest/server.php":
                return json.dumps(moodle.answer_call(dict(parse_qsl(body.decode(), keep_blank_values=True)))).encode()
            if match := re.fullmatch(r"/webservice/pluginfile.php/(\d+)/x", path):
                assert dict(parse_qsl(body.decode()))["token"] == TOKEN
                return moodle.files[int(match[1])]
            assert path == "/webservice/upload.php"
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            parts = {part.get_param("name", header="content-disposition"): part
                     for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()}  # fmt: skip
            assert parts["token"].get_payload() == TOKEN
            area = int(parts["itemid"].get_payload()) or len(moodle.drafts) + 1
            name, content = parts["file"].get_filename(), parts["file"].get_payload(decode=True)
            content = content[: len(content) // 2] if half else content
            moodle.drafts.setdefault(area, {})[name] = content
            return json.dumps([{"itemid": area, "filename": name, "filesize": len(content)}]).encode()

    return Handler
