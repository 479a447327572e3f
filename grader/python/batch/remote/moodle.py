"""Fetch hand-ins from Moodle, and return grades and feedback, through its web services (mod_assign_*).

The folders of hand-ins are named after the students' user names. Moodle's own download numbers its folders, but the web
services do not return these numbers. Saving a grade replaces the earlier grade, comment and files, so repeating it adds
nothing. If Moodle already has a grade and its comment, they are not saved again, because Moodle may notify the student.
"""

from __future__ import annotations

import html
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.roster import alias_key, split_team
from grader.python.batch.ingest.times import read_seconds, show_time
from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.remote.connection import MISSING, make_adapter, reading_answers, require_secure, try_again
from grader.python.batch.remote.pull import (
    HAND_INS,
    MAX_NAME_BYTES,
    Pulled,
    drop_shared,
    keep_file,
    plain_name,
    prepare_folder,
)
from grader.python.batch.remote.push import NOT_STORED, Pushed, StudentResult
from grader.python.common.console import UserError, say_error
from grader.python.common.units import show_points

COLUMNS = ("id", "name", "email", "submitted", "extended until")
# Moodle's error codes for requests that it refuses.
REFUSED = ("invalidtoken", "accessexception", "nopermissions", "requireloginerror", "invalidrecord", "invalidparameter")
REFUSED += ("servicenotavailable", "userquotalimit", "upload_error_ini_size", "upload_error_form_size")
STORED = "filenameexist"  # Moodle's error code if the draft area already has a file of this name
NOT_HANDED_IN = ("new", "reopened")  # states of a submission without a hand-in
HTML_FORMAT = 1
MAX_FOLDER_BYTES = 255


class RefusedError(UserError):
    """Moodle refuses a request. Repeating the request would not help."""


class Moodle:
    """An assignment of a Moodle site. `module` is the number in the assignment's address."""

    of_teams = False  # whether groups hand in

    def __init__(self, url: str, token: str, course: int, module: int):
        require_secure(url)
        try:
            import requests
        except ImportError:
            raise UserError(MISSING) from None
        self.url, self.token, self.course = url.rstrip("/"), token, course
        self.session = requests.Session()
        for scheme in ("https://", "http://"):
            self.session.mount(scheme, make_adapter(url, token))
        listed = self.call("mod_assign_get_assignments", courseids=[course], includenotenrolledcourses=True)
        matching = [
            assignment
            for each in listed["courses"]
            for assignment in each["assignments"]
            if assignment["cmid"] == module
        ]
        if not matching:
            reason = "".join(f" Moodle's reason: {warning['message']}." for warning in listed.get("warnings", [])[:1])
            raise UserError(
                f"The course {course} has no assignment {module}. Give the id in the assignment's address.{reason}"
            )
        self.assignment, self.of_teams = matching[0]["id"], bool(matching[0].get("teamsubmission"))
        self.users = self.call("core_enrol_get_enrolled_users", courseid=course)

    def call(self, function: str, **parameters: Any) -> Any:
        """Call a function of the web services, several times if the call fails: the function must only read, or a
        repeated call must change nothing. Raises UserError."""
        return try_again(lambda: self.call_once(function, parameters), f"Moodle's {function}")

    def call_once(self, function: str, parameters: Mapping[str, Any]) -> Any:
        """Call a function of the web services. Raises UserError if Moodle refuses the call, and exceptions that
        try_again() catches if the call fails."""
        words = {"wstoken": self.token, "wsfunction": function, "moodlewsrestformat": "json"}
        answer = self.session.post(f"{self.url}/webservice/rest/server.php", data=words | flatten(parameters))
        answer.raise_for_status()
        return require_success(answer.json(), function)

    def fetch(self, file: Mapping[str, Any]) -> bytes:
        """Return a file's bytes. The token is not in the address, which servers log. Raises the same exceptions as
        call_once(), also if bytes are missing."""
        answer = self.session.post(file["fileurl"], data={"token": self.token})
        answer.raise_for_status()
        if len(answer.content) != file["filesize"]:
            require_success(answer.json(), "the download of files")
            raise ValueError("an incomplete file")
        return bytes(answer.content)

    def upload(self, name: str, content: bytes, area: int) -> int:
        """Upload a file to a draft area, a new one if `area` is 0, and return the area's number. PHP passes only
        complete files to Moodle, so a file of an earlier attempt is complete. Raises the same exceptions as
        call_once()."""
        answer = self.session.post(
            f"{self.url}/webservice/upload.php",
            data={"token": self.token, "filearea": "draft", "itemid": str(area)},
            files={"file": (name, content)},
        )
        answer.raise_for_status()
        (stored,) = require_success(answer.json(), "the upload of files")
        if stored.get("errortype") == STORED and area:
            return area
        if "error" in stored:
            raise UserError(f"Moodle does not accept {name}: {stored['error']}")
        return int(stored["itemid"])


def require_success(answer: Any, what: str) -> Any:
    """Return the answer to `what` if it is not an error. Raises RefusedError, or ValueError if another attempt may
    help. Functions return errors in the key "exception", and the pages for files in the key "error"."""
    if isinstance(answer, dict) and {"exception", "error"} & answer.keys():
        code = answer.get("errorcode")
        if code in REFUSED:
            raise RefusedError(f"Moodle refuses {what}: {answer.get('message') or answer.get('error') or code}")
        raise ValueError(code)
    return answer


def flatten(value: Any, name: str = "") -> dict[str, str]:
    """Return parameters as Moodle's REST interface expects them: courseids[0]=12."""
    if not isinstance(value, dict | list):
        return {name: str(int(value) if isinstance(value, bool) else value)}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    parameters: dict[str, str] = {}
    for key, item in pairs:
        parameters |= flatten(item, f"{name}[{key}]" if name else str(key))
    return parameters


def pull(moodle: Moodle, folder: Path) -> Pulled:
    """Write hand-ins/ and roster.csv. Do not fetch existing files again, and remove those that Moodle no longer has.
    Raises UserError, OSError."""
    (assignment,) = moodle.call("mod_assign_get_submissions", assignmentids=[moodle.assignment])["assignments"]
    handed_in: dict[int, Mapping[str, Any]] = {}
    pulled, expected, missing = Pulled(len(moodle.users)), dict[Path, Mapping[str, Any]](), []
    teams = list_teams(moodle) if moodle.of_teams else {}
    ids = ids_of(moodle.users)
    known_aliases = {alias_key(word) for user in moodle.users for word in (ids[user["id"]], user.get("email") or "")}
    is_complete = True
    for submission in assignment["submissions"]:
        try:
            with reading_answers():
                if moodle.of_teams and submission["userid"]:
                    continue  # it only states that a member took part; the group's submission has the files and time
                members = teams.get(submission["groupid"], []) if moodle.of_teams else members_of(moodle, submission)
                if submission["status"] not in NOT_HANDED_IN:
                    handed_in |= {user["id"]: submission for user in members}
                files = {plain_path(path_of(file)): file for file in list_files(submission)}
        except UserError:
            is_complete = False
            continue
        if moodle.of_teams and not members:
            missing += [
                f"{path} of the group {submission['groupid']}, whose members Moodle does not list" for path in files
            ]
        for team in folders_of(members, ids, known_aliases) if members else ():
            expected |= {Path(team) / path: file for path, file in files.items()}
    prepare_folder(folder, write_roster(moodle, handed_in, read_extensions(moodle)))
    pulled.files = len(expected)
    for path, file in expected.items():
        target = folder / HAND_INS / path
        try:
            with reading_answers():
                pulled.fetched += fetch_new(moodle, target, file)
        except RefusedError:
            raise
        except (UserError, OSError):  # for example because this file system does not accept the name
            missing.append(str(path))
    pulled.incomplete = frozenset(Path(file).parts[0] for file in missing)
    if is_complete:
        remove_others(folder / HAND_INS, {folder / HAND_INS / path for path in expected})
    else:
        missing.append("hand-ins that Moodle does not describe as documented")
    pulled.missing = tuple(missing)
    return pulled


def fetch_new(moodle: Moodle, target: Path, file: Mapping[str, Any]) -> bool:
    """Fetch a file and return True, unless this version was already fetched. Raises UserError, OSError, and the
    exceptions that reading_answers() catches."""
    size, time_s = version_of(file)
    if target.is_file() and (target.stat().st_size, int(target.stat().st_mtime)) == (size, time_s):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    keep_file(target, size, lambda: moodle.fetch(file))
    os.utime(target, (time_s, time_s))
    return True


def members_of(moodle: Moodle, submission: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the user who handed in, as a list with at most one element."""
    return [user for user in moodle.users if user["id"] == submission["userid"]]


def list_teams(moodle: Moodle) -> dict[int, list[Mapping[str, Any]]]:
    """Return the users by the number of the group for which they hand in. Moodle names no group for students who are in
    none of the assignment's groups or in several; these students are the default team, 0."""
    users = {user["id"]: user for user in moodle.users}
    teams: dict[int, list[Mapping[str, Any]]] = {}
    for participant in moodle.call("mod_assign_list_participants", assignid=moodle.assignment, groupid=0, filter=""):
        teams.setdefault(participant.get("groupid") or 0, []).append(users.get(participant["id"], participant))
    return teams


def list_files(submission: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the files of a hand-in."""
    plugins = [plugin for plugin in submission.get("plugins", []) if plugin["type"] == "file"]
    return [file for plugin in plugins for area in plugin.get("fileareas", []) for file in area.get("files", [])]


def path_of(file: Mapping[str, Any]) -> str:
    """Return a file's path in its hand-in."""
    return "/".join(filter(None, (file["filepath"].strip("/"), file["filename"])))


def version_of(file: Mapping[str, Any]) -> tuple[int, int]:
    """Return a file's size in bytes and its time in seconds since 1970. They identify its version, because a student
    can replace a file by another one with the same name."""
    time = read_seconds(file["timemodified"])
    return file["filesize"], int(time.timestamp()) if time else 0


def id_of(user: Mapping[str, Any]) -> str:
    """Return a user's id in the roster, which is also the name of the folder. Moodle shows user names only to people
    with permission to see all details of users, which teachers do not have by default."""
    return plain_name(user.get("username") or user.get("email") or f"user{user['id']}", MAX_NAME_BYTES)


def ids_of(users: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the users' ids in the roster, by their numbers. Users can change their addresses. If several users would
    have the same id, make their ids from their numbers, because they must not share a folder and a grade."""
    count = Counter(id_of(user).casefold() for user in users)
    return {user["id"]: id_of(user) if count[id_of(user).casefold()] == 1 else f"user{user['id']}" for user in users}


def folders_of(members: Sequence[Mapping[str, Any]], ids: Mapping[int, str], known_aliases: Set[str]) -> list[str]:
    """Return the name of a hand-in's folder, in the form in which `grade` reads teams. If this name would be too long,
    or if `grade` would read it as other students, return a folder for each member. `ids`: see ids_of();
    `known_aliases`: alias_key() of all ids and addresses in the course."""
    names = sorted(ids.get(member["id"]) or id_of(member) for member in members)
    team = "-".join(names)
    is_clear = split_team(team, known_aliases) == names and len(team.encode()) <= MAX_FOLDER_BYTES
    return [team] if is_clear else names


def plain_path(path: str) -> Path:
    return Path(*(plain_name(part, MAX_NAME_BYTES) for part in path.split("/")))


def remove_others(folder: Path, expected: set[Path]) -> None:
    """Remove all files in a folder except the `expected` ones, and the folders that are then empty."""
    for path in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else ():
        if path.is_file() and path not in expected:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)


def read_extensions(moodle: Moodle) -> dict[int, datetime]:
    """Return the end of each extension, by the user's number."""
    try:
        answer = moodle.call("mod_assign_get_user_flags", assignmentids=[moodle.assignment])
    except RefusedError as error:
        say_once(f"Extensions that Moodle grants are not known; use `extend`. {error}")
        return {}
    extensions: dict[int, datetime] = {}
    for flags in [each for listed in answer["assignments"] for each in listed["userflags"]]:
        try:
            with reading_answers():
                if until := read_seconds(flags["extensionduedate"]):
                    extensions[flags["userid"]] = until
        except UserError as error:
            say_once(f"The extension of a student is not known; use `extend`. {error}")
    return extensions


@cache
def say_once(problem: str) -> None:
    """Print a problem once, although `serve` pulls every minute."""
    say_error(problem)


def write_roster(moodle: Moodle, handed_in: Mapping[int, Mapping[str, Any]], extensions: Mapping[int, datetime]) -> str:
    """Return a roster of all users of the course, with the times of their hand-ins and extensions."""
    rows, ids = [list(COLUMNS)], ids_of(moodle.users)
    for user in moodle.users:
        submission = handed_in.get(user["id"])
        times = [read_seconds(submission.get("timemodified")) if submission else None, extensions.get(user["id"])]
        words = [ids[user["id"]], user.get("fullname", ""), user.get("email") or ""]
        rows.append([*words, *(show_time(time) if time else "" for time in times)])
    drop_shared(rows[1:], [COLUMNS.index(name) for name in ("id", "email")])
    return write_csv(rows)


def push(moodle: Moodle, returned: Mapping[str, StudentResult], send: bool) -> Pushed:
    """Send grades and feedback to Moodle, or only determine what would change. `returned`: the results by the users'
    ids in the roster."""
    numbers = {name.casefold(): number for number, name in ids_of(moodle.users).items()}
    grades, pushed = {} if moodle.of_teams else read_grades(moodle), Pushed()
    written: dict[int, tuple[StudentResult, str]] = {}
    for name, result in returned.items():
        number = numbers.get(name.casefold())
        if number is None:
            pushed.failed[result.student] = f"Moodle has no user {name} in this course."
            continue
        try:
            with reading_answers():
                change = push_one(moodle, number, result, grades.get(number), send)
        except UserError as error:
            pushed.failed[result.student] = f"{result.student}: {error}"
            continue
        if change:
            written[number] = result, change
        else:
            pushed.same += 1
    after = read_grades(moodle) if send and written and not moodle.of_teams else {}
    for number, (result, change) in written.items():
        grade = read_members_grade(moodle, number) if send and moodle.of_teams else after.get(number)
        if send and not equals_points(grade, result.points):
            pushed.failed[result.student] = f"{result.student}: Moodle did not store the grade: {change}. {NOT_STORED}"
        else:
            pushed.changes.append(f"{result.student}: {change}")
    return pushed


def read_grades(moodle: Moodle) -> dict[int, float]:
    """Return the grades by the users' numbers, without negative ones, which mean that there is no grade. In a group
    assignment, Moodle lists only the members who handed in themselves."""
    (assignment,) = moodle.call("mod_assign_get_grades", assignmentids=[moodle.assignment])["assignments"] or [{}]
    grades = {grade["userid"]: float(grade["grade"]) for grade in assignment.get("grades", [])}
    return {user: grade for user, grade in grades.items() if grade >= 0}


def read_members_grade(moodle: Moodle, user: int) -> float | None:
    """Return the grade of a member of a group; None if there is none, or if Moodle does not answer."""
    try:
        return grade_of(read_status(moodle, user))
    except UserError:
        return None


def read_status(moodle: Moodle, user: int) -> Any:
    """Return a user's hand-in, grade and feedback. Raises UserError."""
    return moodle.call("mod_assign_get_submission_status", assignid=moodle.assignment, userid=user)


def grade_of(status: Mapping[str, Any]) -> float | None:
    """Return the grade in a user's status; None if there is none."""
    grade = float((status.get("feedback", {}).get("grade") or {}).get("grade") or -1)
    return grade if grade >= 0 else None


def equals_points(grade: float | None, points: float | None) -> bool:
    """Return whether a grade equals these points, to the precision of a gradebook."""
    return grade is not None and points is not None and abs(grade - points) <= 0.005


def push_one(moodle: Moodle, user: int, result: StudentResult, before: float | None, send: bool) -> str:
    """Save a grade with feedback, unless Moodle has both. `before`: the grade in Moodle. Return a short description of
    the changes; empty if there are none. Raises UserError."""
    if result.points is None:
        return ""
    status = read_status(moodle, user)
    before = grade_of(status) if moodle.of_teams else before
    has_grade = equals_points(before, result.points)
    if has_grade and (not result.files or result.mark() in str(status.get("feedback", ""))):
        return ""
    words = [f"{'no grade' if before is None else show_points(before)} -> {show_points(result.points)}"] * (
        not has_grade
    )
    words += [f"feedback ({', '.join(sorted(result.files))})"] if result.files else []
    if send:
        area = 0
        for name, content in sorted(result.files.items()):
            area = try_again(lambda name=name, content=content, area=area: moodle.upload(name, content, area), name)
        text = f"<p>{html.escape(f'Your feedback is attached. ({result.mark()})')}</p>"
        moodle.call(
            "mod_assign_save_grade", assignmentid=moodle.assignment, userid=user, grade=show_points(result.points),
            attemptnumber=-1, addattempt=False, workflowstate="", applytoall=False,
            plugindata={"assignfeedbackcomments_editor": {"text": text, "format": HTML_FORMAT},
                        **({"files_filemanager": area} if area else {})},
        )  # fmt: skip
    return ", ".join(words)
