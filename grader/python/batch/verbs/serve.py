"""Grade hand-ins as they arrive, show students the queue, and return results to the course system.

The main thread owns the database. In turn, it examines the folder, collects finished grades, and exchanges data with
the course system. After a restart, the database shows how to continue: hand-ins without a status wait, and the table
`queue` contains their order.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from grader.python.batch.grade.grading_pool import GradingPool, open_grading_pool
from grader.python.batch.grade.judge import try_judge
from grader.python.batch.grade.progress import predict_s, show_duration
from grader.python.batch.grade.run import keep, only_one
from grader.python.batch.grade.slurm import require_no_tasks
from grader.python.batch.grade.versions import hash_judging
from grader.python.batch.ingest.folders import DATABASE
from grader.python.batch.ingest.roster import read_rosters
from grader.python.batch.ingest.settling import FolderWatcher
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.outputs.queue import Line, QueueState, make_queue_page, make_queue_text, show_place
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.attempts import Limits
from grader.python.batch.remote.exchange import MAX_PAUSE_S, Exchange
from grader.python.batch.remote.pull import HAND_INS, ROSTER, Pulled
from grader.python.batch.remote.push import Pushed, StudentResult, describe_deductions
from grader.python.batch.store.database import Database
from grader.python.batch.store.queue import (
    add_held_note,
    enter_arrivals,
    find_codes,
    list_graded,
    list_waiting,
    mark_graded,
    mean_wall_s,
)
from grader.python.batch.store.rows import Graded, in_words
from grader.python.batch.store.settings import Settings
from grader.python.batch.verbs.grade import (
    enter_roster,
    make_settings,
    rename,
    require_folders,
    separate_strangers,
    store_settings,
    stored_roster,
)
from grader.python.batch.verbs.remote import collect, fetch, send
from grader.python.common.console import UserError, explain_os_error, say, say_error, write_atomically
from grader.python.common.labs import choose_labs
from grader.python.common.units import plural

TICK_S = 0.5  # duration of a round without results
SCAN_S = 60.0  # between two scans of a folder that does not change
OUTPUTS_S = 20.0  # minimum time between two writes of all outputs while hand-ins are graded
BUSY_DIVISOR = 10  # scanning, and writing all outputs, each take at most 1 / BUSY_DIVISOR of the time
INCOMPLETE_S = 60.0  # an incomplete archive is graded when unchanged for this time; not used with --settle-s 0
SHOWN_GRADED = 20  # graded hand-ins on the queue's page


def serve(options: argparse.Namespace) -> int:
    """Grade hand-ins as they arrive, until a signal ends the command. Return the exit status."""
    is_remote = bool(options.canvas or options.moodle)
    if is_remote and not (options.course and options.assignment):
        raise UserError("A course system needs --course and --assignment, the numbers in the assignment's address.")
    if options.send and not is_remote:
        raise UserError("--send needs a course system: --canvas URL or --moodle URL.")
    (lab,) = choose_labs(options.root, [options.lab])
    options.submissions = options.folder / HAND_INS if is_remote else options.folder
    if is_remote:
        options.roster = [options.folder / ROSTER, *(options.roster or [])]
    else:
        require_folders(options)
        if not options.folder.is_dir():
            raise UserError(f"{options.folder} is not a folder. serve needs the folder in which hand-ins arrive.")
        options.roster = options.roster or ([] if options.no_roster else stored_roster(options.out))
    settings = make_settings(options, lab)
    with only_one(options.out):
        say("Checking that the judge works here …", flush=True)
        trial = try_judge(settings)
        database = Database(options.out / DATABASE)
        require_no_tasks(database)
        store_settings(database, settings, options)
        database.set_values(warplab=trial.warplab, backend=trial.backend, sandbox=trial.sandbox)
        with open_grading_pool(settings, trial.backend, options.jobs) as grading:
            return Server(options, settings, database, grading, is_remote).run()


class Server:
    """The main loop of `serve`, and its state."""

    def __init__(
        self, options: argparse.Namespace, settings: Settings, database: Database, grading: GradingPool, is_remote: bool
    ):
        self.options, self.settings, self.database, self.grading = options, settings, database, grading
        self.limits = Limits(options.attempts, options.attempts_a_day)
        self.settle_s = 0 if is_remote else options.settle_s  # files from a course system are complete
        self.watcher = FolderWatcher(options.submissions)
        self.pulling: Exchange[Pulled] | None = Exchange(options.every_s) if is_remote else None
        self.pushing: Exchange[Pushed] | None = Exchange(options.every_s) if options.send else None
        self.sending: dict[str, str] = {}  # by student: the marks of the results that the running push sends
        self.not_before: dict[str, float] = {}  # by student: the earliest time for the next attempt to return results
        self.incomplete: frozenset[str] = frozenset()  # students with files that could not be fetched
        self.queue = options.queue or options.out / "queue"
        self.stops = 0  # number of signals received
        self.has_changed = True  # whether a scan is necessary
        self.is_draining = False  # whether no hand-in may begin until those in progress are graded
        self.scanned_s, self.scan_took_s = -SCAN_S, 0.0
        self.ready: dict[str, Submission] = {}  # by key: hand-ins of the latest scan that may be graded
        self.arriving = 0  # number of hand-ins whose files may not be complete
        self.held: dict[str, tuple[str, str]] = {}  # by key: fingerprint and codes of a hand-in beyond the limit
        self.postponed: dict[str, str] = {}  # by key: fingerprint of a hand-in that looked incomplete
        self.must_write, self.wrote_s, self.writing_took_s = True, -OUTPUTS_S, 0.0
        self.must_send = True
        self.problem = self.page_problem = ""
        self.shown: tuple[object, ...] = ()

    def run(self) -> int:
        """Serve until a signal arrives, then wait until the hand-ins in progress have results. A second signal stops
        these, too: they are graded again after the next start."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        say(f"Serving {self.options.submissions}. The queue: {self.queue / 'queue.html'}", flush=True)
        self.show()  # raises UserError or OSError now, when the instructor is watching
        while not self.stops or self.grading.list_begun():
            self.step()
        if self.must_write:
            self.write()
        self.update_queue_page(is_over=True)
        say(
            f"Stopped. {plural(len(list_waiting(self.database)), 'hand-in')} waiting. Run the same command to continue."
        )
        return 0

    def stop(self, *_: object) -> None:
        """Handle a signal."""
        self.stops += 1
        if self.stops > 1:
            raise KeyboardInterrupt

    def step(self) -> None:
        """Do one round: examine the folder, collect grades, and exchange data with the course system."""
        self.pull()
        self.try_step(self.read_folder_if_changed)
        self.feed()
        started_s = time.monotonic()
        for key, graded in self.grading.take(TICK_S):
            if graded:
                self.keep(graded)
            else:
                self.postponed[key] = self.ready[key].fingerprint if key in self.ready else ""
            self.has_changed = True
        self.feed()  # before writing, which takes long, so that no judge is idle meanwhile
        if self.must_write and (not self.grading.list_begun() or self.is_time_to_write()):
            self.write()
        self.try_step(self.push)
        self.update_queue_page()
        time.sleep(max(0.0, started_s + TICK_S - time.monotonic()) if not self.grading.list_begun() else 0)

    def try_step(self, act: Callable[[], None]) -> None:
        """Call a function that may fail temporarily: an instructor may be editing the roster, or a folder may not be
        mounted. Print the same error only once."""
        try:
            act()
        except (UserError, OSError) as error:
            problem = explain_os_error(error) if isinstance(error, OSError) else str(error)
            if problem != self.problem:
                say_error(problem)
            self.problem = problem

    # Enter hand-ins

    def pull(self) -> None:
        """Fetch hand-ins from the course system at intervals."""
        if not self.pulling:
            return
        if self.pulling.is_due() and not self.stops:
            self.pulling.start(lambda: fetch(self.options))
        pulled = self.pulling.take()
        if self.pulling.error and not self.pulling.is_running():
            self.say_failure(self.pulling)
        if pulled:
            self.incomplete = pulled.incomplete
            self.has_changed = True
            if pulled.missing:
                say_error(f"Not fetched ({len(pulled.missing)}): {', '.join(pulled.missing)}. serve will try again.")

    def say_failure(self, exchange: Exchange[Pulled] | Exchange[Pushed]) -> None:
        """Print an error of the course system, once."""
        say_error(f"{exchange.error} (failure {exchange.failures}; serve will try again)")
        exchange.error = ""

    def read_folder_if_changed(self) -> None:
        """Enter hand-ins that arrived, if the folder changed. Raises UserError, OSError."""
        if self.pulling and (self.pulling.is_running() or not self.options.submissions.is_dir()):
            return  # a student's files may be incomplete
        self.has_changed |= self.watcher.update()
        since_s = time.monotonic() - self.scanned_s
        if since_s < BUSY_DIVISOR * self.scan_took_s or not (self.has_changed or self.arriving or since_s >= SCAN_S):
            return
        begin, self.has_changed = time.monotonic(), True  # if the scan fails, it is repeated
        self.is_draining = not self.scan()
        self.has_changed, self.problem = self.is_draining, ""
        self.scanned_s = time.monotonic()
        self.scan_took_s = self.scanned_s - begin

    def scan(self) -> bool:
        """Read the folder, and enter the hand-ins that may be graded. Return False without entering any if hand-ins in
        progress would get other keys. Then no further hand-in begins until those are graded."""
        roster = read_rosters(self.options.roster)
        ids, busy = {student.id for student in roster}, set(self.grading.list_begun())
        if busy & set(self.database.find_displaced(ids)):
            return False
        separate_strangers(self.options.out, ids)
        submissions, left_out = find_submissions(
            self.options.submissions, self.settings.lab, roster, self.options.out, self.database.earlier_submissions()
        )
        if busy & {key for key, _ in self.database.find_renamed(submissions)}:
            return False
        rename(self.database, self.settings.folder, submissions, ids)
        settled = [submission for submission in submissions if self.is_complete(submission)]
        self.arriving = len(submissions) - len(settled)
        self.enter([submission for submission in settled if submission.key not in busy])
        self.must_write |= enter_roster(self.database, roster)
        self.database.set_values(left_out=left_out)
        return True

    def is_complete(self, submission: Submission) -> bool:
        """Return whether all files of a hand-in have arrived."""
        names = {submission.key_without_roster, *(entry.name for entry in submission.entries)}
        return not names & self.incomplete and self.watcher.unchanged_s(submission.entries) >= self.settle_s

    def enter(self, submissions: Sequence[Submission]) -> None:
        """Enter the hand-ins that may be graded. Those beyond the limit of attempts only get a note for the student."""
        states = {
            key: (fingerprint, status)
            for key, fingerprint, status in self.database.query("SELECT key, fingerprint, status FROM submissions")
        }
        beyond_limit: dict[str, tuple[str, str]] = {}
        allowed = []
        for submission in submissions:
            fingerprint, status = states.get(submission.key, ("", ""))
            is_new = status not in ("", "not_submitted") and fingerprint != submission.fingerprint
            reason = (
                self.limits.explain_reached_limit(self.database, submission.key, submission.members) if is_new else ""
            )
            if not reason:
                allowed.append(submission)
                continue
            beyond_limit[submission.key] = (submission.fingerprint, find_codes(submission.entries))
            if self.held.get(submission.key) != beyond_limit[submission.key]:
                say(f"{submission.key}: kept but not graded, beyond the limit of attempts", flush=True)
                add_held_note(self.database, submission.key, reason)
                self.must_write = True
        self.held = beyond_limit
        self.database.enter(allowed)
        enter_arrivals(self.database, allowed)
        self.ready = {submission.key: submission for submission in allowed}

    # Grade hand-ins

    def feed(self) -> None:
        """Begin to grade the next hand-ins of the queue."""
        if self.stops or self.is_draining or not self.grading.has_room():
            return
        waiting = {submission.key: submission for submission in self.database.waiting()}
        for place in list_waiting(self.database):
            submission = waiting.get(place.key)  # None if `drop --undo` has just been used
            if submission and self.grading.has_room() and self.may_begin(submission):
                self.grading.start(submission, skip_unfinished=self.may_be_incomplete(submission))

    def may_begin(self, submission: Submission) -> bool:
        """Return whether a waiting hand-in can be read now: it is unchanged since the latest scan, or the batch has a
        copy."""
        if submission.key in self.grading.list_begun() or (
            self.postponed.get(submission.key) == submission.fingerprint and self.may_be_incomplete(submission)
        ):
            return False
        scanned = self.ready.get(submission.key)
        return submission.graded_notes is not None or (
            scanned is not None and scanned.fingerprint == submission.fingerprint
        )

    def may_be_incomplete(self, submission: Submission) -> bool:
        """Return whether an archive that looks incomplete may still be arriving."""
        return self.settle_s > 0 and self.watcher.unchanged_s(submission.entries) < INCOMPLETE_S

    def keep(self, graded: Graded) -> None:
        """Store a result."""
        keep(self.database, graded, hash_judging(self.settings.root, self.settings.lab))
        mark_graded(self.database, graded.key)
        self.must_write = True
        waiting = len(list_waiting(self.database))
        say(f"{graded.key}: {in_words(graded.status)}, {graded.wall_s:.1f} s; {waiting} left", flush=True)

    # Write and return results

    def is_time_to_write(self) -> bool:
        return time.monotonic() - self.wrote_s >= max(OUTPUTS_S, BUSY_DIVISOR * self.writing_took_s)

    def write(self) -> None:
        """Write gradebook, feedback and page."""
        begin = time.monotonic()
        write_outputs(self.database, self.settings)
        self.wrote_s = time.monotonic()
        self.writing_took_s = self.wrote_s - begin
        self.must_write, self.must_send = False, True

    def push(self) -> None:
        """Send the results that the course system does not have."""
        if not self.pushing:
            return
        pushed = self.pushing.take()
        if self.pushing.error and not self.pushing.is_running():
            self.must_send = True
            self.say_failure(self.pushing)
        if pushed:
            self.store_pushed(pushed)
        has_roster = self.options.roster[0].is_file()  # False before the first pull
        is_written = not self.must_write  # otherwise, the feedback is older than the points in the database
        if self.must_send and is_written and has_roster and self.pushing.is_due() and not self.stops:
            self.start_push(self.pushing)

    def start_push(self, pushing: Exchange[Pushed]) -> None:
        """Begin to send the results that changed after they were last sent."""
        returned, _ = collect(self.database, self.options)
        before, time_s = self.database.read_value("pushed") or {}, time.monotonic()
        new = {
            name: result
            for name, result in returned.items()
            if before.get(result.student) != mark_result(result) and self.not_before.get(result.student, 0) <= time_s
        }
        self.must_send = any(self.not_before.get(result.student, 0) > time_s for result in returned.values())
        self.sending = {result.student: mark_result(result) for result in new.values()}
        if new:
            pushing.start(lambda: send(self.options, self.settings.folder, new))

    def store_pushed(self, pushed: Pushed) -> None:
        """Print what was returned, and store which results the course system has."""
        for line in pushed.changes:
            say(f"Returned: {line}", flush=True)
        if deductions := describe_deductions(pushed):
            say_error(deductions)
        for student, why in pushed.failed.items():
            say_error(why)
            self.not_before[student] = time.monotonic() + MAX_PAUSE_S
            self.must_send = True
        stored = {student: mark for student, mark in self.sending.items() if student not in pushed.failed}
        self.database.set_values(pushed={**(self.database.read_value("pushed") or {}), **stored})

    # Show the queue

    def update_queue_page(self, is_over: bool = False) -> None:
        """Write the queue's page. If its folder, which may be a web server's, cannot be written, print the reason
        once."""
        try:
            self.show(is_over)
            self.page_problem = ""
        except (UserError, OSError) as error:
            self.shown = ()
            problem = explain_os_error(error) if isinstance(error, OSError) else str(error)
            if problem != self.page_problem:
                say_error(f"The queue's page is not up to date: {problem}")
            self.page_problem = problem

    def show(self, is_over: bool = False) -> None:
        """Write the queue's page and text, if they changed. Raises UserError, OSError."""
        state = self.describe(is_over)
        content = (*state.lines, state.arriving, state.notice, int(time.monotonic() // 10))
        if content == self.shown and not is_over:
            return
        self.shown = content
        if not self.queue.is_dir():
            self.queue.mkdir(parents=True)
            self.queue.chmod(0o755)
        publish(self.queue / "queue.txt", make_queue_text(state))
        publish(self.queue / "queue.html", make_queue_page(state))

    def describe(self, is_over: bool) -> QueueState:
        """Return the content of the queue's page."""
        in_progress, waiting = self.grading.list_begun(), list_waiting(self.database)
        state = QueueState(f"{self.settings.lab}: the queue", show_clock(datetime.now()), arriving=self.arriving)
        state.lines += [Line(place.code, "being graded", "") for place in waiting if place.key in in_progress]
        ready = [place for place in waiting if place.key not in in_progress and place.key in self.ready]
        unfinished = [place for place in ready if self.postponed.get(place.key) == self.ready[place.key].fingerprint]
        state.lines += [Line(place.code, "incomplete: waiting for the rest of its file", "") for place in unfinished]
        ready = [place for place in ready if place not in unfinished]
        mean_s, at_once = mean_wall_s(self.database), self.grading.at_once
        for number, place in enumerate(ready, 1):
            expected_s = max(mean_s, predict_s(mean_s, len(in_progress) + number, len(in_progress), at_once))
            when = f"about {show_duration(expected_s)}" if mean_s else ""
            state.lines.append(Line(place.code, show_place(number), when))
        state.lines += [Line(code, "kept, not graded: limit of attempts reached", "") for _, code in self.held.values()]
        for place in list_graded(self.database, SHOWN_GRADED):
            state.lines.append(Line(place.code, "graded", f"at {show_clock(datetime.fromisoformat(place.graded))}"))
        state.notice = (
            "Grading is paused. Hand-ins are kept and will be graded when it resumes."
            if is_over
            else self.describe_delay()
        )
        return state

    def describe_delay(self) -> str:
        """Return the reasons for delays, for students; empty if there are none. The details are only in the log,
        because they may contain names."""
        notices = []
        if self.pulling and self.pulling.failed_since:
            since = show_clock(datetime.fromisoformat(self.pulling.failed_since))
            notices.append(f"The course system has not answered since {since}; it will be tried again.")
        if self.pushing and self.pushing.failed_since:
            since = show_clock(datetime.fromisoformat(self.pushing.failed_since))
            notices.append(f"Feedback has not been returned since {since}; it will be.")
        if self.problem:
            notices.append("New hand-ins cannot be accepted at the moment. Tell your instructor. Nothing is lost.")
        return " ".join(notices)


def mark_result(result: StudentResult) -> str:
    """Return a text that differs if the student's points or files differ."""
    return f"{result.mark()} {result.points}"


def show_clock(when: datetime) -> str:
    """Return a time in this machine's time zone."""
    return f"{when.astimezone():%Y-%m-%d %H:%M:%S}"


def publish(file: Path, text: str) -> None:
    """Write a file atomically, and let all users read it."""
    new = file.with_name(f".{file.name}.new")
    write_atomically(new, text)
    new.chmod(0o644)
    new.replace(file)
