"""A course system's wrong, incomplete or endless answer for one student does not affect others, and a grade that the
system did not store is reported."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from grader.python.batch.remote import connection, moodle, pull, push
from grader.python.batch.remote.push import StudentResult
from grader.python.common.console import UserError

requests = pytest.importorskip("requests")
pytest.importorskip("canvasapi")
GRADES = {"7": StudentResult("ada", 12, {}), "8": StudentResult("bob", 9, {})}


class Assignment:
    """An assignment of Canvas. `change` changes the answer for user 7; `keeps` returns the value stored for a grade."""

    def __init__(
        self, change: Callable[[Any], None] = lambda _: None, keeps: Callable[[float], Any] = lambda grade: grade
    ):
        self.grades: dict[int, Any] = {7: None, 8: None}
        self.change, self.keeps = change, keeps

    def get_submission(self, user: int, **_: Any) -> Any:
        answer = SimpleNamespace(user_id=user, entered_score=self.grades[user], submission_comments=[])
        if user == 7:
            self.change(answer)
        answer.edit = lambda submission: self.store(answer.user_id, float(submission["posted_grade"]))
        return answer

    def store(self, user: int, grade: float) -> None:
        self.grades[user] = self.keeps(grade)


@pytest.mark.parametrize(
    ("name", "value"),
    [("user_id", 8), ("entered_score", "many")],
)
def test_a_wrong_answer_of_canvas_for_one_student_does_not_affect_others(
    without_pauses: None, name: str, value: object
) -> None:
    assignment = Assignment(lambda answer: setattr(answer, name, value))
    pushed = push.push(assignment, GRADES, send=True)
    assert assignment.grades == {7: None, 8: 9.0}
    assert set(pushed.failed) == {"ada"} and pushed.changes == ["bob: no grade -> 9"]


@pytest.mark.parametrize("keeps", [lambda _: None, lambda grade: min(grade, 10.0)])
def test_a_grade_that_canvas_does_not_store_is_reported(without_pauses: None, keeps: Callable[[float], Any]) -> None:
    pushed = push.push(Assignment(keeps=keeps), {"7": GRADES["7"]}, send=True)
    assert "it did not: " in pushed.failed["ada"] and not pushed.changes


class Site(moodle.Moodle):
    """A Moodle with two users. Like a real one, it stores only grades up to the maximum."""

    def __init__(self, status: Any = None):
        self.users = [{"id": 7, "username": "7"}, {"id": 8, "username": "8"}]
        self.assignment, self.status, self.grades = 5, status, dict[int, float]()

    def call(self, function: str, **parameters: Any) -> Any:
        if function == "mod_assign_get_grades":
            grades = [{"userid": user, "grade": str(grade)} for user, grade in self.grades.items()]
            return {"assignments": [{"grades": grades}]}
        if function == "mod_assign_get_submission_status":
            return self.status if parameters["userid"] == 7 else {}
        if float(parameters["grade"]) <= 10:
            self.grades[parameters["userid"]] = float(parameters["grade"])
        return None


def test_a_grade_that_moodle_does_not_store_is_reported() -> None:
    pushed = moodle.push(Site({}), GRADES, send=True)
    assert "did not store the grade: no grade -> 12" in pushed.failed["ada"]
    assert pushed.changes == ["bob: no grade -> 9"]


def test_a_wrong_answer_of_moodle_for_one_student_does_not_affect_others() -> None:
    site = Site([])
    site.grades[7] = 12.0
    files = {"7": StudentResult("ada", 12, {"feedback.txt": b""}), "8": GRADES["8"]}
    pushed = moodle.push(site, files, send=True)
    assert set(pushed.failed) == {"ada"} and site.grades == {7: 12.0, 8: 9.0}


def drip(write: Callable[[bytes], object]) -> None:
    write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        write(b"x")
        time.sleep(0.05)


def drip_headers(write: Callable[[bytes], object]) -> None:
    write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        write(b"X: y\r\n"[:1])
        time.sleep(0.05)


def inflate(write: Callable[[bytes], object]) -> None:
    content = gzip.compress(bytes(50_000_000))
    write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(content) + content)


@pytest.mark.parametrize("act", [drip, drip_headers, inflate])
def test_reading_of_an_endless_or_huge_answer_stops(act: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            act(self.wfile.write)

    monkeypatch.setattr(connection, "WHOLE_S", 0.3, raising=False)
    monkeypatch.setattr(connection, "MAX_ANSWER_BYTES", 10_000_000, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    session = requests.Session()
    session.mount("http://", connection.make_adapter(url, "secret"))
    try:
        with pytest.raises(UserError, match="does not end"):
            session.get(url)
    finally:
        server.shutdown()


def test_a_list_whose_pages_lead_to_each_other_ends(monkeypatch: pytest.MonkeyPatch, without_pauses: None) -> None:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            is_list = "/submissions" in self.path
            content = b"[]" if is_list else b'{"id": 34, "course_id": 12}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            if is_list:
                self.send_header("Link", f'<http://{self.headers["Host"]}{self.path}>; rel="next"')
            self.end_headers()
            self.wfile.write(content)

    monkeypatch.setattr(connection, "MAX_PAGES", 30, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assignment = connection.open_assignment(f"http://127.0.0.1:{server.server_port}", "secret", 12, 34)
    try:
        with pytest.raises(UserError, match="does not end"):
            pull.list_submissions(assignment)
    finally:
        server.shutdown()


@pytest.mark.parametrize("time", ["soon", 5, "9999-12-31T23:59:59Z", "2026-11-20T10:00:00", "1e400"])
def test_an_invalid_time_or_name_of_one_student_does_not_affect_the_roster(time: object) -> None:
    user = {"name": None, "sortable_name": None, "login_id": 5, "email": None}
    wrong = SimpleNamespace(user_id=7, user=user, submitted_at=time, cached_due_date=time)
    right = SimpleNamespace(user_id=8, user={"name": "Bob", "login_id": "b"}, submitted_at="2026-11-20T10:00:00Z")
    lines = pull.write_roster([wrong, right], "2026-11-20T10:00:00Z").splitlines()
    assert lines[1:] == ["5,,7,,,", "b,Bob,8,,2026-11-20T10:00:00Z,"]
    attachment = SimpleNamespace(id=1, display_name="a.zip")
    assert pull.name_file(wrong, attachment) == "student_7_1_a.zip"


def test_pauses_do_not_repeat_for_each_student_if_the_course_system_stops_answering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(connection.time, "sleep", pauses.append)
    monkeypatch.setattr(connection.RETRIES, "in_a_row", 0)
    attempts = []

    def fail(user: int, **_: Any) -> Any:
        attempts.append(user)
        raise requests.ConnectionError

    students = {str(number): StudentResult(f"u{number}", 12, {}) for number in range(100)}
    pushed = push.push(SimpleNamespace(get_submission=fail), students, send=True)
    assert len(pushed.failed) == 100
    retries = [pause for pause in pauses if pause in connection.RETRY_PAUSES_S]  # other threads may sleep, too
    assert sum(retries) <= connection.MAX_IN_A_ROW * sum(connection.RETRY_PAUSES_S)
    assert attempts.count(99) == 1
    assert push.push(Assignment(), GRADES, send=True).changes
    assert connection.RETRIES.wants_more_attempts()
