"""A simulated Moodle: the functions of its web services that pull and push use, with faults.

The shapes are those of Moodle's source (github.com/moodle/moodle): mod/assign/externallib.php at commit da5455238d1a
(get_assignments, get_submissions, get_submission_status, get_user_flags, save_grade, list_participants),
mod/assign/locallib.php (which group a student hands in for), user/lib.php (who sees user names),
lib/external/classes/util.php at 0392551bcbdb (files), webservice/upload.php at 068904f73b2f,
webservice/pluginfile.php at 07cc3d11e208, and the errors of both in lib/classes/output/core_renderer_ajax.php of Moodle
4.5 and later.
"""

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
# half: only half of an upload arrives, which PHP refuses; lost: the request is executed, but its answer does not
# arrive.
FAULTS = ("500", "429", "exception", "silent", "cut", "half", "lost")


class Moodle:
    """An assignment with the users' hand-ins. `share` is the fraction of requests that fail, but never more than two in
    a row."""

    def __init__(self, share: float = 0.0, seed: int = 28):
        self.users: list[dict[str, Any]] = []
        self.extensions: dict[int, Any] | None = {}  # by user; None if the administrator did not enable the function
        self.of_teams, self.shows_names, self.gives_files, self.is_enrolled = False, True, True, True
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
        self.of_teams = self.of_teams or bool(group)
        if not files:
            return
        entries = []
        for path, content in files:
            self.files[len(self.files) + 1] = content
            folder, _, file = path.rpartition("/")
            url = f"{self.url}/webservice/pluginfile.php/{len(self.files)}/x"
            entries.append({"filename": file, "filepath": f"/{folder}/" if folder else "/", "filesize": len(content),
                           "fileurl": url, "timemodified": TIME_S, "mimetype": "text/plain",
                           "isexternalfile": False})  # fmt: skip
        areas = [{"area": "submission_files", "files": entries}]
        plugins = [{"type": "onlinetext", "name": "Online text", "editorfields": []},
                   {"type": "file", "name": "File submissions", "fileareas": areas},
                   {"type": "comments", "name": "Submission comments"}]  # fmt: skip
        self.add_submission(0 if group else number, group, "submitted", TIME_S, plugins)

    def add_submission(self, user: int, group: int, status: str, time_s: int, plugins: list[dict[str, Any]]) -> None:
        """Add a submission of a user, of a group (user 0), or of the default team (both 0)."""
        self.submissions.append({"id": len(self.submissions) + 1000, "userid": user, "groupid": group,
                                 "attemptnumber": 0, "timecreated": time_s, "timemodified": time_s,
                                 "timestarted": None, "status": status, "plugins": plugins,
                                 "gradingstatus": "notgraded"})  # fmt: skip

    def draw_fault(self) -> str:
        with self.lock:
            if self.in_a_row >= 2 or self.chance.random() >= self.share:
                self.in_a_row = 0
                return ""
            self.in_a_row += 1
            fault = self.chance.choice(FAULTS)
            self.faults[fault] += 1
            return fault

    def answer_call(self, parameters: dict[str, str]) -> Any:
        """Return a function's answer. As in Moodle, exceptions have status 200, too."""
        if parameters.get("wstoken") != TOKEN:
            return {
                "exception": "moodle_exception",
                "errorcode": "invalidtoken",
                "message": "Invalid token - not found",
            }
        match parameters["wsfunction"]:
            case "mod_assign_get_assignments":
                assert (parameters["courseids[0]"], parameters["includenotenrolledcourses"]) == ("12", "1")
                if not self.is_enrolled:
                    warning = {"item": "course", "itemid": 12, "warningcode": "1",
                               "message": "No access rights in course context Not enrolled"}  # fmt: skip
                    return {"courses": [], "warnings": [warning]}
                assignment = {"id": 5, "cmid": 77, "name": "Lab 1", "teamsubmission": int(self.of_teams)}
                return {"courses": [{"id": 12, "assignments": [assignment]}], "warnings": []}
            case "core_enrol_get_enrolled_users":
                hidden = () if self.shows_names else ("username",)
                return [{key: value for key, value in user.items() if key not in hidden} for user in self.users]
            case "mod_assign_get_user_flags" if self.extensions is not None:
                flags = [{"id": user, "userid": user, "locked": 0, "mailed": 0, "extensionduedate": time_s,
                          "workflowstate": "", "allocatedmarker": 0}
                         for user, time_s in self.extensions.items()]  # fmt: skip
                return {"assignments": [{"assignmentid": 5, "userflags": flags}] if flags else [], "warnings": []}
            case "mod_assign_list_participants":
                assert (parameters["assignid"], parameters["groupid"], parameters["filter"]) == ("5", "0", "")
                return [self.list_participant(user) for user in self.users]
            case "mod_assign_get_submissions":
                return {"assignments": [{"assignmentid": 5, "submissions": self.submissions}], "warnings": []}
            case "mod_assign_get_grades":
                submitters = {submission["userid"] for submission in self.submissions}
                grades = [
                    {"userid": user, "attemptnumber": 0, "grade": grade["grade"]}
                    for user, grade in self.grades.items()
                    if user in submitters
                ]
                return {"assignments": [{"assignmentid": 5, "grades": grades}] if grades else [], "warnings": []}
            case "mod_assign_get_submission_status":
                grade = self.grades.get(int(parameters["userid"]))
                if not grade:
                    return {"lastattempt": {}, "warnings": []}
                editor = [{"name": "comments", "text": grade["comment"], "format": 1}]
                feedback = {"grade": {"userid": int(parameters["userid"]), "attemptnumber": 0, "grade": grade["grade"]},
                            "gradefordisplay": grade["grade"], "gradeddate": TIME_S,
                            "plugins": [{"type": "comments", "editorfields": editor}]}  # fmt: skip
                return {"lastattempt": {}, "feedback": feedback, "warnings": []}
            case "mod_assign_save_grade":
                return self.save(parameters)
        return {"exception": "x", "errorcode": "accessexception", "message": parameters["wsfunction"]}

    def list_participant(self, user: dict[str, Any]) -> dict[str, Any]:
        """Return a participant, with the group if there is exactly one."""
        (group,) = user["groups"] if len(user["groups"]) == 1 else ({},)
        group_fields = {"groupid": group["id"], "groupname": group["name"]} if group else {}
        return {"id": user["id"], "fullname": user["fullname"], "submitted": False, "recordid": -1, **group_fields}

    def save(self, parameters: dict[str, str]) -> None:
        assert (parameters["assignmentid"], parameters["attemptnumber"], parameters["addattempt"]) == ("5", "-1", "0")
        user, area = int(parameters["userid"]), int(parameters.get("plugindata[files_filemanager]", 0))
        comment = parameters["plugindata[assignfeedbackcomments_editor][text]"]
        assert parameters["plugindata[assignfeedbackcomments_editor][format]"] == "1"
        self.grades[user] = {
            "grade": f"{float(parameters['grade']):.5f}",
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
                if not moodle.gives_files:
                    return make_error("accessexception", "Access control exception (Enable direct download)")
                return moodle.files[int(match[1])]
            assert path == "/webservice/upload.php"
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            parts = {part.get_param("name", header="content-disposition"): part
                     for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()}  # fmt: skip
            assert parts["token"].get_payload() == TOKEN
            if "filearea" not in parts or parts["filearea"].get_payload() != "draft":
                return make_error("privatefilesupload", "Uploading to the private files area is no longer supported.")
            if not moodle.gives_files:
                return make_error("accessexception", "Access control exception (Web service file upload)")
            if half:
                return make_error("upload_error_partial", "The uploaded file was only partially uploaded.")
            area = int(parts["itemid"].get_payload()) or len(moodle.drafts) + 1
            name, content = parts["file"].get_filename(), parts["file"].get_payload(decode=True)
            if name in moodle.drafts.get(area, {}):
                error = {"errortype": "filenameexist", "error": f"File name already exists: {name}"}
                return json.dumps([{"filename": name, "filepath": "/tmp/phpaK3b2c", **error}]).encode()
            moodle.drafts.setdefault(area, {})[name] = content
            return json.dumps([{"component": "user", "contextid": 21, "userid": 3, "filearea": "draft",
                                "filename": name, "filepath": "/", "itemid": area, "license": "unknown",
                                "author": "Grace Grader", "source": "O:8:\"stdClass\":0:{}"}]).encode()  # fmt: skip

    return Handler


def make_error(code: str, message: str) -> bytes:
    """Return an error of the pages that serve or receive files; the answer has status 200."""
    error = {"error": message, "errorcode": code, "stacktrace": None, "debuginfo": None, "reproductionlink": None}
    return json.dumps(error).encode()
